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
    /// window drops the right one. A receiver that misses a picture carries out no command that names it, so what it has
    /// goes first.
    ///
    /// - Parameters:
    ///   - needed: coding indices that stay.
    ///   - prefersDead: drop what is of no more use before what the sliding window would.
    func released(
        storing longTermIndex: Int?, needed: Set<Int>, prefersDead: Bool, isDead: (Entry) -> Bool
    ) -> [Int] {
        let holder = longTermIndex.flatMap(holder)
        // Where the receiver may have nothing under the index, something that it has makes the room.
        let isFull = entries.count - (holder == nil ? 0 : 1) >= capacity || holder?.isUsable == false
        let candidates = entries.filter { $0.picture.longTermIndex == nil }
        guard isFull, let oldest = candidates.first else { return [] }
        var victim = oldest
        let mustStay = needed.contains(oldest.codingIndex)
        if mustStay || (prefersDead && !isDead(oldest)) {
            let spare = candidates.filter { !needed.contains($0.codingIndex) }
            let known = spare.filter(\.isUsable)
            victim = known.first(where: isDead) ?? known.first ?? spare.first ?? oldest
        }
        return victim.codingIndex == oldest.codingIndex && longTermIndex == nil ? [] : [victim.codingIndex]
    }

    /// The picture under a long-term index.
    func holder(_ longTermIndex: Int) -> Entry? { entries.first { $0.picture.longTermIndex == longTermIndex } }
}
