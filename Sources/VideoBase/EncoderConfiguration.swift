/// The requested settings of an encoder. If a setting is nil, the encoder chooses the value and reports it in its
/// effective configuration.
public struct EncoderConfiguration: Sendable, Hashable {
    /// The requested codec. nil: the session chooses HEVC if the device encodes the requested profile, size and bit
    /// depth in HEVC, otherwise H.264.
    public var wantedCodec: VideoCodec?
    /// The codec that a session has chosen, in the configuration that the session returns. It was not requested, so it
    /// is ignored when configurations are compared.
    package var chosenCodec: VideoCodec? {
        get { chosen.value }
        set { chosen.value = newValue }
    }
    private var chosen = Uncompared<VideoCodec>()
    /// The requested codec. If none is requested, the codec that the session has chosen; H.264 if the configuration
    /// does not belong to a session.
    public var codec: VideoCodec {
        get { wantedCodec ?? chosenCodec ?? .h264 }
        set { wantedCodec = newValue }
    }
    /// The visible size. An odd width or height is padded by one, which is reported.
    public var size: VideoSize
    /// The frame rate in frames per second.
    public var frameRate = Rational(30, 1)
    /// Whether frames arrive at irregular times. `frameRate` is then their average, and the stream does not signal a
    /// fixed frame rate.
    public var frameRateVaries = false
    /// The pixel format of the input.
    public var inputFormat = PixelFormat.nv12
    /// The profile, or nil to let the encoder choose.
    public var profile: CodecProfile?
    /// The level times ten: 41 is level 4.1; 9 is level 1b.
    public var level: Int?
    /// The tier of HEVC. nil: Main, unless the bit rate or the buffer needs the level's High tier.
    public var tier: Tier?
    /// The entropy coder of H.264.
    public var entropy: EntropyCoder?
    /// The bit depth of coded samples, 8 or 10. nil: the depth of the profile; without a profile, that of the input if
    /// the codec supports it.
    public var bitDepth: Int?
    /// The color description that is written to the stream.
    public var color = ColorDescription.unspecified
    /// The mastering display, written as an SEI message at each key frame.
    public var masteringDisplay: MasteringDisplay?
    /// The content light level, written as an SEI message at each key frame.
    public var contentLight: ContentLight?
    /// The sample aspect ratio, or nil if it is unknown.
    public var sampleAspectRatio: Rational?

    /// The rate control mode. nil: VBR with a bit rate; constant QP with a QP; otherwise a quality is the target.
    public var rateControl: RateControlMode?
    /// The average bit rate of the stream, also in CBR.
    public var bitrate: BitsPerSecond?
    /// The maximum bit rate over any second (VBR, QVBR).
    public var maxBitrate: BitsPerSecond?
    /// The size of the coded picture buffer in bits, Annex C of H.264 and H.265.
    public var vbvSize: Int?
    /// The fullness of the buffer when decoding begins, 0…100 percent of its size.
    public var vbvInitialPercent: Int?
    /// The QP of P pictures, 0…51.
    public var qp: Int?
    /// The QP of I pictures, 0…51.
    public var qpI: Int?
    /// The QP of B pictures, 0…51.
    public var qpB: Int?
    /// The target of the quality modes on the QP scale, 1…51.
    public var quality: Int?
    /// The minimum QP, 0…51.
    public var minQP: Int?
    /// The maximum QP, 0…51.
    public var maxQP: Int?
    /// The maximum size of an access unit in bytes.
    public var maxFrameBytes: Int?
    /// The maximum size of a slice NAL unit in bytes.
    public var maxSliceBytes: Int?
    /// The maximum numbers of bytes in any window of a given duration: *DataRateLimits*. All limits apply.
    public var dataRateLimits: [DataRateLimit] = []
    /// The component that controls the rate in CBR and VBR. nil: the driver if it has rate control, otherwise vaenc.
    public var rateController: RateControlOwner?
    /// The regions of interest of every frame. The options of a frame can replace them.
    public var regionsOfInterest: [RegionOfInterest] = []
    /// Whether rate control works below the picture level, if the driver supports it.
    public var macroblockRateControl: Bool?
    /// Whether to use rate–distortion optimized quantization (trellis), if the driver supports it.
    public var trellis: Bool?
    /// The speed preset, from 1 (best quality) to 7 (fastest).
    public var preset: Int?

