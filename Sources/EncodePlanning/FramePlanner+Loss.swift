import VideoBase

/// Long-term references, and the pictures that the receiver has.
extension FramePlanner {
    /// Records that the receiver has the pictures with these tokens, so `refreshFromLongTerm` may predict from them.
    /// Tokens of pictures that are no longer stored are ignored.
    package mutating func acknowledge(_ tokens: [Int]) {
        for index in buffer.entries.indices {
            guard let token = buffer.entries[index].token, tokens.contains(token) else { continue }
            buffer.entries[index].isAcknowledged = true
            buffer.entries[index].isUnconfirmed = false
        }
    }

    /// Records that a receiver lost these frames. No picture planned afterwards predicts from them or from any picture
    /// that depends on them. If no reference is left, the next frame is a key frame.
    ///
    /// Lost pictures stay in the decoded picture buffer until the sliding window drops them, because a receiver ignores
    /// commands that name pictures it does not have.
    package mutating func invalidate(displayIndices: some Sequence<Int>) {
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

    /// The coding indices of the long-term references that the receiver has, the latest first.
    var acknowledgedReferences: [Int] {
        buffer.entries.filter {
            $0.picture.longTermIndex != nil && $0.isAcknowledged && !$0.isLost && $0.displayIndex >= intraDisplayIndex
        }.sorted { $0.codingIndex > $1.codingIndex }.map(\.codingIndex)
    }

    /// Marks all pictures that were not acknowledged as unconfirmed. When a receiver asks for a refresh, it is unknown
    /// which of them it has.
    mutating func markUnacknowledgedAsUnconfirmed() {
        for index in buffer.entries.indices where !buffer.entries[index].isAcknowledged {
            buffer.entries[index].isUnconfirmed = true
        }
    }

    mutating func makeLongTerm(_ plan: inout FramePlan, index: Int) {
        plan.longTermIndex = index
        plan.acknowledgementToken = nextToken
        nextToken += 1
        wantsLongTerm = false
        lastLongTermDisplayIndex = plan.displayIndex
    }

    /// Makes the picture a long-term reference if one is due and every receiver can make room for it.
    ///
    /// The sliding window does not run for a picture with commands, and a receiver ignores commands that name pictures
    /// it does not have. If the buffer holds short-term pictures that the receiver may not have, the assignment waits
    /// for a later picture.
    ///
    /// - Parameter needed: The coding index of a picture that the B pictures of the group predict from. If only this
    ///   picture could make room, a later picture becomes the long-term reference.
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

    /// Returns a free long-term index, or the index of the least useful picture; nil if none may be replaced.
    ///
    /// The candidates in order are a lost or unreachable picture, the oldest of several acknowledged pictures, and a
    /// picture that was not acknowledged. The latest acknowledged picture stays, because its replacement may not
    /// arrive. So if only one index exists, an acknowledged picture keeps it until an intra picture ends its use.
    private func longTermIndex(for plan: FramePlan) -> Int? {
        let longTerm = buffer.entries.filter { $0.picture.longTermIndex != nil }
        if let free = (0..<structure.longTermReferences).first(where: { index in
            !longTerm.contains { $0.picture.longTermIndex == index }
        }) {
            return free
        }
        if let useless = longTerm.first(where: { $0.isLost || $0.displayIndex < intraDisplayIndex }) {
            return useless.picture.longTermIndex
        }
        let acknowledged = longTerm.filter(\.isAcknowledged)
        if acknowledged.count > 1 { return acknowledged[0].picture.longTermIndex }
        // Allow time for an acknowledgement to return.
        let graceFrames = wantsLongTerm ? 0 : 4 * structure.longTermInterval
        return longTerm.first { !$0.isAcknowledged && plan.displayIndex - $0.displayIndex >= graceFrames }?
            .picture.longTermIndex
    }
}
