/// An error in the syntax of a header, with a human-readable message.
struct Malformed: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// Reads a raw byte sequence payload, most significant bit first (H.264 7.2 and 9.1).
///
/// Reading past the end returns zeros and sets `isExhausted`, so that a parser can check once, when it is done.
struct BitReader {
    private let bytes: [UInt8]
    /// The index of the next bit.
    private(set) var position = 0
    private(set) var isExhausted = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var bitCount: Int { bytes.count * 8 }
    var isByteAligned: Bool { position % 8 == 0 }

    /// Reads u(n), with n up to 32.
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

    /// Skips any number of bits.
    mutating func skip(_ count: Int) {
        guard count <= bitCount - position else {
            isExhausted = true
            position = bitCount
            return
        }
        position += count
    }

    /// Reads ue(v). The largest value is 2³³ − 2; the largest value in the standard is 2³² − 2.
    mutating func unsigned() -> Int {
        var zeros = 0
        while !isExhausted, zeros <= 32, bits(1) == 0 { zeros += 1 }
        guard zeros <= 32, !isExhausted else {
            isExhausted = true
            return 0
        }
        return (1 << zeros) - 1 + bits(zeros)
    }

    /// Reads se(v).
    mutating func signed() -> Int {
        let code = unsigned()
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }

    /// Reads ue(v).
    ///
    /// - Throws: `Malformed` if the value is not in `range` or the bits end too soon.
    mutating func unsigned(_ name: String, in range: ClosedRange<Int>) throws(Malformed) -> Int {
        let value = unsigned()
        try check(name, value: value, in: range)
        return value
    }

    /// Reads se(v).
    ///
    /// - Throws: `Malformed` if the value is not in `range` or the bits end too soon.
    mutating func signed(_ name: String, in range: ClosedRange<Int>) throws(Malformed) -> Int {
        let value = signed()
        try check(name, value: value, in: range)
        return value
    }

    private func check(_ name: String, value: Int, in range: ClosedRange<Int>) throws(Malformed) {
        if isExhausted { throw Malformed("the data ends before \(name)") }
        guard range.contains(value) else { throw Malformed("\(name) is \(value), not in \(range)") }
    }

    /// Checks that all bits read so far existed.
    ///
    /// - Throws: `Malformed` if more bits were read than exist.
    func checkEnd(_ what: String) throws(Malformed) {
        if isExhausted { throw Malformed("\(what) ends too soon") }
    }

    /// Whether bits remain before the stop bit: more_rbsp_data() (H.264 7.2).
    var hasMoreData: Bool {
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return false }
        return position < last * 8 + 7 - bytes[last].trailingZeroBitCount
    }

    /// Reads `count` whole bytes. `position` must be a multiple of 8.
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
