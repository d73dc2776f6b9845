import VideoBase

/// Which picture was predicted from which, since the last key frame and for a limited number of pictures.
struct DependencyLog: Sendable {
    private struct Entry: Sendable {
        var codingIndex: Int
        var displayIndex: Int
        var references: [Int]
        var isLongTerm: Bool
        /// What it pushes out of the decoded picture buffer is not what the sliding window would.
        var hasCommands: Bool
    }

    /// Losses are reported within a few round trips.
    private static let capacity = 512
    private var entries: [Entry] = []
    /// Pictures since the key frame are no longer listed.
    private var isCut = false

    mutating func append(_ plan: FramePlan) {
        if plan.type.isKey {
            entries.removeAll(keepingCapacity: true)
            isCut = false
        }
        if entries.count >= 2 * Self.capacity {
            entries.removeFirst(Self.capacity)
            isCut = true
        }
        entries.append(
            Entry(
                codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, references: plan.list0 + plan.list1,
                isLongTerm: plan.longTermIndex != nil,
                hasCommands: !plan.released.isEmpty || plan.longTermIndex != nil || !plan.madeLongTerm.isEmpty))
    }

    /// Coding indices of the lost pictures of this coded video sequence and of all that depend on them; nil where that
    /// is not known any more.
    func invalidated(byLosing displayIndices: Set<Int>, since keyDisplayIndex: Int) -> Set<Int>? {
        var invalidated: Set<Int> = []
        var found = 0
        for entry in entries {
            let isLost = displayIndices.contains(entry.displayIndex)
            if isLost { found += 1 }
            if isLost || entry.references.contains(where: invalidated.contains) { invalidated.insert(entry.codingIndex) }
            // A receiver without the commands lets the sliding window drop another short-term picture: which of them it
            // still has is not known.
            if isLost, entry.hasCommands {
                for other in entries where other.codingIndex < entry.codingIndex && !other.isLongTerm {
                    invalidated.insert(other.codingIndex)
                }
            }
        }
        guard isCut, let last = entries.last else { return invalidated }
        let sought = displayIndices.count { $0 >= keyDisplayIndex && $0 <= last.displayIndex }
        return found < sought ? nil : invalidated
    }
}
