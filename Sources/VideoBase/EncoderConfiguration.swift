/// The requested settings of an encoder. If a setting is nil, the encoder chooses the value and reports it in its
/// effective configuration.
public struct EncoderConfiguration: Sendable, Hashable {
    /// The requested codec. nil: the session chooses HEVC if the device encodes the requested profile, size and bit
    /// depth in HEVC, otherwise H.264. `CompressionSession.choice` has the codec of a session.
    public var codec: VideoCodec?
    /// The codec of an encoder, whose configuration names one. H.264 if it names none.
    package var encodedCodec: VideoCodec { codec ?? .h264 }
    /// The visible size in luma samples; each side is 1 or more. An odd width or height is padded by one, which is
    /// reported. The device, the codec and the level limit the size.
    public var size: VideoSize
    /// The frame rate in frames per second, 0.001…1000. Default: 30.
    public var frameRate = Rational(30, 1)
    /// Whether frames arrive at irregular times. `frameRate` is then their average, and the stream does not signal a
    /// fixed frame rate. Default: false.
    public var frameRateVaries = false
    /// The pixel format of the input. Default: NV12. The stream gets its bit depth if the codec and the device support
    /// it. RGB is converted to the range and matrix of `display.color`; without them, to limited range with BT.709 (720
    /// rows or more) or BT.601. The stream signals the range and matrix. Gray samples are not converted; without a
    /// range in `display.color`, the stream signals full range.
    public var inputFormat = PixelFormat.nv12
    /// The profile. Default: the best that the device supports and that keeps the bit depth: High for H.264, Main or
    /// Main 10 for HEVC.
    public var profile: CodecProfile?
    /// The level. Default: the lowest level that allows the size, the rates and the structure.
    public var level: CodecLevel?
    /// The tier of HEVC. Default: Main, unless the bit rate or the buffer needs the level's High tier.
    public var tier: Tier?
    /// The bit depth of coded samples, 8 or 10. Default: the depth of the profile; without a profile, that of the input
    /// if the codec supports it.
    public var bitDepth: Int?

    /// Whether frames come from a live source, such as a camera, which may end at any time. Encoders with a long
    /// lookahead use a shorter one, so that less is lost at the end. Unlike `realTime`, this is not a hint about speed.
    /// Default: false.
    public var isLive = false
    /// Whether the frames come from a file, so that their delay does not matter.
    package var encodesFile = false
    /// The VA-API entry point: true for EncSliceLP, false for EncSlice. Default: EncSlice if the device has it.
    public var lowPower: Bool?
    /// Whether any difference between a requested and a used value is an error. Default: false.
    public var strict = false

    /// The settings of rate control.
    public var rate = Rate()
    /// The settings of the group of pictures and of references.
    public var structure = Structure()
    /// The coding tools of a picture, and the speed.
    public var coding = Coding()
    /// The description of the samples for the display, which is written to the stream.
    public var display = Display()
    /// The optional headers and messages of the stream.
    public var headers = Headers()
    /// The number of frames that the encoder holds, and the delay.
    public var pipeline = Pipeline()

    /// Creates a configuration for pictures of this size, with default values.
    public init(size: VideoSize) { self.size = size }

    /// The profiles that encode the samples without a loss of depth if possible, the best first.
    package var preferredProfiles: [CodecProfile] {
        switch encodedCodec {
        case .h264: [.h264High, .h264Main, .h264ConstrainedBaseline]
        // Main 10 codes 8-bit samples too, but decoders then need Main 10, so it is only used on request.
        case .hevc: codedBitDepth > 8 ? [.hevcMain10, .hevcMain] : [.hevcMain]
        }
    }

    /// The bit depth of coded samples: that of `profile` or `bitDepth`, otherwise that of the input if the codec has a
    /// profile for it.
    package var codedBitDepth: Int {
        if let profile { return profile.bitDepth }
        return bitDepth ?? (encodedCodec.bitDepths.contains(inputFormat.bitDepth) ? inputFormat.bitDepth : 8)
    }
}

/// One limit of *DataRateLimits*: the maximum number of bytes in any window of a duration.
public struct DataRateLimit: Sendable, Hashable {
    /// The maximum number of bytes in the window, 1…2⁴⁰.
    public var bytes: Int
    /// The duration of the window: more than 0, and at most an hour.
    public var duration: Duration

    /// Creates a limit.
    public init(bytes: Int, duration: Duration) {
        self.bytes = bytes
        self.duration = duration
    }
}

/// The component that controls the bit rate.
public enum RateControlOwner: String, Sendable, Hashable, Codable, CaseIterable {
    /// The driver's own rate control.
    case driver
    /// The rate controller of vaenc, which sets the QP of each picture.
    case vaenc
}

/// A rectangle of the picture whose QP differs from the rest of the picture, in luma samples from the top left.
public struct RegionOfInterest: Sendable, Hashable {
    /// The left edge, 0…65535.
    public var x: Int
    /// The top edge, 0…65535.
    public var y: Int
    /// The width, 1…65535.
    public var width: Int
    /// The height, 1…65535.
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
    /// Whether the filter is on. Default: true.
    public var isOn: Bool
    /// The alpha offset of H.264 or the tC offset of HEVC, divided by 2: −6…6. Default: 0.
    public var alphaOffset: Int
    /// The beta offset, divided by 2: −6…6. Default: 0.
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
    /// The average bit rate, 1000…4·10⁹ bit/s.
    public var bitrate: BitsPerSecond?
    /// The maximum bit rate over any second, 1000…4·10⁹ bit/s.
    public var maxBitrate: BitsPerSecond?
    /// The frame rate in frames per second, 0.001…1000.
    public var frameRate: Rational?
    /// The minimum QP, 0…51.
    public var minQP: Int?
    /// The maximum QP, 0…51.
    public var maxQP: Int?
    /// The QP of P pictures with constant QP, 0…51.
    public var qp: Int?
    /// The data-rate limits. An empty array removes them.
    public var dataRateLimits: [DataRateLimit]?

    /// Creates a change that changes nothing.
    public init() {}
}
