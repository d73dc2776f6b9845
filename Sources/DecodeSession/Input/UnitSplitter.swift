import BitstreamInspection
import VideoBase

/// Splits the bytes that a session receives into NAL units.
enum UnitSplitter {
    /// - Throws: `badInput` if lengths do not match the bytes, or there is no start code; `usage` for an unsupported
    ///   length size.
    static func units(of bytes: [UInt8], _ framing: UnitFraming) throws -> [ArraySlice<UInt8>] {
        switch framing {
        case .bare:
            if bytes.isEmpty { throw malformed("the NAL unit is empty") }
            // A NAL unit cannot contain a start code: H.264 7.4.1, H.265 7.4.2.
            if bytes.starts(with: [0, 0, 1]) || bytes.starts(with: [0, 0, 0, 1]) {
                throw malformed("there is a start code before the NAL unit")
            }
            return [bytes[...]]
        case .annexB:
            let units = StartCodes.units(in: bytes)
            guard let first = units.first else { throw malformed("there is no start code in \(bytes.count) bytes") }
            // The zeros of the start code, and trailing zeros of an earlier unit.
            guard bytes[..<first.lowerBound].dropLast(1).allSatisfy({ $0 == 0 }) else {
                throw malformed("there are bytes before the first start code")
            }
            return units.map { bytes[$0] }.filter { !$0.isEmpty }
        case .lengthPrefixed(let size):
            try check(lengthSize: size)
            return try lengthPrefixed(bytes, size)
        }
    }

    /// - Throws: `usage` for a size that lengths of NAL units cannot have (ISO/IEC 14496-15 5.3.3.1).
    static func check(lengthSize size: Int) throws(VaencError) {
        if [1, 2, 4].contains(size) { return }
        throw VaencError(.usage, "a length size of \(size) bytes is invalid", remedy: "use 1, 2 or 4")
    }

    private static func lengthPrefixed(_ bytes: [UInt8], _ size: Int) throws -> [ArraySlice<UInt8>] {
        var units: [ArraySlice<UInt8>] = []
        var offset = 0
        while offset < bytes.count {
            guard offset + size <= bytes.count else { throw malformed("the bytes end inside a length") }
            let length = bytes[offset..<(offset + size)].reduce(0) { $0 << 8 | Int($1) }
            offset += size
            guard length <= bytes.count - offset else {
                throw malformed("a NAL unit states \(length) bytes, but \(bytes.count - offset) are left")
            }
            if length > 0 { units.append(bytes[offset..<(offset + length)]) }
            offset += length
        }
        return units
    }

    static func malformed(_ what: String) -> VaencError {
        VaencError(
            .badInput, "the bytes do not match the framing: \(what)", remedy: "check the framing of the session")
    }
}
