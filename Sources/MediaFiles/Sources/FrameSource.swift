public import VideoBase

/// The description of a source's pictures.
public struct SourceInfo: Sendable, Hashable {
    /// The size that `readFrame` delivers, after any scaling.
    public var size: VideoSize
    /// The number of frames per second; the average if the rate varies.
    public var frameRate: Rational
    /// Whether `frameRate` is an assumption, because neither the input nor the options state it.
    public var frameRateIsAssumed = false
    /// Whether the input is an image or a sequence of images, which have no frame rate.
    package var isImages = false
    /// Whether the times of pictures differ from `frameRate`.
    public var frameRateVaries = false
    /// Whether the pictures come from a camera in real time. The time of the last one is unknown, and times are capture
    /// times.
    public var isLive = false
    /// The color of the pictures that `readFrame` delivers.
    public var color: ColorDescription
    /// The mastering display metadata of the file, or else of its first picture; nil if there is none.
    public var masteringDisplay: MasteringDisplay?
    /// The content light level of the file, or else of its first picture; nil if there is none.
    public var contentLight: ContentLight?
    /// The width of one sample divided by its height; nil if unknown (decoders assume 1:1).
    public var sampleAspectRatio: Rational?
    /// The number of frames that `readFrame` will deliver; nil if unknown. For a container, the file states it.
    public var frameCount: Int?
    /// The duration of the frames that `readFrame` will deliver; nil if unknown.
    public var duration: Duration?
    /// The layout of the pictures before conversion; nil if `PixelFormat` does not have it, or if the source generates
    /// the pictures.
    public var nativeFormat: PixelFormat?
    /// libav's name of the layout if `nativeFormat` is nil, such as `yuv422p10le`.
    public var nativeFormatName: String?
    /// The bits per luma sample before conversion.
    public var bitDepth: Int
    /// The size before scaling.
    public var nativeSize: VideoSize
    /// The differences between the input and its pictures, such as deinterlacing or another speed.
    public var changes: [EffectiveEntry] = []
    /// The decisions that were made because the input leaves a choice, one line each.
    public var notices: [String] = []
    /// `SourceOptions.frameLimit`, with which the source was opened.
    package private(set) var frameLimit: Int?
    /// `SourceOptions.duration`, with which the source was opened.
    package private(set) var durationLimit: Duration?
    /// `SourceOptions.readsSound`, with which the source was opened.
    package private(set) var readsSound = false

    /// Returns the time at which the sound ends, for `readSound` and `SoundFeed.finish`; nil: with the input. If
    /// `SourceOptions.frameLimit` or `duration` ended the pictures, the sound ends there, too.
    ///
    /// - Parameters:
    ///   - pictures: The number of pictures that were read.
    ///   - end: The time at which the last of them ends.
    public func endOfSound(pictures: Int, end: MediaTime) -> MediaTime? {
        if pictures >= frameLimit ?? .max { return end }
        guard let seconds = durationLimit?.seconds else { return nil }
        let scale = 90_000.0
        // The pictures of a file may end before its sound.
        return isLive ? end : max(end, MediaTime(value: Int64(clamping: (seconds * scale).rounded()), timescale: Int32(scale)))
    }

    /// Records the options with which the source is opened.
    package mutating func note(_ options: SourceOptions) {
        (frameLimit, durationLimit, readsSound) = (options.frameLimit, options.duration, options.readsSound)
    }
    /// The matrix by which players rotate or mirror the pictures, which are delivered as stored; see
    /// `SinkOptions.displayMatrix`.
    public var displayMatrix: [Int32] = []
    /// Whether the input has sound, whether or not it is read.
    public var hasSound = false
    /// The file's metadata. The times of chapters are on the pictures' timeline.
    public var metadata = MediaMetadata()
    /// The removal of a time code that is wrong for the pictures as they are read; nil if there was none.
    var leftOutTimeCode: EffectiveEntry?
    /// The streams of the file other than the pictures and the sound that is read.
    public var unreadStreams: [UnreadStream] = []
    /// A description for messages, such as `Y4M, i420`, `mp4, h264` or `test pattern`.
    public var kind: String

    /// Creates a description. `bitDepth` is that of `nativeFormat`, or 8, and `nativeSize` is `size` by default.
    public init(
        size: VideoSize, frameRate: Rational, color: ColorDescription = .unspecified,
        sampleAspectRatio: Rational? = nil, frameCount: Int? = nil, duration: Duration? = nil,
        nativeFormat: PixelFormat? = nil, nativeSize: VideoSize? = nil, kind: String
    ) {
        self.size = size
        self.frameRate = frameRate
        self.color = color
        self.sampleAspectRatio = sampleAspectRatio
        self.frameCount = frameCount
        self.duration = duration
        self.nativeFormat = nativeFormat
        bitDepth = nativeFormat?.bitDepth ?? 8
        self.nativeSize = nativeSize ?? size
        self.kind = kind
    }
}

