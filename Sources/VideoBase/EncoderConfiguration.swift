/// What is asked of an encoder. nil means: the encoder's choice, reported in its effective configuration.
public struct EncoderConfiguration: Sendable, Hashable {
    /// nil: HEVC where the device encodes the profile, size and depth that are wanted, else H.264; the session chooses.
    public var wantedCodec: VideoCodec?
    /// The codec that a session has chosen, in the configuration that the session returns. Nobody asked for it: it does not
    /// count when configurations are compared.
    package var chosenCodec: VideoCodec? {
        get { chosen.value }
        set { chosen.value = newValue }
    }
    private var chosen = Uncompared<VideoCodec>()
    /// The wanted codec; if none is wanted, the codec that the session has chosen, and H.264 for a configuration that is no
    /// session's.
    public var codec: VideoCodec {
        get { wantedCodec ?? chosenCodec ?? .h264 }
        set { wantedCodec = newValue }
    }
    /// The visible size; odd sides are padded by one, and reported.
    public var size: VideoSize
    public var frameRate = Rational(30, 1)
    /// Frames come at other times than `frameRate` says, which is then their average: the stream does not promise a
    /// fixed rate.
    public var frameRateVaries = false
    public var inputFormat = PixelFormat.nv12
    public var profile: CodecProfile?
    /// `level_idc` in tenths: 41 is level 4.1; 9 is level 1b.
    public var level: Int?
    /// Of HEVC; nil: Main, unless the rate or the buffer needs the level's High tier.
    public var tier: Tier?
    public var entropy: EntropyCoder?
    /// Bits of a coded sample, 8 or 10; nil: by the profile, and without one as many as the input has where the codec
    /// can.
    public var bitDepth: Int?
    public var color = ColorDescription.unspecified
    /// Written as SEI messages at each key frame.
    public var masteringDisplay: MasteringDisplay?
    public var contentLight: ContentLight?
    public var sampleAspectRatio: Rational?

    public var rateControl: RateControlMode?
    /// The average over the stream, also of CBR.
    public var bitrate: BitsPerSecond?
    /// What no second exceeds (VBR, QVBR).
    public var maxBitrate: BitsPerSecond?
    /// The coded picture buffer's size in bits, Annex C of H.264 and H.265.
    public var vbvSize: Int?
    /// The buffer's fullness when decoding begins, 0…100 percent of its size.
    public var vbvInitialPercent: Int?
    /// QP of P pictures, 0…51.
    public var qp: Int?
    public var qpI: Int?
    public var qpB: Int?
    /// Aim of the quality modes, on the QP scale, 1…51.
    public var quality: Int?
    public var minQP: Int?
    public var maxQP: Int?
    /// No access unit is larger.
    public var maxFrameBytes: Int?
    /// No slice NAL unit is larger.
    public var maxSliceBytes: Int?
    /// At most so many bytes in any stretch of so many seconds, each: *DataRateLimits*.
    public var dataRateLimits: [DataRateLimit] = []
    /// Which of the engine's and the driver's rate control runs CBR and VBR; nil: the driver's where it has one.
    public var rateController: RateController?
    /// For every frame; a frame's own options replace them.
    public var regionsOfInterest: [RegionOfInterest] = []
    /// Rate control below the picture, where the driver offers it.
    public var macroblockRateControl: Bool?
    /// Rate–distortion optimised quantisation, where the driver offers it.
    public var trellis: Bool?
    /// 1 best … 7 fastest.
    public var preset: Int?

