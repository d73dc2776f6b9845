import VideoBase

/// Records which picture was predicted from which, since the last key frame and for a limited number of pictures.
struct DependencyLog: Sendable {
    private struct Entry: Sendable {
        var codingIndex: Int
        var displayIndex: Int
        /// The place of the coding indices of its references in `references`.
        var references: Range<Int>
        var isLongTerm: Bool
        /// Whether the pictures that it removes from the decoded picture buffer differ from those that the sliding
        /// window would remove.
        var hasCommands: Bool
    }

    /// Losses are reported within a few round trips, so older pictures are not needed.
    private static let capacity = 512
    private var entries: [Entry] = []
    /// The references of all entries, in the same order. An array in each entry would keep memory of its own.
    private var references: [Int] = []
    /// Whether pictures since the key frame were removed from the log.
    private var isCut = false

    mutating func append(_ plan: FramePlan) {
        if plan.type.isKey {
            entries.removeAll(keepingCapacity: true)
            references.removeAll(keepingCapacity: true)
            isCut = false
        }
        if entries.count >= 2 * Self.capacity {
            removeOldest(Self.capacity)
            isCut = true
        }
        let start = references.count
        references += plan.list0
        references += plan.list1
        entries.append(
            Entry(
                codingIndex: plan.codingIndex, displayIndex: plan.displayIndex, references: start..<references.count,
                isLongTerm: plan.longTermIndex != nil,
                hasCommands: !plan.released.isEmpty || plan.longTermIndex != nil))
    }

    private mutating func removeOldest(_ count: Int) {
        let end = entries[count - 1].references.upperBound
        entries.removeFirst(count)
        references.removeFirst(end)
        for index in entries.indices {
            let range = entries[index].references
            entries[index].references = range.lowerBound - end..<range.upperBound - end
        }
    }

    /// Returns the coding indices of the lost pictures of this coded video sequence and of all pictures that depend on
    /// them. Returns nil if a lost picture is no longer in the log.
    func invalidated(byLosing displayIndices: Set<Int>, since keyDisplayIndex: Int) -> Set<Int>? {
        var invalidated: Set<Int> = []
        var found = 0
        for entry in entries {
            let isLost = displayIndices.contains(entry.displayIndex)
            if isLost { found += 1 }
            if isLost || references[entry.references].contains(where: invalidated.contains) { invalidated.insert(entry.codingIndex) }
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
