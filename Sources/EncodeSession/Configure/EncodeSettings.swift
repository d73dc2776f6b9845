import EncodePlanning
import VideoBase

/// The complete settings of an encoder: every option is resolved.
struct EncodeSettings: Sendable, Hashable {
    var profile: CodecProfile
    var limits: EncodeCapabilities
    var level: StreamLevel
    /// The size that decoders show. Both sides are even.
    var size: VideoSize
    /// The size of the input frames. If a side is odd, it is one less than in `size`.
    var inputSize: VideoSize
    /// The coded size and its blocks.
    var grid: BlockGrid
    var frameRate: Rational
    var color: ColorDescription
    var masteringDisplay: MasteringDisplay?
    var contentLight: ContentLight?
    var sampleAspectRatio: Rational?
    var tools: CodecTools
    var deblocking: Deblocking
    /// The QPs of constant QP as requested, before `minQP` and `maxQP` limit them.
    var requestedQPs: ConstantQPs
    /// The driver's quality level; nil keeps the driver's default.
    var qualityLevel: UInt32?
    /// Whether to use trellis quantization; nil keeps the driver's default.
    var trellis: Bool?
    /// The regions for frames without their own regions; at most `limits.maxRegions`.
    var regionsOfInterest: [RegionOfInterest]
    var structure: GOPStructure
    /// Whether a rolling intra refresh moves over columns, otherwise over rows.
    var refreshesColumns = true
    /// The first row of blocks of each slice, beginning with 0.
    var sliceRows: [Int]
    /// The maximum size of a slice in bytes; nil for no limit.
    var maxSliceBytes: Int?
    var accessUnitDelimiters: Bool
    var rate = RateSettings()
    /// The decoder buffer that the stream signals; nil if it signals none.
    var buffer: BufferModel?
    /// Whether each key frame has an SEI message with vaenc's name.
    var identifier: Bool
    /// The maximum number of submitted frames whose packets were not read yet.
    var asyncDepth: Int
    /// The maximum number of pictures that are planned and not submitted yet. The threads then wake once for several
    /// pictures. Compared with queues in 1 MiB, the pictures of a file in 4 MiB cost a tenth less CPU time at 320×180, and
    /// a fifth at 640×360. Large pictures do not wait: they would fill more memory than the processor's caches hold, which
    /// costs more than a thread switch. Fewer pictures wait if they may come from a live source, because each adds to the
    /// delay when the device is slower than the source; and if there are long-term references, because a receiver can only
    /// acknowledge pictures that it has. If vaenc controls the rate, a picture is planned only after the picture before it
    /// was read.
    var queueDepth: Int {
        let bytes = max(pixelFormat.frameBytes(grid.coded), 1)
        guard asyncDepth > 1, bytes <= 1 << 19, !rate.usesVaencRateControl else { return 0 }
        return encodesFile && structure.longTermReferences == 0 ? min((4 << 20) / bytes, 24) : min((1 << 20) / bytes, 8)
    }
    /// Whether the frames come from a file, so that their delay does not matter.
    var encodesFile = false
    /// The failure of shared memory in this session: input surfaces are then in the driver's memory. Nil if none failed.
    var refusedMemory: String?
    /// `encode` returns when the packet of the frame this many frames earlier was delivered; nil: only the device
    /// limits the delay.
    var maxFrameDelay: Int?
    var forcedKeys: ForcedKeys
    /// Whether frames arrive at exactly `frameRate`.
    var hasFixedFrameRate = true
    /// Whether a level was requested.
    var asksLevel = false
    /// Whether any difference from the request is an error.
    var isStrict = false
    var effective: [EffectiveEntry]

    /// The blocks of each slice, in raster order.
    var sliceBlocks: [Range<Int>] {
        sliceRows.indices.map { index in
            let end = index + 1 < sliceRows.count ? sliceRows[index + 1] : grid.rows
            return sliceRows[index] * grid.columns..<end * grid.columns
        }
    }

    /// The pixel format of input surfaces and reconstructions.
    var pixelFormat: PixelFormat { profile.bitDepth > 8 ? .p010 : .nv12 }

    /// The QPs of constant QP. In other modes, the start value in parameter sets and slice headers.
    var qps: RateSession.QPs { requestedQPs.limited(to: rate.qpRange) }
    var qpI: Int { qps.i }
    var qpP: Int { qps.p }
    var qpB: Int { qps.b }

    func qp(of type: PictureType) -> Int {
        switch type {
        case .idr, .i: qpI
        case .p: qpP
        case .b: qpB
        }
    }
}
