import VideoBase

/// Decides for each frame the picture type, the references, the coding order and whether it is stored.
///
/// Frames are added in display order. Plans are returned in coding order as soon as they are settled. The planner is a
/// value: it uses no clocks or devices, and the same frames give the same plans.
package struct FramePlanner: Sendable {
    /// A frame that waits to be coded.
    struct Frame: Sendable {
        var displayIndex: Int
        var request: FrameRequest
    }

    /// The role of a frame when it arrives.
    private enum Role { case key, intra, refresh, predicted }

    /// The requested structure after `GOPStructure.consistent`.
    package let structure: GOPStructure
    var buffer: ReferenceBuffer
    var log = DependencyLog()
    /// The frames that become B pictures if enough frames follow.
    var pending: [Frame] = []
    var nextDisplayIndex = 0
    var nextCodingIndex = 0
    var sequenceIndex = -1
    var keyDisplayIndex = 0
    /// The display index of the latest intra picture. Pictures shown after it do not predict from pictures before it.
    var intraDisplayIndex = 0
    /// The number of intra pictures since the key frame.
    var intraCount = 0
    /// The display index at which the temporal hierarchy restarts.
    var layerOrigin = 0
    var needsKey = true
    var nextToken = 0
    var wantsLongTerm = false
    var lastLongTermDisplayIndex = 0
    /// Whether the commands of the latest group name a picture that the receiver may not have.
    var groupNamesUnconfirmedPicture = false

    /// Creates a planner that uses the consistent form of `structure`.
    package init(structure: GOPStructure) {
        self.structure = structure.consistent
        buffer = ReferenceBuffer(capacity: self.structure.storage)
    }

    /// Adds the next frame in display order and returns the plans that it settles.
    package mutating func add(forceKey: Bool = false) -> [FramePlan] { add(FrameRequest(forceKey: forceKey)) }

    /// Adds the next frame in display order and returns the plans that it settles.
    package mutating func add(_ request: FrameRequest) -> [FramePlan] {
        acknowledge(request.acknowledgedTokens)
        let frame = Frame(displayIndex: nextDisplayIndex, request: request)
        nextDisplayIndex += 1
        return take(frame)
    }

    /// Returns the plans of the frames that still wait for later frames. More frames may follow.
    package mutating func finish() -> [FramePlan] {
        var plans = retakePending()
        plans += codePending()
        return plans
    }

    /// Restarts with a key frame, for example after the device lost all pictures.
    ///
    /// - Returns: The plans of the waiting frames that are settled.
    package mutating func restart() -> [FramePlan] {
        needsKey = true
        buffer.entries.removeAll()
        return retakePending()
    }

    // MARK: Frames in display order

    private mutating func take(_ frame: Frame) -> [FramePlan] {
        var plans = retakePending()
        switch role(of: frame) {
        case .key:
            plans += codePending()
            plans.append(codeKey(frame))
        case .intra:
            // A receiver that asks for a refresh does not have the references of the pictures before.
            if !structure.isOpen || frame.request.refreshFromLongTerm { plans += codePending() }
            if frame.request.refreshFromLongTerm { markUnacknowledgedAsUnconfirmed() }
            plans += codeGroup(before: frame, as: .i)
        case .refresh:
            // Code the waiting frames first, so that none of them replaces the latest acknowledged long-term reference.
            plans += codePending()
            plans.append(codeRefresh(frame))
        case .predicted:
            pending.append(frame)
            guard pending.count > structure.bFrames else { break }
            let group = codePending()
            // In the usual case nothing is copied.
            if plans.isEmpty { return group }
            plans += group
        }
        return plans
    }

    private func role(of frame: Frame) -> Role {
        if needsKey || frame.request.forceKey { return .key }
        if structure.intraRefreshSteps == nil, let interval = structure.keyInterval,
            frame.displayIndex - intraDisplayIndex >= interval
        {
            return intraCount + 1 >= structure.idrInterval ? .key : .intra
        }
        if frame.request.refreshFromLongTerm { return acknowledgedReferences.isEmpty ? .key : .refresh }
        return .predicted
    }

    /// Takes the waiting frames again if they have nothing left to predict from. The first becomes a key frame.
    private mutating func retakePending() -> [FramePlan] {
        guard needsKey, !pending.isEmpty else { return [] }
        let frames = pending
        pending.removeAll()
        return frames.flatMap { take($0) }
    }

    /// Codes the waiting frames: the last as a P picture, the others as B pictures.
    private mutating func codePending() -> [FramePlan] {
        guard let last = pending.popLast() else { return [] }
        return codeGroup(before: last, as: .p)
    }
}
