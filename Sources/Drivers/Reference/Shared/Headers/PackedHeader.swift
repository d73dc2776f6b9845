/// A client's packed header: the contents of a packed-header data buffer, with the fields of its parameter buffer.
///
/// Real drivers require a start code and copy everything after it. This driver accepts more:
/// - `bitLength` may end anywhere in a byte; the rest of the byte is set to zero.
/// - A header without a start code gets one of four bytes. Its first byte is then the NAL unit header.
/// - A buffer may contain several NAL units.
///
/// If the client leaves emulation prevention to the driver, start codes inside the buffer cannot be distinguished from
/// field values with certainty. The bytes 0, 0, 1 then count as a start code only if a plausible NAL unit header
/// follows.
package struct PackedHeader: Sendable {
    /// The buffer's bytes up to `bitLength`. The unused bits of the last byte are zero.
    package let bytes: [UInt8]
    package let bitLength: Int
    package let hasEmulationBytes: Bool
    package let codec: DriverCodec

    /// Limits `bitLength` to the number of bits in `data`.
    package init(data: [UInt8], bitLength: Int, hasEmulationBytes: Bool, codec: DriverCodec = .h264) {
        self.codec = codec
        self.bitLength = min(max(bitLength, 0), 8 * data.count)
        var bytes = Array(data.prefix((self.bitLength + 7) / 8))
        let unused = 8 * bytes.count - self.bitLength
        if unused > 0 { bytes[bytes.count - 1] &= 0xFF << UInt8(unused) }
        self.bytes = bytes
        self.hasEmulationBytes = hasEmulationBytes
    }

    /// The position of a NAL unit in `bytes`.
    private struct Unit {
        /// The index of the first zero before the start code, of the NAL unit header, and of the end of the unit.
        var start: Int
        var header: Int
        var end: Int
    }

    private var units: [Unit] {
        var units: [Unit] = []
        var index = 0
        while index + 3 < bytes.count {
            guard bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1,
                units.isEmpty || hasEmulationBytes
                    || codec.isPlausible(bytes[index + 3], index + 4 < bytes.count ? bytes[index + 4] : nil)
            else {
                index += 1
                continue
            }
            var start = index
            while start > (units.last?.header ?? -1) + 1 && bytes[start - 1] == 0 { start -= 1 }
            if !units.isEmpty { units[units.count - 1].end = start }
            units.append(Unit(start: start, header: index + 3, end: bytes.count))
            index += 4
        }
        return units
    }

    /// Returns the bytes for the stream, with start codes and emulation prevention. If `isRaw` is true, the data is of
    /// unknown type and gets no start code.
    package func streamBytes(isRaw: Bool = false) -> [UInt8] {
        let units = units
        guard let first = units.first else {
            if hasEmulationBytes || bytes.isEmpty { return (isRaw || bytes.isEmpty ? [] : [0, 0, 0, 1]) + bytes }
            return EmulationPrevention.escape(
                Array(bytes.dropFirst()), after: (isRaw ? [] : [0, 0, 0, 1]) + [bytes[0]])
        }
        if hasEmulationBytes { return bytes }
        var result = Array(bytes[..<first.start])
        for unit in units {
            result = EmulationPrevention.escape(
                Array(bytes[(unit.header + 1)..<unit.end]), after: result + bytes[unit.start...unit.header])
        }
        return result
    }

    /// Returns the RBSP of each NAL unit of `type`, without start code, NAL unit header and emulation prevention.
    package func payloads(ofType type: UInt8) -> [[UInt8]] {
        var found = units
        if found.isEmpty && !bytes.isEmpty { found = [Unit(start: 0, header: 0, end: bytes.count)] }
        return found.filter { codec.unitType(bytes[$0.header]) == type }.map {
            let payload = bytes[min($0.header + codec.unitHeaderBytes, $0.end)..<$0.end]
            return hasEmulationBytes ? EmulationPrevention.unescape(payload) : Array(payload)
        }
    }

    /// The buffer as a slice header: the bytes up to the end of its NAL unit header, and the bits after it. It is nil
    /// if the buffer contains no slice header.
    package var sliceHeader: SliceHeaderBits? {
        var prefix: [UInt8]
        var header = 0
        let units = units
        if units.isEmpty {
            guard bytes.count >= codec.unitHeaderBytes else { return nil }
            prefix = [0, 0, 0, 1] + bytes.prefix(codec.unitHeaderBytes)
        } else {
            // With emulation prevention, start codes are certain, and other NAL units may be before the slice header.
            guard let unit = hasEmulationBytes ? units.last : units.first else { return nil }
            header = unit.header
            guard header + codec.unitHeaderBytes <= bytes.count else { return nil }
            prefix = Array(bytes[..<(header + codec.unitHeaderBytes)])
        }
        guard codec.isSlice(codec.unitType(bytes[header])) else { return nil }
        let unused = 8 * bytes.count - bitLength
        var payload = Array(bytes[(header + codec.unitHeaderBytes)...])
        if hasEmulationBytes { payload = EmulationPrevention.unescape(payload) }
        guard !payload.isEmpty, 8 * payload.count > unused else { return nil }
        return SliceHeaderBits(prefix: prefix, payload: payload, bitCount: 8 * payload.count - unused)
    }
}
