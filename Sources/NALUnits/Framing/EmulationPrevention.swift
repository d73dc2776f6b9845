/// Emulation prevention, H.264 7.4.1 and H.265 7.4.2.
///
/// A NAL unit must not contain 00 00 00, 00 00 01 or 00 00 02, and may contain 00 00 03 only as the escape sequence. A
/// byte 03 is therefore inserted before every byte below 4 that follows two zero bytes.
package enum EmulationPrevention {
    /// Appends the escaped bytes of `rbsp` to `output`.
    ///
    /// - Parameter zeros: The number of zero bytes that precede `rbsp` in the same NAL unit.
    package static func append(_ rbsp: Span<UInt8>, to output: inout [UInt8], zerosBefore zeros: Int = 0) {
        var zeros = zeros
        var index = 0
        output.reserveCapacity(output.count + rbsp.count + 4)
        while index < rbsp.count {
            if zeros == 0 {
                // Nothing is escaped before the next two zero bytes, so the bytes up to them are copied at once.
                let pair = firstZeroPair(in: rbsp, from: index)
                let end = pair ?? rbsp.count
                copy(rbsp, index..<end, to: &output)
                index = end
                guard pair != nil else { break }
                output.append(0)
                output.append(0)
                index += 2
                zeros = 2
                continue
            }
            let byte = rbsp[index]
            if zeros >= 2, byte <= 3 {
                output.append(3)
                zeros = 0
            }
            output.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
            index += 1
        }
        // H.264 7.4.1: an RBSP that ends in a zero byte (cabac_zero_words) gets a final 03.
        if rbsp.count > 0, rbsp[rbsp.count - 1] == 0 { output.append(3) }
    }

    /// Returns the escaped bytes of `rbsp`.
    package static func escaped(_ rbsp: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        append(rbsp.span, to: &output)
        return output
    }

    /// Returns a NAL unit's bytes without emulation prevention, as a decoder reads them, H.264 7.3.1.
    package static func unescaped(_ unit: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(unit.count)
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }

    private static func copy(_ bytes: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        // SAFETY: The pointer is valid during the call, and the range lies inside the span.
        unsafe bytes.withUnsafeBufferPointer { pointer in
            unsafe output.append(contentsOf: UnsafeBufferPointer(rebasing: pointer[range]))
        }
    }
}
