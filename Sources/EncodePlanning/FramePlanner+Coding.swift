import VideoBase

/// Chooses the references of each picture and the pictures to remove from the buffer.
extension FramePlanner {
    mutating func codeKey(_ frame: Frame) -> FramePlan {
        buffer.entries.removeAll()
        needsKey = false
        sequenceIndex += 1
        keyDisplayIndex = frame.displayIndex
        intraDisplayIndex = frame.displayIndex
        intraCount = 0
        layerOrigin = frame.displayIndex
        var plan = plan(.idr, frame)
        if structure.longTermReferences > 0 { makeLongTerm(&plan, index: 0) }
        return emit(plan)
    }

    /// Codes a P picture from acknowledged long-term references. No later picture predicts from any other picture
    /// before it.
    mutating func codeRefresh(_ frame: Frame) -> FramePlan {
        var plan = plan(.p, frame)
        plan.list0 = Array(acknowledgedReferences.prefix(structure.references))
        markUnacknowledgedAsUnconfirmed()
        layerOrigin = frame.displayIndex
        assignLongTerm(&plan, frame)
        return emit(plan)
    }

    /// Codes `anchor`, then the waiting frames as B pictures between it and the picture before.
    ///
    /// The B pictures require that the picture before stays in the buffer. If this needs a command that names a picture
    /// which the receiver may not have, the waiting frames become P pictures.
    mutating func codeGroup(before anchor: Frame, as type: PictureType) -> [FramePlan] {
        guard !pending.isEmpty, !buffer.entries.allSatisfy(\.isUsable) else { return codeWhole(before: anchor, as: type) }
        var trial = self
        let plans = trial.codeWhole(before: anchor, as: type)
        if !trial.groupNamesUnconfirmedPicture {
            self = trial
            return plans
        }
        let frames = pending
        pending.removeAll()
        return frames.flatMap { codeWhole(before: $0, as: .p) } + codeWhole(before: anchor, as: type)
    }

    private mutating func codeWhole(before anchor: Frame, as type: PictureType) -> [FramePlan] {
        groupNamesUnconfirmedPicture = false
        let frames = pending.isEmpty ? [] : pending
        // Without B pictures, the memory is used again.
        pending.removeAll(keepingCapacity: frames.isEmpty)
        let barrier = intraDisplayIndex
        var past: ReferenceBuffer.Entry?
        for entry in buffer.entries where isAnchor(entry) && entry.displayIndex >= barrier {
            if entry.displayIndex > past?.displayIndex ?? .min { past = entry }
        }
        var plan = plan(type, anchor)
        if type == .i {
            intraDisplayIndex = anchor.displayIndex
            intraCount += 1
            layerOrigin = anchor.displayIndex
            plan.recoveryFrameCount = 0
            wantsLongTerm = wantsLongTerm || structure.longTermReferences > 0
        } else {
            setLayer(&plan)
            plan.list0 = referencesOfP(plan)
            plan.intraRefresh = refreshStep(anchor.displayIndex)
            if plan.intraRefresh?.index == 0 { plan.recoveryFrameCount = structure.intraRefreshSteps }
        }
        let low = frames.isEmpty ? nil : past?.codingIndex
        if plan.temporalLayer == 0 { assignLongTerm(&plan, anchor, keeping: low) }
        let first = emit(plan, needed: low.map { [$0] } ?? [], barrier: frames.isEmpty ? intraDisplayIndex : barrier)
        if frames.isEmpty { return [first] }
        var needed: Set<Int> = [first.codingIndex]
        if let low { needed.insert(low) }
        return [first] + codeBetween(frames[...], depth: 1, low: low, needed: needed, barrier: barrier)
    }

    /// Codes the frames between two anchors as B pictures. In a pyramid, the middle frame comes first, then both
    /// halves, which may predict from it.
    private mutating func codeBetween(
        _ frames: ArraySlice<Frame>, depth: Int, low: Int?, needed: Set<Int>, barrier: Int
    ) -> [FramePlan] {
        guard depth <= structure.bReferenceLevels, frames.count >= 2 else {
            return frames.map { frame in
                var plan = planB(frame, depth: structure.isPyramid ? depth : 0, needed: needed, barrier: barrier)
                plan.isReference = false
                return emit(plan)
            }
        }
        let middle = frames.startIndex + frames.count / 2
        let plan = emit(
            planB(frames[middle], depth: depth, needed: needed, barrier: barrier), needed: needed, barrier: barrier)
        var right = needed.union([plan.codingIndex])
        let left = right
        if let low { right.remove(low) }
        return [plan]
            + codeBetween(frames[..<middle], depth: depth + 1, low: low, needed: left, barrier: barrier)
            + codeBetween(
                frames[(middle + 1)...], depth: depth + 1, low: plan.codingIndex, needed: right, barrier: barrier)
    }

    private func planB(_ frame: Frame, depth: Int, needed: Set<Int>, barrier: Int) -> FramePlan {
        var plan = plan(.b, frame)
        plan.depth = depth
        plan.temporalLayer = structure.temporalLayers > 1 ? 1 : 0
        let usable = buffer.entries.filter {
            $0.displayIndex >= barrier && (isAnchor($0) || ($0.isUsable && needed.contains($0.codingIndex)))
        }
        let before = usable.filter { $0.displayIndex < frame.displayIndex }.sorted { $0.displayIndex > $1.displayIndex }
        let after = usable.filter { $0.displayIndex > frame.displayIndex }.sorted { $0.displayIndex < $1.displayIndex }
        plan.list0 = before.prefix(structure.referencesB ?? structure.references).map(\.codingIndex)
        plan.list1 = after.prefix(structure.references1).map(\.codingIndex)
        return plan
    }

