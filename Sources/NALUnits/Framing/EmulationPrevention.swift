/// Emulation prevention, H.264 7.4.1 and HEVC 7.4.2: within a NAL unit no 00 00 00, 00 00 01 or 00 00 02 may stand,
/// and 00 00 03 only as the escape itself, so a 03 goes before every byte below 4 that follows two zero bytes.
public enum EmulationPrevention {
    /// Appends the NAL unit bytes of `rbsp` to `output`. `zeros` counts the zero bytes that stand before it in the
    /// same NAL unit.
    public static func append(_ rbsp: Span<UInt8>, to output: inout [UInt8], zerosBefore zeros: Int = 0) {
        var zeros = zeros
        var index = 0
        output.reserveCapacity(output.count + rbsp.count + 4)
        while index < rbsp.count {
            if zeros == 0 {
                // Nothing to escape until two zero bytes have gone by: copy up to them at once.
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
        // 7.4.1: an RBSP that ends in a zero byte (cabac_zero_words) gets a final 03.
        if rbsp.count > 0, rbsp[rbsp.count - 1] == 0 { output.append(3) }
    }

    /// The NAL unit bytes of `rbsp`.
    public static func escaped(_ rbsp: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        append(rbsp.span, to: &output)
        return output
    }

    /// A NAL unit's bytes without emulation prevention: what decoders read, H.264 7.3.1.
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
        // SAFETY: the pointer lives for the call; the range was found inside the span.
        unsafe bytes.withUnsafeBufferPointer { pointer in
            unsafe output.append(contentsOf: UnsafeBufferPointer(rebasing: pointer[range]))
        }
    }
}
