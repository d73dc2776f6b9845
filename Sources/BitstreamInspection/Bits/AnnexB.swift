/// Where the NAL units of a byte stream lie (H.264 annex B).
struct AnnexB {
    struct Unit {
        /// From the first byte of the start code (zero_byte included) to the end of trailing zeros.
        var whole: Range<Int>
        /// nal_unit(): without start code and trailing_zero_8bits.
        var payload: Range<Int>
    }

    var units: [Unit] = []
    /// Bytes before the first start code.
    var leading = 0

    init(_ bytes: [UInt8]) {
        // Positions of 00 00 01.
        var prefixes: [Int] = []
        var index = 2
        while index < bytes.count {
            let byte = bytes[index]
            if byte > 1 {
                index += 3
            } else if byte == 1, bytes[index - 1] == 0, bytes[index - 2] == 0 {
                prefixes.append(index - 2)
                index += 3
            } else {
                index += 1
            }
        }
        guard let first = prefixes.first else {
            leading = bytes.count
            return
        }
        func start(_ prefix: Int) -> Int { prefix > 0 && bytes[prefix - 1] == 0 ? prefix - 1 : prefix }
        leading = start(first)
        for (number, prefix) in prefixes.enumerated() {
            let next = number + 1 < prefixes.count ? start(prefixes[number + 1]) : bytes.count
            var end = max(next, prefix + 3)
            while end > prefix + 3, bytes[end - 1] == 0 { end -= 1 }
            units.append(Unit(whole: start(prefix)..<max(next, prefix + 3), payload: (prefix + 3)..<end))
        }
    }

    /// The raw byte sequence payload of the bytes: without emulation_prevention_three_byte (H.264 7.3.1).
    ///
    /// - Parameter limit: stop after so many bytes; nil: at the end.
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

    /// What 7.4.1 forbids inside a NAL unit; nil where it is sound.
    static func fault(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.last == 0 { return "a NAL unit ends in a zero byte" }
        var zeros = 0
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if zeros >= 2 {
                if byte < 3 { return "the bytes 00 00 0\(byte) stand inside a NAL unit" }
                if byte == 3, index + 1 < bytes.endIndex, bytes[index + 1] > 3 {
                    return "an emulation prevention byte where none is needed"
                }
            }
            zeros = byte == 0 ? zeros + 1 : 0
            index += 1
        }
        return nil
    }
}

/// Where NAL units lie between start codes, for those outside this module.
package enum StartCodes {
    /// Of each unit without start code and trailing zeros.
    package static func units(in bytes: [UInt8]) -> [Range<Int>] { AnnexB(bytes).units.map(\.payload) }
}
