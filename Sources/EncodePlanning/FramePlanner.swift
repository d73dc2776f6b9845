import VideoBase

/// Decides what each frame becomes: key, intra or predicted, from which pictures, in which order, kept or not.
///
/// Frames go in in display order; plans come out in coding order, as soon as they are settled. A value without clocks
/// or devices: the same frames give the same plans.
public struct FramePlanner: Sendable {
    /// A frame that waits to be coded.
    struct Frame: Sendable {
        var displayIndex: Int
        var request: FrameRequest
    }

    /// What a frame becomes when it arrives.
    private enum Role { case key, intra, refresh, predicted }

    /// The consistent form of what was asked.
    public let structure: GOPStructure
    var buffer: ReferenceBuffer
    var log = DependencyLog()
    /// Frames that are going to be B pictures if enough follow.
    var pending: [Frame] = []
    var nextDisplayIndex = 0
    var nextCodingIndex = 0
    var sequenceIndex = -1
    var keyDisplayIndex = 0
    /// Display index of the latest intra picture: nothing shown after it predicts from anything before it.
    var intraDisplayIndex = 0
    /// Intra pictures since the key frame.
    var intraCount = 0
    /// Display index where the temporal hierarchy restarts.
    var layerOrigin = 0
    var needsKey = true
    var nextToken = 0
    var wantsLongTerm = false
    var lastLongTermDisplayIndex = 0
    /// The latest group's commands name a picture that the receiver may miss.
    var hasNamedDoubtful = false

    public init(structure: GOPStructure) {
        self.structure = structure.consistent
        buffer = ReferenceBuffer(capacity: self.structure.storage)
    }

    /// Takes the next frame in display order and gives the plans that it settles.
    public mutating func add(forceKey: Bool = false) -> [FramePlan] { add(FrameRequest(forceKey: forceKey)) }

    /// Takes the next frame in display order and gives the plans that it settles.
    public mutating func add(_ request: FrameRequest) -> [FramePlan] {
        acknowledge(request.acknowledgedTokens)
        let frame = Frame(displayIndex: nextDisplayIndex, request: request)
        nextDisplayIndex += 1
        return take(frame)
    }

    /// The plans of the frames that still wait for later ones. More frames may follow.
    public mutating func finish() -> [FramePlan] { retakePending() + codePending() }

    /// Restarts with a key frame, as after a device lost everything.
    ///
    /// - Parameters:
    ///   - displayIndices: frames whose plans were given out and that must be planned again.
    ///   - codingIndex: what the next plan's is; nil goes on counting.
    /// - Returns: the plans that these and the waiting frames settle.
    public mutating func restart(replanning displayIndices: [Int] = [], codingIndex: Int? = nil) -> [FramePlan] {
        needsKey = true
        buffer.entries.removeAll()
        if let codingIndex { nextCodingIndex = codingIndex }
        let waiting = Set(pending.map(\.displayIndex))
        pending += Set(displayIndices).subtracting(waiting).map { Frame(displayIndex: $0, request: FrameRequest()) }
        pending.sort { $0.displayIndex < $1.displayIndex }
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
            // A receiver that asks for a refresh lacks what the pictures before would be predicted from.
            if !structure.isOpen || frame.request.refreshFromLongTerm { plans += codePending() }
            if frame.request.refreshFromLongTerm { doubtUnacknowledged() }
            plans += codeGroup(before: frame, as: .i)
        case .refresh:
            // None of those that waited takes the place of the latest acknowledged long-term reference.
            plans += codePending()
            plans.append(codeRefresh(frame))
        case .predicted:
            pending.append(frame)
            if pending.count > structure.bFrames { plans += codePending() }
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

    /// Where the waiting frames have nothing left to predict from, the first becomes a key frame.
    private mutating func retakePending() -> [FramePlan] {
        guard needsKey, !pending.isEmpty else { return [] }
        let frames = pending
        pending.removeAll()
        return frames.flatMap { take($0) }
    }

    /// Codes the waiting frames, the last of them as a P picture and the others as B pictures.
    private mutating func codePending() -> [FramePlan] {
        guard let last = pending.popLast() else { return [] }
        return codeGroup(before: last, as: .p)
    }
}
