/// What `slice_type` says, modulo 5.
package enum SliceType: UInt8, Sendable { case p = 0, b = 1, i = 2 }

/// Bits that stand before a slice's data: start code and NAL unit header as bytes, then the slice header as
/// RBSP bits with no emulation prevention.
package struct SliceHeaderBits: Sendable {
    /// Start code (3 or 4 bytes) and the NAL unit header byte, copied out as they are.
    package var prefix: [UInt8]
    /// The slice header, most significant bit first.
    package var payload: [UInt8]
    /// Bits of `payload` that count.
    package var bitCount: Int

    package init(prefix: [UInt8], payload: [UInt8], bitCount: Int) {
        self.prefix = prefix
        self.payload = payload
        self.bitCount = bitCount
    }
}

/// What rolling intra refresh codes as intra in a picture.
package enum IntraRefresh: Equatable, Sendable {
    case columns(Range<Int>)
    case rows(Range<Int>)
}

/// How to start a new slice where one grows too large.
package struct SliceByteLimit: Sendable {
    /// Bytes of a NAL unit with its start code.
    package var bytes: Int
    /// The header of a slice that continues slice `slice` of the job from a macroblock on.
    package var header: @Sendable (_ slice: Int, _ firstMacroblock: Int) -> SliceHeaderBits

    package init(bytes: Int, header: @escaping @Sendable (_ slice: Int, _ firstMacroblock: Int) -> SliceHeaderBits) {
        self.bytes = bytes
        self.header = header
    }
}

/// What came of a picture.
package struct PictureResult: Sendable {
    /// For each slice, its NAL unit: prefix, then header and data with emulation prevention. More than the job has
    /// where a byte limit made more.
    package var slices: [[UInt8]]
    /// The sum of all macroblocks' QP_Y.
    package var qpSum = 0
    package var intraMacroblocks = 0
    package var skippedMacroblocks = 0
    /// Sum of squared luma errors against the source inside its width and height.
    package var lumaSquaredError: UInt64 = 0

    package init(
        slices: [[UInt8]], intraMacroblocks: Int = 0, skippedMacroblocks: Int = 0, lumaSquaredError: UInt64 = 0
    ) {
        self.slices = slices
        self.intraMacroblocks = intraMacroblocks
        self.skippedMacroblocks = skippedMacroblocks
        self.lumaSquaredError = lumaSquaredError
    }
}
