/// Where an encoder runs.
public enum DeviceKind: String, Sendable, Hashable, Codable {
    case vaapi, reference, software
}

/// What an encoder turned out to be, once prepared.
public struct EncoderDescription: Sendable, Hashable {
    public var kind: DeviceKind
    /// The render node, nil where there is none.
    public var path: String?
    /// The vendor string of the driver, or the library and encoder (`libx264 164`).
    public var driver: String
    public var codec: VideoCodec
    public var profile: CodecProfile
    /// As printed: `4.1`.
    public var level: String
    public var size: VideoSize
    public var frameRate: Rational
    public var effective: [EffectiveEntry]
    /// The parameter sets without start codes, in the order in which a stream carries them.
    public var parameterSets: [[UInt8]]

    public init(
        kind: DeviceKind, path: String?, driver: String, codec: VideoCodec, profile: CodecProfile, level: String,
        size: VideoSize, frameRate: Rational, effective: [EffectiveEntry], parameterSets: [[UInt8]]
    ) {
        self.kind = kind
        self.path = path
        self.driver = driver
        self.codec = codec
        self.profile = profile
        self.level = level
        self.size = size
        self.frameRate = frameRate
        self.effective = effective
        self.parameterSets = parameterSets
    }
}

/// What one frame asks for beyond the session's configuration.
public struct FrameOptions: Sendable, Hashable {
    public var forceKeyFrame = false
    public init(forceKeyFrame: Bool = false) { self.forceKeyFrame = forceKeyFrame }
}

/// The session that every encoder offers, hardware or software.
///
/// Calls may block (a full pipeline, a busy device): make them from a thread of your own, not from Swift's
/// cooperative pool. Packets come out in decoding order through the handler given at creation, on a thread
/// of the encoder's; a failure comes through it once and ends the session.
public protocol VideoEncoder: AnyObject, Sendable {
    /// Valid from the end of `prepare` on.
    var encoderDescription: EncoderDescription { get throws }

    /// Allocates everything that encoding needs, so that the first frame does not pay for it. Idempotent.
    func prepare() throws

    /// A buffer to fill and hand to `encode`; blocks while all are in use, which is the back-pressure.
    /// A buffer dropped without being encoded goes back to the pool.
    func makePixelBuffer() throws -> any PixelBuffer

    /// Takes a frame. Presentation times must increase. Blocks while the pipeline is full.
    /// A buffer not from `makePixelBuffer` is copied (and converted).
    func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws

    /// Returns when the packets of all frames up to that presentation time (nil: all) were delivered.
    func completeFrames(until time: MediaTime?) throws

    /// Ends the session and frees the device's objects. Frames not completed are dropped. Idempotent.
    func invalidate()

    /// Frames taken by `encode` whose packets have not been delivered.
    var pendingFrameCount: Int { get }
}

/// Where packets, or the error that ends the session, go.
public typealias PacketHandler = @Sendable (Result<EncodedPacket, any Error>) -> Void
