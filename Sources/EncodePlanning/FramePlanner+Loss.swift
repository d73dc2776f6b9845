import VideoBase

/// Long-term references, and what a receiver has of the pictures.
extension FramePlanner {
    /// The receiver has the pictures with these tokens: `refreshFromLongTerm` may predict from them. Tokens of pictures
    /// that are not kept any more are ignored.
    public mutating func acknowledge(_ tokens: [Int]) {
        for index in buffer.entries.indices {
            guard let token = buffer.entries[index].token, tokens.contains(token) else { continue }
            buffer.entries[index].isAcknowledged = true
            buffer.entries[index].isDoubted = false
        }
    }

    /// A receiver lost these frames: no picture planned afterwards predicts from them or from any that depends on them.
    /// Where nothing else is left, the next frame is a key frame.
    ///
    /// What was lost stays in the decoded picture buffer until the sliding window drops it: a receiver that misses
    /// pictures carries out no command that names them.
    public mutating func invalidate(displayIndices: some Sequence<Int>) {
        let lost = Set(displayIndices)
        guard !lost.isEmpty, sequenceIndex >= 0 else { return }
        let invalidated = log.invalidated(byLosing: lost, since: keyDisplayIndex)
        for index in buffer.entries.indices where invalidated?.contains(buffer.entries[index].codingIndex) ?? true {
            buffer.entries[index].isLost = true
        }
        let isAnythingLeft = buffer.entries.contains {
            isAnchor($0) && $0.temporalLayer == 0 && $0.displayIndex >= intraDisplayIndex
        }
        if !isAnythingLeft { needsKey = true }
    }

    /// Coding indices of the long-term references that the receiver has, the latest first.
    var acknowledgedReferences: [Int] {
        buffer.entries.filter {
            $0.picture.longTermIndex != nil && $0.isAcknowledged && !$0.isLost && $0.displayIndex >= intraDisplayIndex
        }.sorted { $0.codingIndex > $1.codingIndex }.map(\.codingIndex)
    }

    /// Which of the pictures that it did not acknowledge a receiver has, that asks for a refresh, is not known.
    mutating func doubtUnacknowledged() {
        for index in buffer.entries.indices where !buffer.entries[index].isAcknowledged {
            buffer.entries[index].isDoubted = true
        }
    }

    mutating func makeLongTerm(_ plan: inout FramePlan, index: Int) {
        plan.longTermIndex = index
        plan.acknowledgementToken = nextToken
        nextToken += 1
        wantsLongTerm = false
        lastLongTermDisplayIndex = plan.displayIndex
    }

    /// Makes the picture a long-term reference if it is time for one, and if any receiver can make the room: no window
    /// slides beside the commands, and those that name pictures which it misses come to nothing. Until the window has
    /// pushed such pictures out, the next picture is waited for.
    ///
    /// - Parameter needed: coding index of a picture that the group's B pictures predict from; where it alone could
    ///   make room, the next picture becomes one.
    mutating func assignLongTerm(_ plan: inout FramePlan, _ frame: Frame, keeping needed: Int? = nil) {
        guard structure.longTermReferences > 0 else { return }
        if frame.request.makeLongTerm { wantsLongTerm = true }
        let isDue = plan.displayIndex - lastLongTermDisplayIndex >= structure.longTermInterval
        guard wantsLongTerm || isDue, let index = longTermIndex(for: plan) else { return }
        let shortTerm = buffer.entries.filter { $0.picture.longTermIndex == nil }
        guard shortTerm.allSatisfy(\.isUsable) else { return }
        if let holder = buffer.holder(index) {
            if holder.codingIndex == needed { return }
            if !holder.isUsable, !shortTerm.contains(where: { $0.codingIndex != needed }) { return }
        }
        makeLongTerm(&plan, index: index)
    }

    /// A free index, or that of the picture that is missed least: a useless one, an acknowledged one older than
    /// another, one that was never acknowledged. The latest acknowledged one stays: what would take its place is not
    /// known to arrive. Where there is one index, it stays until an intra picture ends its use.
    private func longTermIndex(for plan: FramePlan) -> Int? {
        let kept = buffer.entries.filter { $0.picture.longTermIndex != nil }
        if let free = (0..<structure.longTermReferences).first(where: { index in
            !kept.contains { $0.picture.longTermIndex == index }
        }) {
            return free
        }
        if let useless = kept.first(where: { $0.isLost || $0.displayIndex < intraDisplayIndex }) {
            return useless.picture.longTermIndex
        }
        let acknowledged = kept.filter(\.isAcknowledged)
        if acknowledged.count > 1 { return acknowledged[0].picture.longTermIndex }
        // An acknowledgement takes its time to come back.
        let patience = wantsLongTerm ? 0 : 4 * structure.longTermInterval
        return kept.first { !$0.isAcknowledged && plan.displayIndex - $0.displayIndex >= patience }?
            .picture.longTermIndex
    }
}
