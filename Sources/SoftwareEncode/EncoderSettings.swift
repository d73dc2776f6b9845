import VideoBase

/// Rates in thousands of bits (a second), zero where none: the fields of the libavcodec context, which libx264 looks at
/// before every picture.
struct RateLimits: Sendable, Hashable {
    var bitrate = 0
    var maxRate = 0
    var bufferSize = 0
    /// The buffer's fullness at the start, percent; zero leaves the library's.
    var initialPercent = 0
    /// Of these the lowest rate is kept.
    var windows: [DataRateLimit] = []
    /// What holds without the windows, and again once they are taken back.
    var base = Base()

    struct Base: Sendable, Hashable {
        var bitrate = 0
        var maxRate = 0
        var bufferSize = 0
    }
}

/// An encoder configuration in the words of libx264 and libx265, and the report of what became of each wish.
struct EncoderSettings: Sendable {
    let codec: VideoCodec
    /// What is coded: the visible size, odd sides padded by one.
    let codedSize: VideoSize
    /// Layout of the buffers that the encoder reads without converting.
    let bufferFormat: PixelFormat
    /// Options of the libavcodec wrapper.
    var options: [(name: String, value: String)] = []
    /// Settings of the encoder library, joined with colons for `x264-params` or `x265-params`.
    var parameters: [(name: String, value: String)] = []
    /// What may change while the encoder runs.
    var limits = RateLimits()
    var effective: [EffectiveEntry] = []
    /// Frames that wait for the encoder at most.
    let queueDepth: Int
    /// Pictures by which decoding order and display order differ at most: the libraries' delay of decoding times.
    var reorderDepth = 0
    /// Each picture is to be forced to be a key frame: libx265 is not told that all are.
    var isAllIntra = false

    let configuration: EncoderConfiguration
    /// What the stream says of its colour.
    var color: ColorDescription

    /// The library's name in libavcodec.
    var encoderName: String { library.rawValue }
    var library: SoftwareLibrary { codec.softwareLibrary }
    var joinedParameters: String { parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ":") }

    /// vaenc's presets 1…7 in the libraries' names.
    static let presetNames = ["veryslow", "slower", "slow", "medium", "fast", "veryfast", "ultrafast"]

    /// - Throws: `usage` for values out of range and wishes that contradict each other; `unavailable` where `strict`
    ///   refuses a difference.
    init(_ configuration: EncoderConfiguration) throws(VaencError) {
        try Self.validate(configuration)
        self.configuration = configuration
        color = configuration.color
        codec = configuration.codec
        codedSize = configuration.size.aligned(to: 2)
        bufferFormat =
            configuration.codedBitDepth > 8 ? .i420p10 : configuration.codec.softwareLibrary.pixelFormat
        queueDepth = configuration.lowLatency ? 1 : configuration.asyncDepth ?? 4

        report(
            "size", configuration.size, "\(codedSize)",
            codedSize == configuration.size ? "as asked" : "4:2:0 has even sides: odd ones are padded by one")
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

    mutating func report(_ option: String, _ asked: (some CustomStringConvertible)?, _ used: String, _ why: String) {
        effective.append(EffectiveEntry(option: option, asked: asked.map { "\($0)" }, used: used, why: why))
    }

    mutating func set(_ name: String, _ value: some CustomStringConvertible) { parameters.append((name, "\(value)")) }

    static func why(_ asked: Any?) -> String { asked == nil ? "default" : "as asked" }

    /// Reports a switch that was asked for and that the library does not have.
    mutating func lacks(_ option: String, _ asked: (some CustomStringConvertible)?, used: String = "off") {
        if let asked { report(option, asked, used, "\(encoderName) has none through libavcodec") }
    }
}
