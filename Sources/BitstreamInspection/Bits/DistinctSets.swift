/// Parameter sets of one kind, each different one once, found again by their hashes.
struct DistinctSets<Element: Hashable & Sendable>: Sendable {
    /// In order of arrival.
    private(set) var elements: [Element] = []
    /// Places by hash value; where two have the same one, the later is at the next free number.
    private var places: [Int: Int] = [:]
    private var byteCount = 0

    /// Bytes of different sets that are kept. A set takes up to a hundred times its bytes in memory, and no stream needs
    /// many: one that changes its rate every second for a day has 4 MB.
    private static var byteLimit: Int { 4 << 20 }

    /// The place of a set in `elements`, where it is appended if it is new.
    ///
    /// - Parameter byteCount: of its NAL unit's payload.
    mutating func place(of set: Element, byteCount: Int) throws(Malformed) -> (place: Int, isNew: Bool) {
        var key = set.hashValue
        while let place = places[key] {
            if elements[place] == set { return (place, false) }
            key &+= 1
        }
        guard self.byteCount + byteCount <= Self.byteLimit else {
            throw Malformed("more than \(elements.count) different parameter sets of this kind are not read")
        }
        self.byteCount += byteCount
        places[key] = elements.count
        elements.append(set)
        return (elements.count - 1, true)
    }
}
