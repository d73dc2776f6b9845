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

/// One slice of a picture to encode.
struct SliceJob: Sendable {
    /// Raster macroblock addresses.
    var firstMacroblock: Int
    var macroblockCount: Int
    var type: SliceType
    /// SliceQP_Y, H.264 (7-30).
    var qp: Int
    /// In `ref_idx` order, as the client lists them; `count` is num_ref_idx_active.
    var list0: [ReconstructedPicture]
    var list1: [ReconstructedPicture]
    var cabac: Bool
    var cabacInitIdc: Int
    var disableDeblockingFilterIdc: Int
    /// FilterOffsetA and FilterOffsetB, that is twice the syntax elements, −12…12.
    var filterOffsetA: Int
    var filterOffsetB: Int
    var header: SliceHeaderBits
}

/// One picture to encode: everything the client's buffers said, checked.
struct PictureJob: Sendable {
    var widthInMacroblocks: Int
    var heightInMacroblocks: Int
    var source: SourcePicture
    /// Where the reconstruction goes; not in any list.
    var reconstruction: ReconstructedPicture
    /// `transform_8x8_mode_flag`.
    var transform8x8: Bool
    var constrainedIntraPrediction: Bool
    var chromaQPIndexOffset: Int
    var secondChromaQPIndexOffset: Int
    /// 1 best … 7 fastest.
    var quality: Int
    /// In order; together they cover every macroblock once.
    var slices: [SliceJob]
}

/// The client's NV12 surface. Macroblocks outside `width`×`height` repeat the last column and row.
///
/// SAFETY: the backend keeps the surface's memory alive and unmapped for writing while the job runs.
@safe struct SourcePicture: @unchecked Sendable {
    var luma: Lane<UInt8>
    var chroma: Lane<UInt8>
    var lumaPitch: Int
    var chromaPitch: Int
    var width: Int
    var height: Int
}

/// What came of a picture.
struct PictureResult: Sendable {
    /// For each slice, its NAL unit: prefix, then header and data with emulation prevention.
    var slices: [[UInt8]]
    var intraMacroblocks = 0
    var skippedMacroblocks = 0
    /// Sum of squared luma errors against the source inside its width and height.
    var lumaSquaredError: UInt64 = 0
}
