/// The decoded picture buffer's references, as both standards' sliding window keeps them: a new picture pushes the
/// oldest out. Each picture owns a slot (a reconstruction surface) while it is stored.
struct ReferenceBuffer: Sendable {
    let capacity: Int
    /// In coding order.
    private(set) var pictures: [StoredPicture] = []

    init(capacity: Int) { self.capacity = capacity }

    /// A slot that no stored picture owns. There are `capacity + 1`, so there always is one.
    var freeSlot: Int {
        (0...capacity).first { slot in !pictures.contains { $0.slot == slot } } ?? capacity
    }

    mutating func removeAll() { pictures.removeAll() }

    mutating func release(_ codingIndices: [Int]) {
        pictures.removeAll { codingIndices.contains($0.codingIndex) }
    }

    mutating func store(_ picture: StoredPicture) {
        if pictures.count == capacity { pictures.removeFirst() }
        pictures.append(picture)
    }
}
