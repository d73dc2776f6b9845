import VideoBase

/// Records which picture was predicted from which, since the last key frame and for a limited number of pictures.
struct DependencyLog: Sendable {
    private struct Entry: Sendable {
        var codingIndex: Int
        var displayIndex: Int
        var references: [Int]
        var isLongTerm: Bool
        /// Whether the pictures that it removes from the decoded picture buffer differ from those that the sliding
        /// window would remove.
        var hasCommands: Bool
    }

    /// Losses are reported within a few round trips, so older pictures are not needed.
    private static let capacity = 512
    private var entries: [Entry] = []
    /// Whether pictures since the key frame were removed from the log.
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
                codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, references: plan.list1.isEmpty ? plan.list0 : plan.list0 + plan.list1,
                isLongTerm: plan.longTermIndex != nil,
                hasCommands: !plan.released.isEmpty || plan.longTermIndex != nil))
    }

    /// Returns the coding indices of the lost pictures of this coded video sequence and of all pictures that depend on
    /// them. Returns nil if a lost picture is no longer in the log.
    func invalidated(byLosing displayIndices: Set<Int>, since keyDisplayIndex: Int) -> Set<Int>? {
        var invalidated: Set<Int> = []
        var found = 0
        for entry in entries {
            let isLost = displayIndices.contains(entry.displayIndex)
            if isLost { found += 1 }
            if isLost || entry.references.contains(where: invalidated.contains) { invalidated.insert(entry.codingIndex) }
            // A receiver that did not get the commands lets the sliding window drop another short-term picture. It is
            // unknown which pictures it still has.
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
