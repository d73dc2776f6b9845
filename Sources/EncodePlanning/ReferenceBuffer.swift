/// The references in the decoded picture buffer. Each stored picture owns a slot (a reconstruction surface).
struct ReferenceBuffer: Sendable {
    /// A stored picture and its state.
    struct Entry: Sendable {
        var picture: StoredPicture
        var isB: Bool
        var temporalLayer: Int
        var token: Int?
        var isAcknowledged = false
        /// Whether the receiver lost it or a picture that it depends on.
        var isLost = false
        /// Whether it was not known to have arrived when the receiver asked for a refresh from acknowledged pictures.
        var isUnconfirmed = false

        var codingIndex: Int { picture.codingIndex }
        var displayIndex: Int { picture.displayIndex }
        var isUsable: Bool { !isLost && !isUnconfirmed }
    }

    let capacity: Int
    /// The stored pictures in coding order.
    var entries: [Entry] = []

    init(capacity: Int) { self.capacity = capacity }

    var pictures: [StoredPicture] { entries.map(\.picture) }

    /// A slot that no stored picture owns. There are `capacity + 1` slots, so one is always free.
    var freeSlot: Int {
        (0...capacity).first { slot in !entries.contains { $0.picture.slot == slot } } ?? capacity
    }

    /// Stores a coded picture after it removes others: the `released` pictures and a picture with the same long-term
    /// index. If there is still no room, it removes the short-term picture that was coded first, like the sliding
    /// window.
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

    /// Returns the coding indices of the pictures to release when a picture is stored. The result is empty if there is
    /// room or if the sliding window drops the right picture. A receiver ignores a command that names a picture it does
    /// not have, so pictures that it has are released first.
    ///
    /// - Parameters:
    ///   - longTermIndex: The long-term index of the picture to store; nil for a short-term picture.
    ///   - needed: The coding indices of pictures that must stay.
    ///   - prefersDead: Whether to release useless pictures before the one that the sliding window would drop.
    ///   - isDead: Returns whether a picture is useless.
    func released(
        storing longTermIndex: Int?, needed: Set<Int>, prefersDead: Bool, isDead: (Entry) -> Bool
    ) -> [Int] {
        let holder = longTermIndex.flatMap(holder)
        // If the receiver may have no picture under this index, a picture that it has must make room.
        let isFull = entries.count - (holder == nil ? 0 : 1) >= capacity || holder?.isUsable == false
        guard isFull, let oldest = entries.first(where: { $0.picture.longTermIndex == nil }) else { return [] }
        var victim = oldest
        let mustStay = needed.contains(oldest.codingIndex)
        if mustStay || (prefersDead && !isDead(oldest)) {
            let candidates = entries.filter { $0.picture.longTermIndex == nil }
            let spare = candidates.filter { !needed.contains($0.codingIndex) }
            let known = spare.filter(\.isUsable)
            victim = known.first(where: isDead) ?? known.first ?? spare.first ?? oldest
        }
        return victim.codingIndex == oldest.codingIndex && longTermIndex == nil ? [] : [victim.codingIndex]
    }

    /// Returns the picture with a long-term index.
    func holder(_ longTermIndex: Int) -> Entry? { entries.first { $0.picture.longTermIndex == longTermIndex } }
}
