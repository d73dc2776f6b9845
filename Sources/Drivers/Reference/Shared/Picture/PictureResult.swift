/// The slice type: slice_type modulo 5.
package enum SliceType: UInt8, Sendable { case p = 0, b = 1, i = 2 }

/// The bits before a slice's data: start code and NAL unit header as bytes, then the slice header as RBSP bits without
/// emulation prevention.
package struct SliceHeaderBits: Sendable {
    /// The start code (3 or 4 bytes) and the NAL unit header, which are copied unchanged.
    package var prefix: [UInt8]
    /// The bits of the slice header, most significant bit first.
    package var payload: [UInt8]
    /// The number of valid bits in `payload`.
    package var bitCount: Int

    package init(prefix: [UInt8], payload: [UInt8], bitCount: Int) {
        self.prefix = prefix
        self.payload = payload
        self.bitCount = bitCount
    }
}

/// The columns or rows of a picture that rolling intra refresh codes as intra.
package enum IntraRefresh: Equatable, Sendable {
    case columns(Range<Int>)
    case rows(Range<Int>)
}

/// The parameters for starting a new slice when a slice becomes too large.
package struct SliceByteLimit: Sendable {
    /// The maximum size in bytes of a NAL unit with its start code.
    package var bytes: Int
    /// Returns the header of a slice that continues slice `slice` of the job at a macroblock.
    package var header: @Sendable (_ slice: Int, _ firstMacroblock: Int) -> SliceHeaderBits

    package init(bytes: Int, header: @escaping @Sendable (_ slice: Int, _ firstMacroblock: Int) -> SliceHeaderBits) {
        self.bytes = bytes
        self.header = header
    }
}

/// The result of encoding a picture.
package struct PictureResult: Sendable {
    /// The NAL unit of each slice: prefix, then header and data with emulation prevention. If a byte limit split
    /// slices, there are more than the job has.
    package var slices: [[UInt8]]
    /// The sum of QP_Y over all macroblocks.
    package var qpSum = 0
    package var intraMacroblocks = 0
    package var skippedMacroblocks = 0
    /// The sum of squared luma errors against the source, inside the source's width and height.
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
