/// The decoded picture buffer's references. Each picture owns a slot (a reconstruction surface) while it is stored.
struct ReferenceBuffer: Sendable {
    /// A stored picture and what may still be done with it.
    struct Entry: Sendable {
        var picture: StoredPicture
        var isB: Bool
        var temporalLayer: Int
        var token: Int?
        var isAcknowledged = false
        /// Lost by the receiver, or predicted from what was.
        var isLost = false
        /// Not known to have arrived, when the receiver asked for a refresh from what has.
        var isDoubted = false

        var codingIndex: Int { picture.codingIndex }
        var displayIndex: Int { picture.displayIndex }
        var isUsable: Bool { !isLost && !isDoubted }
    }

    let capacity: Int
    /// In coding order.
    var entries: [Entry] = []

    init(capacity: Int) { self.capacity = capacity }

    var pictures: [StoredPicture] { entries.map(\.picture) }

    /// A slot that no stored picture owns. There are `capacity + 1`, so there always is one.
    var freeSlot: Int {
        (0...capacity).first { slot in !entries.contains { $0.picture.slot == slot } } ?? capacity
    }

    /// Stores a coded picture, after what it drops: the pictures named; else, where there is no room, the short-term
    /// picture coded first, as the sliding window does. A picture under the same long-term index goes as well.
    mutating func store(_ entry: Entry, released: [Int]) {
        if let index = entry.picture.longTermIndex {
            entries.removeAll { $0.picture.longTermIndex == index }
        }
        entries.removeAll { released.contains($0.codingIndex) }
        if entries.count >= capacity, let oldest = entries.firstIndex(where: { $0.picture.longTermIndex == nil }) {
            entries.remove(at: oldest)
        }
        entries.append(entry)
    }

    /// What must be named as released when a picture is stored: nothing where there is room or where the sliding
    /// window drops the right one.
    ///
    /// - Parameters:
    ///   - needed: coding indices that stay.
    ///   - prefersDead: drop what is of no more use before what the sliding window would.
    func released(
        storing longTermIndex: Int?, needed: Set<Int>, prefersDead: Bool, isDead: (Entry) -> Bool
    ) -> [Int] {
        let replaced = longTermIndex.map { index in entries.contains { $0.picture.longTermIndex == index } } ?? false
        guard entries.count - (replaced ? 1 : 0) >= capacity else { return [] }
        let candidates = entries.filter { $0.picture.longTermIndex == nil }
        guard let oldest = candidates.first else { return [] }
        var victim = oldest
        let dead = candidates.first { isDead($0) && !needed.contains($0.codingIndex) }
        let mustStay = needed.contains(oldest.codingIndex)
        if mustStay || (prefersDead && !isDead(oldest)) {
            victim = dead ?? candidates.first { !needed.contains($0.codingIndex) } ?? oldest
        }
        return victim.codingIndex == oldest.codingIndex && longTermIndex == nil ? [] : [victim.codingIndex]
    }
}
