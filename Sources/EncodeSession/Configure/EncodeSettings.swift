import EncodePlanning
import VideoBase

/// Everything that encoding needs to know, settled: no option is open any more.
struct EncodeSettings: Sendable, Hashable {
    var profile: CodecProfile
    var limits: DeviceLimits
    var level: StreamLevel
    /// What decoders show; even on both sides.
    var size: VideoSize
    /// What the frames that come in show; one less than `size` where a side is odd.
    var inputSize: VideoSize
    /// What is coded, and its blocks.
    var grid: BlockGrid
    var frameRate: Rational
    var color: ColorDescription
    var masteringDisplay: MasteringDisplay?
    var contentLight: ContentLight?
    var sampleAspectRatio: Rational?
    var tools: CodecTools
    var deblocking: Deblocking
    var qpI: Int
    var qpP: Int
    var qpB: Int
    /// The driver's quality level; nil leaves its default.
    var qualityLevel: UInt32?
    /// nil leaves the driver's choice.
    var trellis: Bool?
    /// For frames that bring none of their own; at most `limits.maxRegions`.
    var regionsOfInterest: [RegionOfInterest]
    var structure: GOPStructure
    /// The direction of a rolling intra refresh.
    var refreshesColumns = true
    /// First row of blocks of each slice, the first of them 0.
    var sliceRows: [Int]
    /// nil: no limit.
    var maxSliceBytes: Int?
    var accessUnitDelimiters: Bool
    var rate = RateSettings()
    /// nil: the stream says nothing of a decoder's buffer.
    var buffer: BufferModel?
    /// An SEI message with vaenc's name at each key frame.
    var identifier: Bool
    /// Frames submitted whose packets were not yet read.
    var asyncDepth: Int
    /// `encode` returns when the packet of the frame so many before was delivered; nil: as the device lets it.
    var maxFrameDelay: Int?
    var forcedKeys: ForcedKeys
    /// Frames come at `frameRate` exactly.
    var hasFixedFrameRate = true
    /// The level was asked for.
    var asksLevel = false
    /// Nothing may differ from what was asked for.
    var isStrict = false
    var effective: [EffectiveEntry]

    /// Blocks of each slice, in raster order.
    var sliceBlocks: [Range<Int>] {
        sliceRows.indices.map { index in
            let end = index + 1 < sliceRows.count ? sliceRows[index + 1] : grid.rows
            return sliceRows[index] * grid.columns..<end * grid.columns
        }
    }

    /// Of input and reconstructions.
    var pixelFormat: PixelFormat { profile.bitDepth > 8 ? .p010 : .nv12 }

    func qp(of type: PictureType) -> Int {
        switch type {
        case .idr, .i: qpI
        case .p: qpP
        case .b: qpB
        }
    }
}
