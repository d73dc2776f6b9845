/// Why bits are not what the syntax says.
struct Malformed: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// Reads a raw byte sequence payload, most significant bit first (H.264 7.2 and 9.1).
///
/// Reading past the end gives zeros and sets `isExhausted`: a parser looks once, when it is done.
struct BitReader {
    private let bytes: [UInt8]
    /// Of the next bit.
    private(set) var position = 0
    private(set) var isExhausted = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var bitCount: Int { bytes.count * 8 }
    var isByteAligned: Bool { position % 8 == 0 }

    /// u(n) with n up to 32.
    mutating func bits(_ count: Int) -> Int {
        guard count <= bytes.count * 8 - position else {
            isExhausted = true
            position = bytes.count * 8
            return 0
        }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
            position += 1
        }
        return value
    }

    mutating func flag() -> Bool { bits(1) == 1 }

    /// Reads over any number of bits.
    mutating func skip(_ count: Int) {
        guard count <= bitCount - position else {
            isExhausted = true
            position = bitCount
            return
        }
        position += count
    }

    /// ue(v): at most 2³³ − 2, of which 2³² − 2 is the most that the standard has.
    mutating func unsigned() -> Int {
        var zeros = 0
        while !isExhausted, zeros <= 32, bits(1) == 0 { zeros += 1 }
        guard zeros <= 32, !isExhausted else {
            isExhausted = true
            return 0
        }
        return (1 << zeros) - 1 + bits(zeros)
    }

    /// se(v).
    mutating func signed() -> Int {
        let code = unsigned()
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }

    /// ue(v) that must lie in `range`.
    mutating func unsigned(_ name: String, in range: ClosedRange<Int>) throws(Malformed) -> Int {
        let value = unsigned()
        try check(name, value, range)
        return value
    }

    /// se(v) that must lie in `range`.
    mutating func signed(_ name: String, in range: ClosedRange<Int>) throws(Malformed) -> Int {
        let value = signed()
        try check(name, value, range)
        return value
    }

    private func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(Malformed) {
        if isExhausted { throw Malformed("it ends before \(name)") }
        guard range.contains(value) else { throw Malformed("\(name) is \(value), not in \(range)") }
    }

    /// - Throws: where more was read than there is.
    func checkEnd(_ what: String) throws(Malformed) {
        if isExhausted { throw Malformed("\(what) ends too soon") }
    }

    /// more_rbsp_data() (H.264 7.2): there is something before the stop bit.
    var hasMoreData: Bool {
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return false }
        return position < last * 8 + 7 - bytes[last].trailingZeroBitCount
    }

    /// Whole bytes from here; `position` must be a multiple of 8.
    mutating func take(_ count: Int) -> [UInt8] {
        let start = position / 8
        guard count >= 0, count <= bytes.count - start else {
            isExhausted = true
            return []
        }
        position += count * 8
        return Array(bytes[start..<(start + count)])
    }
}
