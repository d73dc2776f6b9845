public import VideoBase

/// What a source says about the pictures that it gives.
public struct SourceInfo: Sendable, Hashable {
    /// The size that `readFrame` delivers: after scaling, where that was asked.
    public var size: VideoSize
    /// Frames per second; the average where the rate varies.
    public var frameRate: Rational
    /// The input does not say its frame rate, and none was given.
    public var frameRateIsAssumed = false
    /// The input is an image, or several in a row, which do not say a frame rate.
    package var isImages = false
    /// Pictures come at other times than `frameRate` says.
    public var frameRateVaries = false
    /// Pictures come in real time, from a camera: nobody knows when the last will, and times are those of capture.
    public var isLive = false
    public var color: ColorDescription
    /// What the file, or else its first picture, says of the display that it was mastered on and of its brightness.
    public var masteringDisplay: MasteringDisplay?
    public var contentLight: ContentLight?
    /// Width to height of one sample; nil where not known (decoders take it as 1:1).
    public var sampleAspectRatio: Rational?
    /// Frames that `readFrame` will give; nil where that is not known beforehand. From a container it is the file's claim.
    public var frameCount: Int?
    /// Length in seconds of what `readFrame` will give; nil where not known.
    public var durationSeconds: Double?
    /// The layout of the pictures before conversion; nil where it has no name here (or the source makes them).
    public var nativeFormat: PixelFormat?
    /// What a person calls the layout, where `nativeFormat` has no name for it: `yuv422p10le`.
    public var nativeFormatName: String?
    /// Bits of a sample before conversion, of the source's luma.
    public var bitDepth: Int
    /// The size before scaling.
    public var nativeSize: VideoSize
    /// What of the input does not reach the pictures: interlacing.
    public var changes: [EffectiveEntry] = []
    /// What was decided where the input leaves a choice, one line each.
    public var notices: [String] = []
    /// How players are to turn or mirror the pictures, which come as they are stored: as `SinkOptions` has it.
    public var displayMatrix: [Int32] = []
    /// There is sound beside the pictures, read or not.
    public var hasSound = false
    /// What the file says of itself; the chapters' times are those of the pictures.
    public var metadata = MediaMetadata()
    /// A time code that does not go for the pictures as they are read.
    var leftOutTimeCode: EffectiveEntry?
    /// The streams of the file that are neither the pictures nor sound that is read.
    public var unreadStreams: [UnreadStream] = []
    /// For people: `Y4M, i420`, `mp4, h264`, `test pattern`.
    public var kind: String

    public init(
        size: VideoSize, frameRate: Rational, color: ColorDescription = .unspecified,
        sampleAspectRatio: Rational? = nil, frameCount: Int? = nil, durationSeconds: Double? = nil,
        nativeFormat: PixelFormat? = nil, nativeSize: VideoSize? = nil, kind: String
    ) {
        self.size = size
        self.frameRate = frameRate
        self.color = color
        self.sampleAspectRatio = sampleAspectRatio
        self.frameCount = frameCount
        self.durationSeconds = durationSeconds
        self.nativeFormat = nativeFormat
        bitDepth = nativeFormat?.bitDepth ?? 8
        self.nativeSize = nativeSize ?? size
        self.kind = kind
    }
}

extension SourceInfo {
    /// What the input is, for the message that it does not say its frame rate.
    package var kindWithoutRate: String { isImages ? "images" : "raw frames" }

    /// Players are to turn the pictures by 90° or 270°.
    public var isTurnedOnItsSide: Bool { Self.turnsSides(displayMatrix) }

    static func turnsSides(_ matrix: [Int32]) -> Bool {
        func isNone(_ value: Int32) -> Bool { value.magnitude < 1 << 8 }
        return matrix.count == 9 && isNone(matrix[0]) && isNone(matrix[4]) && !isNone(matrix[1]) && !isNone(matrix[3])
    }
}

/// Pictures in presentation order, one at a time.
///
/// One thread reads; `cancel` may be called from any other. Reading blocks on the file or pipe.
public protocol FrameSource: AnyObject, Sendable {
    var info: SourceInfo { get }

    /// Writes the next picture into `planes`, converted to their format, and returns its time; nil at the end.
    /// `planes.size` must be `info.size`. Only the visible part is written.
    /// Throws a `DescribedError`: `usage` for planes of another size, and no picture is lost then; `badInput` where the data ends or breaks inside a picture, after all whole pictures
    /// were given; `interrupted` after `cancel`.
    func readFrame(into planes: PixelPlanes) throws -> FrameTiming?

    /// HDR10+ metadata of the picture that `readFrame` gave last, as `FrameOptions.dynamicHDR` has it; empty for none.
    var dynamicHDR: [UInt8] { get }