    /// Frames from an intra picture to the next.
    public var gopFrames: Int?
    public var gopSeconds: Double?
    /// Every so many intra pictures is an IDR picture, the others I pictures with recovery points; 1: all.
    public var idrInterval: Int?
    /// B pictures before an I picture, in display order, may predict from pictures before it.
    public var openGOP = false
    /// B pictures between two others, 0…7.
    public var bFrames: Int?
    /// What the property AllowFrameReordering was set to where `bFrames` does not say it: true leaves their number to the encoder.
    package var allowsBFrames: Bool?
    /// The same of AllowTemporalCompression and `gopFrames`.
    package var allowsPFrames: Bool?
    /// B pictures predict from B pictures, in a pyramid.
    public var bPyramid: Bool?
    /// Entries of list 0.
    public var references: Int?
    /// Layers of a temporal hierarchy, 1…4.
    public var temporalLayers: Int?
    /// Intra-coded macroblock columns (or rows) move through the picture in place of key frames; one pass takes a GOP.
    public var intraRefresh = false
    /// Long-term references that the session keeps for `FrameOptions`, 0 none.
    public var longTermReferences: Int?
    public var slices: Int?
    public var transform8x8: Bool?
    public var deblocking: Deblocking?
    /// An access unit delimiter before every picture. MPEG-TS has them in any case: a stream with HRD parameters that goes there must have
    /// its own, since nothing counts those that libavformat adds (`OutputFormat.wantsDelimiters`).
    public var accessUnitDelimiters = false
    /// Picture timing and buffering period SEI and the VUI's HRD parameters; nil: where the rate control keeps a buffer.
    public var hrdParameters: Bool?
    /// An SEI message with the encoder's name and version at each key frame.
    public var identifier: Bool?
    /// Frames in flight, at least 2 unless `lowLatency`.
    public var asyncDepth: Int?
    public var lowLatency = false
    /// Display indices that must become key frames.
    public var forcedKeyFrames: Set<Int> = []
    /// The first frame at or after each of these times, in seconds, becomes a key frame.
    public var forcedKeyTimes: [Double] = []
    /// Frames that the encoder may hold before the first packet comes out: *MaxFrameDelayCount*.
    public var maxFrameDelay: Int?
    /// A hint that frames come as they are captured and none may take longer than the time to the next: *RealTime*. On, and
    /// no preset asked for, the encoder takes its fastest.
    public var realTime: Bool?
    /// Pictures come as a camera gives them, and may end at any time: encoders that look far ahead look less far, so that
    /// little is lost then. No hint of speed, as `realTime` is.
    public var isLive = false
    /// nil: the engine's choice; true: EncSliceLP; false: EncSlice.
    public var lowPower: Bool?
    /// Any difference between asked and used is an error.
    public var strict = false

    public init(size: VideoSize) { self.size = size }

    /// Bits of a coded sample: what the profile or `bitDepth` asks for, else those of the input where the codec has a
    /// profile for them.
    public var codedBitDepth: Int {
        if let profile { return profile.bitDepth }
        return bitDepth ?? (codec.bitDepths.contains(inputFormat.bitDepth) ? inputFormat.bitDepth : 8)
    }
}

/// A value that is equal to any other.
private struct Uncompared<Value: Sendable>: Sendable, Hashable {
    var value: Value?

    static func == (_: Self, _: Self) -> Bool { true }
    func hash(into _: inout Hasher) {}
}

/// A limit of *DataRateLimits*.
public struct DataRateLimit: Sendable, Hashable {
    public var bytes: Int
    public var seconds: Double

    public init(bytes: Int, seconds: Double) {
        self.bytes = bytes
        self.seconds = seconds
    }
}

/// Who controls the rate.
public enum RateController: String, Sendable, Hashable, Codable, CaseIterable {
    case driver
    /// vaenc's own, over the QP of each picture.
    case vaenc
}

/// A rectangle of the picture whose QP differs from the rest's by `qpDelta`, in luma samples from the top left.
public struct RegionOfInterest: Sendable, Hashable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int
    /// −51…51; negative is better.
    public var qpDelta: Int

    public init(x: Int, y: Int, width: Int, height: Int, qpDelta: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.qpDelta = qpDelta
    }
}

/// The deblocking filter: off, or with offsets of −6…6, the values of slice_alpha_c0_offset_div2 and
/// slice_beta_offset_div2 (H.264 7.4.3), or of pps_tc_offset_div2 and pps_beta_offset_div2 (H.265 7.4.3.3.1).
public struct Deblocking: Sendable, Hashable {
    public var isOn: Bool
    public var alphaOffset: Int
    public var betaOffset: Int

    public init(isOn: Bool = true, alphaOffset: Int = 0, betaOffset: Int = 0) {
        self.isOn = isOn
        self.alphaOffset = alphaOffset
        self.betaOffset = betaOffset
    }
}

/// What may change while a session runs, from the next frame on, with no IDR picture and no drain. nil: as it is.
public struct RunningChange: Sendable, Hashable {
    public var bitrate: BitsPerSecond?
    public var maxBitrate: BitsPerSecond?
    public var frameRate: Rational?
    public var minQP: Int?
    public var maxQP: Int?
    public var qp: Int?
    public var dataRateLimits: [DataRateLimit]?

    public init() {}
}