    /// The distance between intra pictures in frames. If `gopSeconds` is set too, the shorter distance applies. nil
    /// without `gopSeconds`: 5 seconds.
    public var gopFrames: Int?
    /// The distance between intra pictures in seconds, rounded to frames. If `gopFrames` is set too, the shorter
    /// distance applies.
    public var gopSeconds: Double?
    /// The interval of IDR pictures: every Nth intra picture is an IDR picture. The others are I pictures with recovery
    /// points. 1 makes all intra pictures IDR pictures.
    public var idrInterval: Int?
    /// Whether B pictures that precede an I picture in output order may predict from pictures before it.
    public var openGOP = false
    /// The number of consecutive B pictures, 0…7.
    public var bFrames: Int?
    /// The value of the property AllowFrameReordering if `bFrames` is not set. true lets the encoder choose their
    /// number.
    package var allowsBFrames: Bool?
    /// The value of the property AllowTemporalCompression if `gopFrames` is not set.
    package var allowsPFrames: Bool?
    /// Whether B pictures predict from other B pictures, in a pyramid.
    public var bPyramid: Bool?
    /// The number of entries in list 0.
    public var references: Int?
    /// The number of layers of a temporal hierarchy, 1…4.
    public var temporalLayers: Int?
    /// Whether intra-coded macroblock columns (or rows) that move through the picture replace key frames. One pass
    /// takes a GOP.
    public var intraRefresh = false
    /// The number of long-term references that the session keeps for `FrameOptions`, 0 for none.
    public var longTermReferences: Int?
    /// The number of slices of a picture.
    public var slices: Int?
    /// Whether to use the 8×8 transform of H.264.
    public var transform8x8: Bool?
    /// The deblocking filter.
    public var deblocking: Deblocking?
    /// Whether to write an access unit delimiter before every picture.
    ///
    /// MPEG-TS always has delimiters: libavformat adds them if they are missing, but no HRD model accounts for those. A
    /// stream with HRD parameters for MPEG-TS must therefore contain its own (`OutputFormat.wantsDelimiters`).
    public var accessUnitDelimiters = false
    /// Whether to write HRD parameters in the VUI, and buffering period and picture timing SEI messages. nil: if the
    /// rate control maintains a buffer.
    public var hrdParameters: Bool?
    /// Whether to write an SEI message with the encoder's name and version at each key frame.
    public var identifier: Bool?
    /// The number of frames in flight: 1…64 on a device (default 2), 1…256 in software (default 4). 1 with
    /// `lowLatency`.
    public var asyncDepth: Int?
    /// Whether to minimize the delay from a frame to its packet.
    public var lowLatency = false
    /// The display indices of frames that must become key frames.
    public var forcedKeyFrames: Set<Int> = []
    /// Times in seconds. The first frame at or after each of them becomes a key frame.
    public var forcedKeyTimes: [Double] = []
    /// The maximum number of frames that the encoder may hold before it delivers the first packet:
    /// *MaxFrameDelayCount*.
    public var maxFrameDelay: Int?
    /// A hint that frames are encoded while they are captured, so that no frame may take longer than the frame
    /// interval: *RealTime*. If it is true and no preset is requested, the encoder uses its fastest preset.
    public var realTime: Bool?
    /// Whether frames come from a live source, such as a camera, which may end at any time. Encoders with a long
    /// lookahead use a shorter one, so that less is lost at the end. Unlike `realTime`, this is not a hint about speed.
    public var isLive = false
    /// The VA-API entry point. nil: vaenc chooses; true: EncSliceLP; false: EncSlice.
    public var lowPower: Bool?
    /// Whether any difference between a requested and a used value is an error.
    public var strict = false

    /// Creates a configuration for pictures of this size, with default values.
    public init(size: VideoSize) { self.size = size }

    /// The bit depth of coded samples: that of `profile` or `bitDepth`, otherwise that of the input if the codec has a
    /// profile for it.
    public var codedBitDepth: Int {
        if let profile { return profile.bitDepth }
        return bitDepth ?? (codec.bitDepths.contains(inputFormat.bitDepth) ? inputFormat.bitDepth : 8)
    }
}

/// A wrapper whose values are all equal in comparisons.
private struct Uncompared<Value: Sendable>: Sendable, Hashable {
    var value: Value?

    static func == (_: Self, _: Self) -> Bool { true }
    func hash(into _: inout Hasher) {}
}

/// One limit of *DataRateLimits*: the maximum number of bytes in any window of a duration.
public struct DataRateLimit: Sendable, Hashable {
    /// The maximum number of bytes in the window.
    public var bytes: Int
    /// The duration of the window in seconds.
    public var seconds: Double

    /// Creates a limit.
    public init(bytes: Int, seconds: Double) {
        self.bytes = bytes
        self.seconds = seconds
    }
}

/// The component that controls the bit rate.
public enum RateControlOwner: String, Sendable, Hashable, Codable, CaseIterable {
    case driver
    /// The rate controller of vaenc, which sets the QP of each picture.
    case vaenc
}

/// A rectangle of the picture whose QP differs from the rest of the picture, in luma samples from the top left.
public struct RegionOfInterest: Sendable, Hashable {
    /// The left edge.
    public var x: Int
    /// The top edge.
    public var y: Int
    /// The width.
    public var width: Int
    /// The height.
    public var height: Int
    /// The difference to the QP of the rest of the picture, −51…51. Negative values improve the quality.
    public var qpDelta: Int

    /// Creates a region.
    public init(x: Int, y: Int, width: Int, height: Int, qpDelta: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.qpDelta = qpDelta
    }
}

/// The deblocking filter: off, or on with offsets of −6…6. The offsets are the values of slice_alpha_c0_offset_div2 and
/// slice_beta_offset_div2 (H.264 7.4.3), or of pps_tc_offset_div2 and pps_beta_offset_div2 (H.265 7.4.3.3.1).
public struct Deblocking: Sendable, Hashable {
    /// Whether the filter is on.
    public var isOn: Bool
    /// The alpha offset of H.264 or the tC offset of HEVC, divided by 2.
    public var alphaOffset: Int
    /// The beta offset, divided by 2.
    public var betaOffset: Int

    /// Creates deblocking settings, by default those of the standards.
    public init(isOn: Bool = true, alphaOffset: Int = 0, betaOffset: Int = 0) {
        self.isOn = isOn
        self.alphaOffset = alphaOffset
        self.betaOffset = betaOffset
    }
}

/// Settings that change while a session runs, from the next frame on, without an IDR picture or a drain. nil keeps a
/// setting unchanged.
public struct RunningChange: Sendable, Hashable {
    /// The average bit rate.
    public var bitrate: BitsPerSecond?
    /// The maximum bit rate over any second.
    public var maxBitrate: BitsPerSecond?
    /// The frame rate in frames per second.
    public var frameRate: Rational?
    /// The minimum QP.
    public var minQP: Int?
    /// The maximum QP.
    public var maxQP: Int?
    /// The QP of P pictures.
    public var qp: Int?
    /// The data-rate limits. An empty array removes them.
    public var dataRateLimits: [DataRateLimit]?

    /// Creates a change that changes nothing.
    public init() {}
}