    /// Pictures that could not be decoded since the input, or what is read of it, begins between key frames; as far as it
    /// is known yet.
    var picturesLeftOut: Int { get }

    /// Pictures of a camera that did not come to be read: late, damaged, or left out by its driver.
    var picturesLost: Int { get }

    /// What of the pictures read so far was changed, and not foreseen in `info`: their size.
    var lateChanges: [EffectiveEntry] { get }

    /// The sound beside the pictures, where `SourceOptions.readsSound` asked for it and there is some; of several streams the
    /// best.
    var sound: SourceSound? { get }

    /// The packets of sound that lie between the pictures read so far, each given once. Those of other streams are left out.
    func takeSound() -> [TrackPacket]

    /// Reads on, no picture any more, until the sound reaches a time (of the pictures; nil: the end), and gives its packets.
    func readSound(until end: MediaTime?) throws -> [TrackPacket]

    /// Every stream of sound, in the file's order; `sound` is one of them.
    var sounds: [SourceSound] { get }

    /// The packets of each of `sounds` that lie between the pictures read so far, each given once.
    func takeSounds() -> [[TrackPacket]]

    /// The same as `readSound`, of each of `sounds`.
    func readSounds(until end: MediaTime?) throws -> [[TrackPacket]]

    /// Makes a running or later `readFrame` throw `interrupted` soon.
    func cancel()

    /// Frees the file and decoders. Idempotent; reading afterwards gives nil.
    func close()
}

extension FrameSource {
    public var dynamicHDR: [UInt8] { [] }
    public var picturesLeftOut: Int { 0 }
    public var picturesLost: Int { 0 }
    public var lateChanges: [EffectiveEntry] { [] }
    public var sound: SourceSound? { nil }
    public func takeSound() -> [TrackPacket] { [] }
    public func readSound(until end: MediaTime?) throws -> [TrackPacket] { [] }
    public var sounds: [SourceSound] { sound.map { [$0] } ?? [] }
    public func takeSounds() -> [[TrackPacket]] { sound == nil ? [] : [takeSound()] }
    public func readSounds(until end: MediaTime?) throws -> [[TrackPacket]] { sound == nil ? [] : [try readSound(until: end)] }
}

/// The sound of a source, as its file holds it.
public struct SourceSound: Sendable {
    public let track: MediaTrack
    /// The time of the track's clock that is zero of the pictures'.
    public let origin: MediaTime
    /// What is heard before the origin is not wanted. Otherwise nothing is heard before, but an encoder's delay may be stored.
    public let cutsStart: Bool
    /// The index of the stream in its file; nil of other sources.
    public let stream: Int?

    public init(track: MediaTrack, origin: MediaTime, cutsStart: Bool, stream: Int? = nil) {
        (self.track, self.origin, self.cutsStart, self.stream) = (track, origin, cutsStart, stream)
    }

    /// Whether sound that begins at a time is cut at the origin: what an encoder puts before the first sample is shorter.
    static func isCut(before origin: MediaTime, at time: MediaTime) -> Bool { (origin - time).seconds > 0.1 }
}

/// How an input is to be read.
public struct SourceOptions: Sendable, Hashable {
    /// Size of raw pictures, which carry none.
    public var inputSize: VideoSize?
    /// Layout of raw pictures; with `inputSize` alone it is I420.
    public var inputFormat: PixelFormat?
    /// Replaces the input's frame rate: picture n is then shown at n / rate.
    public var frameRate: Rational?
    /// Seconds of the input to skip, from where the first of its pictures and sound begins.
    public var start: Double?
    /// Seconds to read, from `start`.
    public var duration: Double?
    /// Pictures to read at most.
    public var frameLimit: Int?
    /// Size to deliver; nil: the input's own.
    public var outputSize: VideoSize?
    /// `outputSize` is the size in which players show the pictures: where they are to turn them on their side, pictures are
    /// delivered with its sides exchanged.
    public var outputSizeIsAsShown = false
    public var fit = FrameFit.letterbox
    /// What RGB becomes: of this range and matrix; where they are not said limited, and BT.709 from 720 rows on, BT.601 below.
    /// `SourceInfo.color` says what it has become.
    public var colorOfRGB = ColorDescription.unspecified
    /// Keeps the packets of the streams of sound: take them after each picture.
    public var readsSound = false

    public init() {}
}

extension Rational {
    /// The number of the first picture at or after `seconds` of this frame rate. A hair before counts as at: 0.28 s is
    /// picture 7 of 25 frames/s, whatever the product of the two rounds to.
    func firstFrame(from seconds: Double) -> Int { max(0, Int(clamping: (seconds * value - 1e-6).rounded(.up))) }
}
