import EncodePlanning
import H264Syntax
import VideoBase

/// Everything that encoding needs to know, settled: no option is open any more.
struct EncodeSettings: Sendable, Hashable {
    var profile: CodecProfile
    var limits: DeviceLimits
    var level: Level
    /// What decoders show; even on both sides.
    var size: VideoSize
    /// What the frames that come in show; one less than `size` where a side is odd.
    var inputSize: VideoSize
    /// Whole macroblocks: the surfaces' size.
    var codedSize: VideoSize
    var frameRate: Rational
    var color: ColorDescription
    var sampleAspectRatio: Rational?
    var entropy: EntropyCoder
    var transform8x8: Bool
    var qpI: Int
    var qpP: Int
    /// The driver's quality level; nil leaves its default.
    var qualityLevel: UInt32?
    var structure: GOPStructure
    /// First macroblock row of each slice, the first of them 0.
    var sliceRows: [Int]
    var accessUnitDelimiters: Bool
    /// Frames submitted whose packets were not yet read.
    var asyncDepth: Int
    /// `encode` returns when the frame's packet was delivered.
    var lowLatency: Bool
    var forcedKeyFrames: Set<Int>
    var effective: [EffectiveEntry]

    var widthInMacroblocks: Int { codedSize.width / 16 }
    var heightInMacroblocks: Int { codedSize.height / 16 }

    func qp(of type: PictureType) -> Int { type == .idr || type == .i ? qpI : qpP }
}