extension SourceInfo {
    /// The kind of the input for the message that it has no frame rate.
    package var kindWithoutRate: String { isImages ? "images" : "raw frames" }

    /// Whether players rotate the pictures by 90° or 270°.
    public var isTurnedOnItsSide: Bool { Self.turnsSides(displayMatrix) }

    static func turnsSides(_ matrix: [Int32]) -> Bool {
        func isNone(_ value: Int32) -> Bool { value.magnitude < 1 << 8 }
        return matrix.count == 9 && isNone(matrix[0]) && isNone(matrix[4]) && !isNone(matrix[1]) && !isNone(matrix[3])
    }
}

/// A source of pictures in presentation order, one at a time.
///
/// One thread reads; any other thread may call `cancel`. Reading blocks on the file or pipe.
public protocol FrameSource: AnyObject, Sendable {
    /// The description of the pictures.
    var info: SourceInfo { get }

    /// Writes the next picture into `planes`, converted to their format, and returns its time; nil at the end.
    /// `planes.size` must be `info.size`. Only the visible part is written.
    /// - Throws: `DescribedError`: `usage` for planes of another size, without losing a picture; `badInput` if the data
    ///   ends or is broken inside a picture, after all complete pictures were delivered; `interrupted` after `cancel`.
    func readFrame(into planes: PixelPlanes) throws -> FrameTiming?

    /// The HDR10+ metadata of the picture that `readFrame` delivered last, in the form of `FrameOptions.dynamicHDR`;
    /// empty if there is none.
    var dynamicHDR: [UInt8] { get }

    /// The number of pictures so far that could not be decoded, because the input, or the part of it that is read,
    /// begins between key frames.
    var picturesLeftOut: Int { get }

    /// The number of camera pictures that were not delivered: late, damaged, or dropped by its driver.
    var picturesLost: Int { get }

    /// The changes to the pictures read so far that are not in `info`, such as a change of size.
    var lateChanges: [EffectiveEntry] { get }

    /// Notices about the input that arose while it was read, such as missing packets; one line each.
    var lateNotices: [String] { get }

    /// The sound of the input, if `SourceOptions.readsSound` is set and there is sound; the best stream if there are
    /// several.
    var sound: SourceSound? { get }

    /// Returns the packets of `sound` between the pictures read so far, each once. The packets of other streams are
    /// discarded.
    func takeSound() -> [TrackPacket]

    /// Reads on without pictures until the sound reaches a time of the pictures (nil: the end), and returns the packets
    /// of `sound`. Blocks.
    func readSound(until end: MediaTime?) throws -> [TrackPacket]

    /// All sound streams that are read, in the file's order. `sound` is one of them.
    var sounds: [SourceSound] { get }

    /// Returns the packets of each of `sounds` between the pictures read so far, each once.
    func takeSounds() -> [[TrackPacket]]

    /// Reads on without pictures until the sound reaches a time of the pictures (nil: the end), and returns the packets
    /// of each of `sounds`. Blocks.
    func readSounds(until end: MediaTime?) throws -> [[TrackPacket]]

    /// Makes a running or later `readFrame` throw `interrupted` soon. Any thread may call this.
    func cancel()

    /// Frees the file and decoders. Idempotent. Later reads return nil.
    func close()
}

extension FrameSource {
    /// The default: no metadata.
    public var dynamicHDR: [UInt8] { [] }
    /// The default: 0.
    public var picturesLeftOut: Int { 0 }
    /// The default: 0.
    public var picturesLost: Int { 0 }
    /// The default: no changes.
    public var lateChanges: [EffectiveEntry] { [] }
    /// The default: no notices.
    public var lateNotices: [String] { [] }
    /// The default: no sound.
    public var sound: SourceSound? { nil }
    /// The default: no packets.
    public func takeSound() -> [TrackPacket] { [] }
    /// The default: no packets.
    public func readSound(until end: MediaTime?) throws -> [TrackPacket] { [] }
    /// The default: `sound`, if there is one.
    public var sounds: [SourceSound] { sound.map { [$0] } ?? [] }
    /// The default: the packets of `takeSound`.
    public func takeSounds() -> [[TrackPacket]] { sound == nil ? [] : [takeSound()] }
    /// The default: the packets of `readSound`.
    public func readSounds(until end: MediaTime?) throws -> [[TrackPacket]] { sound == nil ? [] : [try readSound(until: end)] }
}

