/// What is asked of an encoder. nil means: the encoder's choice, reported in its effective configuration.
public struct EncoderConfiguration: Sendable, Hashable {
    public var codec: VideoCodec = .h264
    /// The visible size; odd sides are padded by one, and reported.
    public var size: VideoSize
    public var frameRate = Rational(30, 1)
    public var inputFormat = PixelFormat.nv12
    public var profile: CodecProfile?
    /// `level_idc` in tenths: 41 is level 4.1; 9 is level 1b.
    public var level: Int?
    public var entropy: EntropyCoder?
    public var color = ColorDescription.unspecified
    public var sampleAspectRatio: Rational?

    public var rateControl: RateControlMode?
    public var bitrate: BitsPerSecond?
    public var maxBitrate: BitsPerSecond?
    /// QP of P pictures, 0…51.
    public var qp: Int?
    public var qpI: Int?
    public var qpB: Int?
    /// Aim of the quality modes, on the QP scale, 1…51.
    public var quality: Int?
    public var minQP: Int?
    public var maxQP: Int?
    /// 1 best … 7 fastest.
    public var preset: Int?

    public var gopFrames: Int?
    public var gopSeconds: Double?
    public var bFrames: Int?
    public var references: Int?
    public var slices: Int?
    public var accessUnitDelimiters = false
    /// Frames in flight, at least 2 unless `lowLatency`.
    public var asyncDepth: Int?
    public var lowLatency = false
    /// Display indices that must become key frames.
    public var forcedKeyFrames: Set<Int> = []
    /// nil: the engine's choice; true: EncSliceLP; false: EncSlice.
    public var lowPower: Bool?
    /// Any difference between asked and used is an error.
    public var strict = false

    public init(size: VideoSize) { self.size = size }
}

/// One line of the effective configuration: what was asked, what is used, and why they differ (or who chose).
public struct EffectiveEntry: Sendable, Hashable, Encodable {
    public var option: String
    /// nil where nothing was asked.
    public var asked: String?
    public var used: String
    public var why: String

    public init(option: String, asked: String?, used: String, why: String) {
        self.option = option
        self.asked = asked
        self.used = used
        self.why = why
    }

    private enum CodingKeys: CodingKey { case option, asked, used, why }

    /// `asked` is written as null where nothing was asked.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(option, forKey: .option)
        try container.encode(asked, forKey: .asked)
        try container.encode(used, forKey: .used)
        try container.encode(why, forKey: .why)
    }

    /// What was asked is not what is used.
    public var differs: Bool { asked != nil && asked != used }
}
