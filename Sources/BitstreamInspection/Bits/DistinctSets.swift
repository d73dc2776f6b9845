/// The different parameter sets of one kind, each stored once and found by its hash.
struct DistinctSets<Element: Hashable & Sendable>: Sendable {
    /// The sets in order of arrival.
    private(set) var elements: [Element] = []
    /// Indices in `elements` by hash value. If two sets have the same hash, the later one uses the next free key.
    private var indices: [Int: Int] = [:]
    private var byteCount = 0

    /// The maximum size of the stored sets, in bytes of their NAL units. A set takes up to a hundred times its size in
    /// memory. No stream needs many sets: one that changes its rate every second for a day has 4 MB of them.
    private static var byteLimit: Int { 4 << 20 }

    /// Returns the index of a set in `elements`. Appends the set if it is new.
    ///
    /// - Parameter byteCount: The size of its NAL unit's payload.
    /// - Throws: `Malformed` if the set is new and exceeds `byteLimit`.
    mutating func index(of set: Element, byteCount: Int) throws(Malformed) -> (index: Int, isNew: Bool) {
        var key = set.hashValue
        while let index = indices[key] {
            if elements[index] == set { return (index, false) }
            key &+= 1
        }
        guard self.byteCount + byteCount <= Self.byteLimit else {
            throw Malformed(
                "there are more than \(elements.count) different parameter sets of this kind: the others are not read")
        }
        self.byteCount += byteCount
        indices[key] = elements.count
        elements.append(set)
        return (elements.count - 1, true)
    }
}