/// A sound stream of a source, as it is in the file.
public struct SourceSound: Sendable {
    /// The track of the sound.
    public let track: MediaTrack
    /// The time of the track that corresponds to zero of the pictures.
    public let origin: MediaTime
    /// Whether sound before the origin must be dropped. If false, no sound is heard before the origin, but an encoder's
    /// delay may be stored.
    public let cutsStart: Bool
    /// The index of the stream in its file; nil for other sources.
    public let stream: Int?

    /// Creates the description of a sound stream.
    public init(track: MediaTrack, origin: MediaTime, cutsStart: Bool, stream: Int? = nil) {
        (self.track, self.origin, self.cutsStart, self.stream) = (track, origin, cutsStart, stream)
    }

    /// Whether sound that begins at `time` is cut at the origin. An encoder's delay before the first sample is shorter.
    static func isCut(before origin: MediaTime, at time: MediaTime) -> Bool { (origin - time).seconds > 0.1 }
}

/// The settings for reading an input.
public struct SourceOptions: Sendable, Hashable {
    /// The size of raw pictures, whose file does not state it.
    public var inputSize: VideoSize?
    /// The layout of raw pictures. If only `inputSize` is set, it follows from the name's extension, or is I420.
    public var inputFormat: PixelFormat?
    /// The frame rate that replaces the input's: picture n is shown at n / rate. nil keeps the input's times.
    public var frameRate: Rational?
    /// The part of the input to skip, from the start of its first pictures or sound: 0 or more, and less than 1e9
    /// seconds.
    public var start: Duration?
    /// The duration to read from `start`: more than 0, and less than 1e9 seconds; nil reads to the end.
    public var duration: Duration?
    /// The maximum number of pictures to read; nil is no limit.
    public var frameLimit: Int?
    /// The size to deliver; nil: the input's size.
    public var outputSize: VideoSize?
    /// Whether `outputSize` is the size in which players show the pictures. If players rotate the pictures by 90° or
    /// 270°, pictures are delivered with width and height exchanged.
    public var outputSizeIsAsShown = false
    /// The method of fitting pictures into `outputSize` if its aspect ratio differs.
    public var fit = FrameFit.letterbox
    /// The range and matrix to which RGB is converted. By default the range is limited, and the matrix is BT.709 from
    /// 720 rows on and BT.601 below. `SourceInfo.color` contains the result.
    public var colorOfRGB = ColorDescription.unspecified
    /// Whether to keep the packets of the sound streams. They must then be taken after each picture.
    public var readsSound = false

    /// Creates the default options.
    public init() {}
}

extension SourceOptions {
    /// - Throws: `usage` for a value that is out of range.
    package func validate() throws {
        try Validation.validate(start: start, duration: duration)
        if let rate = frameRate, !(1...Int(Int32.max)).contains(rate.numerator) || !(1...Int(Int32.max)).contains(rate.denominator) {
            throw VaencError(
                .usage, "the frame rate \(rate) is out of range",
                remedy: "use numbers up to \(Int32.max), for example 30000/1001")
        }
        if let limit = frameLimit, limit < 1 {
            throw VaencError(.usage, "`frameLimit` \(limit) is less than 1", remedy: "use 1 or more")
        }
        for size in [inputSize, outputSize] {
            if let size, !size.isWithinLimits {
                throw VaencError(
                    .usage, "the size \(size) is out of range",
                    remedy: "sizes are \(VideoSize.limitWords)")
            }
        }
    }
}

extension Rational {
    /// Returns the time of a number of pictures at this frame rate.
    func duration(of pictures: Int) -> Duration? { Duration(checkedSeconds: Double(pictures) / value) }

    /// Returns the index of the first picture at or after `seconds` at this frame rate. A tiny distance before counts
    /// as at: 0.28 s is picture 7 at 25 frames/s, however the product is rounded.
    func firstFrame(from seconds: Double) -> Int { max(0, Int(clamping: (seconds * value - 1e-6).rounded(.up))) }

    /// Returns the number of pictures that begin in the `duration` seconds after `start`. If a source is split into
    /// parts, each picture is in one part.
    func frameCount(from start: Double?, for duration: Double) -> Int {
        let first = firstFrame(from: start ?? 0)
        return max(firstFrame(from: (start ?? 0) + duration) - first, first == 0 ? 1 : 0)
    }
}
