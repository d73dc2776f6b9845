import VideoBase

/// Rate limits in kbit/s and kbit; 0 means none. They are the fields of the libavcodec context that libx264 reads
/// before each picture.
struct RateLimits: Sendable, Hashable {
    var bitrate = 0
    var maxRate = 0
    var bufferSize = 0
    /// The buffer's initial fullness in percent; 0 means the library's default.
    var initialPercent = 0
    /// The data rate limits. Only the one with the lowest rate is enforced.
    var windows: [DataRateLimit] = []
    /// The limits without the windows, which apply again when the windows are removed.
    var base = Base()

    struct Base: Sendable, Hashable {
        var bitrate = 0
        var maxRate = 0
        var bufferSize = 0
        /// Whether the maximum rate was requested.
        var asksMaximum = false
    }
}

/// An encoder configuration as options of libx264 or libx265, and the report on each requested setting.
struct EncoderSettings: Sendable {
    let codec: VideoCodec
    /// The coded size: the visible size, with odd sides padded by one.
    let codedSize: VideoSize
    /// The layout of the buffers that the encoder reads without conversion.
    let bufferFormat: PixelFormat
    /// The options of the libavcodec wrapper.
    var options: [(name: String, value: String)] = []
    /// The parameters of the encoder library, joined with colons for `x264-params` or `x265-params`.
    var parameters: [(name: String, value: String)] = []
    /// The limits that may change while the encoder runs.
    var limits = RateLimits()
    var effective: [EffectiveEntry] = []
    /// The maximum number of frames that wait for the encoder.
    let queueDepth: Int
    /// The maximum difference between decoding order and display order in pictures, which is the libraries' delay of
    /// decoding times.
    var reorderDepth = 0
    /// Whether each picture must be forced to be a key frame, because libx265 is configured for a longer GOP.
    var isAllIntra = false

    let configuration: EncoderConfiguration
    /// The color description that the stream declares.
    var color: ColorDescription

    /// The library's name in libavcodec.
    var encoderName: String { library.rawValue }
    var library: SoftwareLibrary { codec.softwareLibrary }
    var joinedParameters: String { parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ":") }

    /// The libraries' names of vaenc's presets 1 to 7.
    static let presetNames = ["veryslow", "slower", "slow", "medium", "fast", "veryfast", "ultrafast"]

    /// - Throws: `usage` for values out of range and contradictions; `unavailable` for pictures or settings that the
    ///   library does not support, and for a difference that `strict` rejects.
    init(_ configuration: EncoderConfiguration) throws(VaencError) {
        try Self.validate(configuration)
        self.configuration = configuration
        color = configuration.display.color
        codec = configuration.encodedCodec
        codedSize = configuration.size.aligned(to: 2)
        bufferFormat =
            configuration.codedBitDepth > 8 ? .i420p10 : configuration.encodedCodec.softwareLibrary.pixelFormat
        queueDepth = configuration.pipeline.lowLatency ? 1 : configuration.pipeline.asyncDepth ?? 4

        report(
            "size", asked: configuration.size, used: "\(codedSize)",
            why: codedSize == configuration.size ? .requested : "4:2:0 sizes are even: odd sides are padded by one sample")
        mapDepth()
        mapColor()
        mapStructure()
        mapRate()
        mapReferences()
        mapSlices()
        try checkPicturesFit()
        try checkSmallSides()
        mapProfile()
        mapPicture()
        if configuration.strict, let error = effective.strictError { throw error }
    }

    mutating func report(_ option: String, asked: (some CustomStringConvertible)?, used: String, why: SettingReason) {
        effective.append(EffectiveEntry(option: option, asked: asked.map { "\($0)" }, used: used, why: why))
    }

    mutating func set(_ name: String, _ value: some CustomStringConvertible) { parameters.append((name, "\(value)")) }

    static func why(_ asked: Any?) -> SettingReason { asked == nil ? .standard : .requested }

    /// Reports a requested setting that the library does not support.
    mutating func lacks(_ option: String, _ asked: (some CustomStringConvertible)?, used: String = "off") {
        if let asked { report(option, asked: asked, used: used, why: "\(encoderName) does not support it through libavcodec") }
    }
}
