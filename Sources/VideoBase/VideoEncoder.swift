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
    /// Predict only from long-term references that the receiver acknowledged: *ForceLTRRefresh*.
    public var refreshFromLongTerm = false
    /// Tokens of packets that the receiver has: *AcknowledgedLTRTokens*.
    public var acknowledgedTokens: [Int] = []
    /// Replaces the configuration's where not nil.
    public var regionsOfInterest: [RegionOfInterest]?
    /// cc_data of A/53 part 4: up to 31 triplets of a flag byte and two bytes; anything else is refused.
    public var captions: [UInt8] = []
    /// Messages of user_data_unregistered: 16 bytes of UUID, then the payload; shorter ones are refused.
    public var userData: [[UInt8]] = []
    /// HDR10+ metadata (SMPTE ST 2094-40) as user_data_registered_itu_t_t35 holds it: from itu_t_t35_country_code on;
    /// anything else is refused. Empty for none.
    public var dynamicHDR: [UInt8] = []

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

    /// Applies to the frames encoded after the call, with no IDR picture and no drain.
    ///
    /// Throws `unavailable` for what the encoder cannot change while it runs; then nothing changed.
    func change(_ change: RunningChange) throws

    /// A receiver lost these frames (by display index): nothing coded afterwards predicts from them or from pictures
    /// that do. Where nothing else is left, the next frame is a key frame.
    func invalidateReferences(displayIndices: [Int]) throws

    /// Rebuilds the device's side before the next frame, which becomes a key frame. Frames taken come out before.
    func refresh() throws

    /// Frames taken, delivered, dropped, and what it took.
    var statistics: EncoderStatistics { get }

    /// Ends the session and frees the device's objects. Frames not completed are dropped. Idempotent.
    func invalidate()

    /// Frames taken by `encode` whose packets have not been delivered.
    var pendingFrameCount: Int { get }
}

/// Counts over a session's life. `taken == delivered + dropped + pending` at any moment.
public struct EncoderStatistics: Sendable, Hashable, Codable {
    public var taken = 0
    public var delivered = 0
    /// Frames that were taken and never came out.
    public var dropped = 0
    /// Frames that are on their way.
    public var pending = 0
    /// Frames encoded again after a fault.
    public var retried = 0
    /// Times that the device's side was rebuilt after a fault.
    public var rebuilds = 0
    /// Pictures that came out larger than the decoder's buffer, a data rate limit or the largest picture has room for,
    /// and stand, each counted once: the rate is too low for the content at the highest QP, or the driver's controller
    /// let them pass. The stream then does not keep its HRD parameters. Counted through VA-API, where the stream has HRD
    /// parameters or vaenc controls the rate; where the rate was raised while running, against the new one and by
    /// vaenc's controller alone.
    public var limitsBroken = 0
    /// Pictures that did not keep to what was asked, by limit: one that breaks two counts under both. Counted through
    /// VA-API.
    public var broken = LimitViolations()
    /// What the driver was told where it controls the rate, the latest last; of a long session the first and the
    /// latest 255.
    public var driverRates: [DriverRate] = []

    public init() {}

    public mutating func add(_ rate: DriverRate) {
        if driverRates.count == 256 { driverRates.remove(at: 1) }
        driverRates.append(rate)
    }
}

/// What a driver that controls the rate was told, for the pictures from one on. It is less than what the session aims
/// at where vaenc puts in headers that the driver does not count.
public struct DriverRate: Sendable, Hashable, Codable {
    /// Pictures submitted before, those encoded again included.
    public var picture: Int
    /// Average, bits per second.
    public var bitrate: Int
    /// Bits per second (`bits_per_second` of VAEncMiscParameterRateControl); the average where the mode has no other.
    public var maxBitrate: Int

    public init(picture: Int, bitrate: Int, maxBitrate: Int) {
        self.picture = picture
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate
    }
}

extension VideoEncoder {
    public func change(_ change: RunningChange) throws {
        throw VaencError(.unavailable, "this encoder cannot change while it runs", remedy: "make a new session")
    }

    public func invalidateReferences(displayIndices: [Int]) throws {
        throw VaencError(
            .unavailable, "this encoder does not choose its references", remedy: "force a key frame instead")
    }

    public func refresh() throws { try completeFrames(until: nil) }

    public var statistics: EncoderStatistics { EncoderStatistics() }
}

/// Where packets, or the error that ends the session, go. It must make no call on the session that may wait for packets: such a call of a
/// `CompressionSession` throws there.
public typealias PacketHandler = @Sendable (Result<EncodedPacket, any Error>) -> Void