    /// Whether a stored picture is a key, I or P picture that may be predicted from.
    func isAnchor(_ entry: ReferenceBuffer.Entry) -> Bool { entry.isUsable && !entry.isB }

    /// Returns the references of a P picture, the latest first. This is also the order that costs no bits.
    private func referencesOfP(_ plan: FramePlan) -> [Int] {
        let layer = plan.temporalLayer
        var references: [Int] = []
        references.reserveCapacity(structure.references)
        // The entries are in coding order.
        for index in buffer.entries.indices.reversed() where references.count < structure.references {
            let entry = buffer.entries[index]
            guard isAnchor(entry), entry.displayIndex >= intraDisplayIndex else { continue }
            if structure.temporalLayers > 1, structure.bFrames == 0, entry.temporalLayer != 0 {
                // A receiver that starts to receive an upper layer needs no picture of that layer before the latest
                // picture of a lower layer.
                let isStale = buffer.entries[(index + 1)...].contains { $0.temporalLayer < entry.temporalLayer }
                guard entry.temporalLayer < layer, !isStale else { continue }
            }
            references.append(entry.codingIndex)
        }
        return references
    }

    /// Sets the temporal layer in a dyadic hierarchy: with four layers, eight pictures get 0 3 2 3 1 3 2 3. No picture
    /// predicts from the top layer.
    private func setLayer(_ plan: inout FramePlan) {
        guard structure.temporalLayers > 1, structure.bFrames == 0 else { return }
        let top = structure.temporalLayers - 1
        let position = (plan.displayIndex - layerOrigin) & ((1 << top) - 1)
        plan.temporalLayer = position == 0 ? 0 : top - position.trailingZeroBitCount
        plan.isReference = plan.temporalLayer < top
    }

    /// Returns the refresh step of a picture. Passes follow each other. If a GOP is longer than a pass, the rest of the
    /// GOP has no refresh.
    private func refreshStep(_ displayIndex: Int) -> IntraRefreshStep? {
        guard let steps = structure.intraRefreshSteps else { return nil }
        let period = max(structure.keyInterval ?? steps, steps)
        let position = (displayIndex - intraDisplayIndex - 1) % period
        return position < steps ? IntraRefreshStep(index: position, count: steps) : nil
    }

    private func plan(_ type: PictureType, _ frame: Frame) -> FramePlan {
        FramePlan(
            type: type, codingIndex: nextCodingIndex, displayIndex: frame.displayIndex, sequenceIndex: sequenceIndex,
            keyDisplayIndex: keyDisplayIndex, list0: [], isReference: true, stored: buffer.pictures,
            slot: buffer.freeSlot)
    }

    /// Advances the coding index and, if the picture is a reference, stores it and chooses the pictures to release.
    ///
    /// - Parameters:
    ///   - needed: The coding indices of stored pictures that the other pictures of the group predict from.
    ///   - barrier: The display index before which no picture is predicted from any more.
    private mutating func emit(_ plan: FramePlan, needed: Set<Int> = [], barrier: Int? = nil) -> FramePlan {
        var plan = plan
        nextCodingIndex += 1
        if plan.isReference {
            let barrier = barrier ?? intraDisplayIndex
            var needed = needed
            // A picture of an upper layer does not push out the latest anchor of the lowest layer.
            if plan.temporalLayer > 0,
                let base = buffer.entries.last(where: { isAnchor($0) && $0.temporalLayer == 0 })
            {
                needed.insert(base.codingIndex)
            }
            let stale = needed.isEmpty && structure.bReferenceLevels == 0 ? [] : staleAnchors(storing: plan)
            plan.released = buffer.released(
                storing: plan.longTermIndex, needed: needed, prefersDead: structure.bReferenceLevels > 0
            ) { !$0.isUsable || $0.isB || $0.displayIndex < barrier || stale.contains($0.codingIndex) }
            if plan.longTermIndex != nil, structure.bReferenceLevels > 0 {
                // The picture replaces the previous holder of its long-term index, so the sliding window drops nothing.
                plan.released += stale.subtracting(needed).subtracting(plan.released).sorted()
            }
            if buffer.entries.contains(where: { !$0.isUsable && plan.released.contains($0.codingIndex) }) {
                groupNamesUnconfirmedPicture = true
            }
            var stored = StoredPicture(
                codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, slot: plan.slot)
            stored.longTermIndex = plan.longTermIndex
            buffer.store(
                ReferenceBuffer.Entry(
                    picture: stored, isB: plan.type == .b, temporalLayer: plan.temporalLayer,
                    token: plan.acknowledgementToken), released: plan.released)
        }
        log.append(plan)
        return plan
    }

    /// Returns the coding indices of short-term anchors that no list reaches any more. If B pictures make room for all
    /// other pictures, these anchors would otherwise stay until frame_num wraps around to their value.
    private func staleAnchors(storing plan: FramePlan) -> Set<Int> {
        let anchorCount = structure.references + (structure.bFrames > 0 ? 1 : 0) - (plan.type == .b ? 0 : 1)
        let excess = buffer.entries.count(where: isAnchor) - anchorCount
        guard excess > 0 else { return [] }
        let stale = buffer.entries.filter(isAnchor).prefix(excess).filter { $0.picture.longTermIndex == nil }
        return Set(stale.map(\.codingIndex))
    }
}
