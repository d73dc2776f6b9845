/// The positions of the NAL units in a byte stream (H.264 annex B).
struct AnnexB {
    struct Unit {
        /// The bytes from the start code (including zero_byte) to the end of the trailing zeros.
        var whole: Range<Int>
        /// The bytes of nal_unit(), without start code and trailing_zero_8bits.
        var payload: Range<Int>
    }

    private let bytes: [UInt8]
    /// The index of the first 00 00 01, or the number of bytes if the stream has none.
    private let first: Int
    /// The number of bytes before the first start code.
    let leading: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        first = Self.prefix(in: bytes, from: 0)
        leading = first == bytes.count ? first : Self.start(of: first, in: bytes)
    }

    /// Whether the stream has no start code.
    var isEmpty: Bool { first == bytes.count }

    /// The number of NAL units. Scans the whole stream.
    var count: Int {
        var count = 0
        var prefix = first
        while prefix < bytes.count {
            count += 1
            prefix = Self.prefix(in: bytes, from: prefix + 3)
        }
        return count
    }

    /// Returns the index of the next 00 00 01, or the number of bytes if none follows.
    private static func prefix(in bytes: [UInt8], from start: Int) -> Int {
        var index = start + 2
        while index < bytes.count {
            let byte = bytes[index]
            if byte > 1 {
                index += 3
            } else if byte == 1, bytes[index - 1] == 0, bytes[index - 2] == 0 {
                return index - 2
            } else {
                index += 1
            }
        }
        return bytes.count
    }

    /// Returns the index of the first byte of the start code, including its zero_byte.
    private static func start(of prefix: Int, in bytes: [UInt8]) -> Int {
        prefix > 0 && bytes[prefix - 1] == 0 ? prefix - 1 : prefix
    }

    /// Calls `body` with each unit in order. Stores nothing: a byte stream can hold a unit for every three bytes.
    func walk(_ body: (Unit) -> Void) {
        var prefix = first
        while prefix < bytes.count {
            let following = Self.prefix(in: bytes, from: prefix + 3)
            let next = following < bytes.count ? Self.start(of: following, in: bytes) : bytes.count
            let whole = max(next, prefix + 3)
            var end = whole
            while end > prefix + 3, bytes[end - 1] == 0 { end -= 1 }
            body(Unit(whole: Self.start(of: prefix, in: bytes)..<whole, payload: (prefix + 3)..<end))
            prefix = following
        }
    }

    /// Returns the raw byte sequence payload: the bytes without emulation_prevention_three_byte (H.264 7.3.1).
    ///
    /// - Parameter limit: The maximum number of bytes to return; nil for no limit.
    static func unescape(_ bytes: ArraySlice<UInt8>, limit: Int? = nil) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(min(bytes.count, limit ?? .max))
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
            if result.count == limit { break }
        }
        return result
    }

    /// Returns a description of the first byte sequence that 7.4.1 forbids inside a NAL unit; nil if there is none.
    static func fault(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.last == 0 { return "a NAL unit ends in a zero byte" }
        var zeros = 0
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if zeros >= 2 {
                if byte < 3 { return "the bytes 00 00 0\(byte) are inside a NAL unit" }
                if byte == 3, index + 1 < bytes.endIndex, bytes[index + 1] > 3 {
                    return "there is an unnecessary emulation prevention byte"
                }
            }
            zeros = byte == 0 ? zeros + 1 : 0
            index += 1
        }
        return nil
    }
}

/// Finds NAL units between start codes, for code outside this module.
package enum StartCodes {
    /// Returns the range of each NAL unit, without start code and trailing zeros.
    package static func units(in bytes: [UInt8]) -> [Range<Int>] {
        var units: [Range<Int>] = []
        AnnexB(bytes).walk { units.append($0.payload) }
        return units
    }
}
