/// The kind of device that an encoder runs on.
public enum DeviceKind: String, Sendable, Hashable, Codable {
    /// A GPU, through VA-API.
    case vaapi
    /// The reference driver, through VA-API.
    case reference
    /// libx264 or libx265, without VA-API.
    case software
}

/// The properties of an encoder that are known after it has been prepared.
public struct EncoderDescription: Sendable, Hashable {
    /// The kind of device.
    public var kind: DeviceKind
    /// The path of the render node, or nil if there is none.
    public var path: String?
    /// The driver's vendor string, or the library and encoder (`libx264 164`).
    public var driver: String
    /// The codec.
    public var codec: VideoCodec
    /// The profile.
    public var profile: CodecProfile
    /// The level.
    public var level: CodecLevel
    /// The tier, or nil for H.264.
    public var tier: Tier?
    /// The visible size.
    public var size: VideoSize
    /// The frame rate in frames per second.
    public var frameRate: Rational
    /// The effective configuration.
    public var effective: [EffectiveEntry]
    /// The parameter sets without start codes, in the order of a stream.
    public var parameterSets: [[UInt8]]

    /// Creates a description from its values.
    public init(
        kind: DeviceKind, path: String?, driver: String, codec: VideoCodec, profile: CodecProfile, level: CodecLevel,
        tier: Tier?,
        size: VideoSize, frameRate: Rational, effective: [EffectiveEntry], parameterSets: [[UInt8]]
    ) {
        self.kind = kind
        self.path = path
        self.driver = driver
        self.codec = codec
        self.profile = profile
        self.level = level
        self.tier = tier
        self.size = size
        self.frameRate = frameRate
        self.effective = effective
        self.parameterSets = parameterSets
    }

    /// The level, with a tier above Main: `4.1`, `4.0 High`.
    package var levelName: String { tier == .high ? "\(level) High" : level.description }
}

/// The options of one frame, in addition to the session's configuration.
public struct FrameOptions: Sendable, Hashable {
    /// Whether the frame must become a key frame.
    public var forceKeyFrame = false
    /// Whether the frame predicts only from long-term references that the receiver has acknowledged: *ForceLTRRefresh*.
    public var refreshFromLongTerm = false
    /// The tokens of packets that the receiver has acknowledged: *AcknowledgedLTRTokens*.
    public var acknowledgedTokens: [Int] = []
    /// The regions of interest, which replace those of the configuration, or nil to keep them.
    public var regionsOfInterest: [RegionOfInterest]?
    /// The closed captions: cc_data of A/53 part 4, at most 31 triplets of a flag byte and two data bytes. Other data
    /// is rejected.
    public var captions: [UInt8] = []
    /// The messages of type user_data_unregistered, each a UUID of 16 bytes and a payload. Shorter messages are
    /// rejected.
    public var userData: [[UInt8]] = []
    /// The HDR10+ metadata (SMPTE ST 2094-40) as in user_data_registered_itu_t_t35, from itu_t_t35_country_code on;
    /// empty for none. Other data is rejected.
    public var dynamicHDR: [UInt8] = []

    /// Creates options for a frame.
    public init(forceKeyFrame: Bool = false) { self.forceKeyFrame = forceKeyFrame }
}

/// The interface of an encoding session, implemented by hardware and software encoders.
///
/// Calls may block (full pipeline, busy device). Make them from a dedicated thread, not from Swift's cooperative pool.
///
/// Packets are delivered in decoding order to the handler that was given at creation, on a thread of the encoder. A
/// failure is delivered once to the same handler and ends the session.
package protocol VideoEncoder: AnyObject, Sendable {
    /// The description of the encoder, valid after `prepare`.
    var encoderDescription: EncoderDescription { get throws }

    /// Allocates everything that encoding needs, so that the first frame is not delayed. Idempotent.
    func prepare() throws

    /// Returns a buffer to fill and pass to `encode`. Blocks while all buffers are in use, which provides
    /// back-pressure.
    ///
    /// A buffer that is released without being encoded returns to the pool.
    func makePixelBuffer() throws -> any PixelBuffer

    /// Encodes a frame. Presentation times must increase. Blocks while the pipeline is full.
    ///
    /// A buffer that does not come from `makePixelBuffer` is copied (and converted).
    func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws

    /// Blocks until the packets of all frames up to this presentation time have been delivered (nil: of all frames).
    func completeFrames(until time: MediaTime?) throws

    /// Changes settings for the frames that are encoded after the call, without an IDR picture or a drain.
    ///
    /// - Throws: A `VaencError` of category `.unavailable` if the encoder cannot make the change while it runs. Nothing
    ///   is changed then.
    func change(_ change: RunningChange) throws

    /// Checks changes that will be made one after the other, without making them.
    ///
    /// - Throws: What `change` would throw.
    func check(_ changes: [RunningChange]) throws

    /// Reports frames that a receiver has lost, by display index. Pictures that are encoded later do not predict from
    /// them or from pictures that depend on them. If no reference remains, the next frame is a key frame.
    func invalidateReferences(displayIndices: [Int]) throws

    /// Reinitializes the device before the next frame, which becomes a key frame. The packets of all accepted frames
    /// are delivered first.
    func refresh() throws

    /// The counters of the session, such as accepted, delivered and dropped frames.
    var statistics: EncoderStatistics { get }

    /// Ends the session and destroys the device's objects. Incomplete frames are dropped. Idempotent.
    func invalidate()

    /// The number of frames that `encode` has accepted and whose packets have not been delivered.
    var pendingFrameCount: Int { get }
}

/// The counters of a session. `taken == delivered + dropped + pending` always holds.
public struct EncoderStatistics: Sendable, Hashable, Codable {
    /// The number of accepted frames.
    public var taken = 0
    /// The number of frames whose packets were delivered.
    public var delivered = 0
    /// The number of accepted frames that were never delivered.
    public var dropped = 0
    /// The number of frames that are being encoded.
    public var pending = 0
    /// The number of frames that were encoded again after a fault.
    public var retried = 0
    /// The number of times that the device was reinitialized after a fault.
    public var rebuilds = 0
    /// The number of pictures that are too large for the decoder's buffer, a data-rate limit or the maximum frame size.
    /// Each picture counts once and remains in the stream, which then violates its HRD parameters.
    ///
    /// The rate is too low for the content at the maximum QP, or the driver's rate controller allowed the picture. The
    /// buffer counts only if the stream has HRD parameters or vaenc controls the rate. After an increase of the rate
    /// while running, only vaenc's rate controller counts, with the new rate.
    public var limitsBroken = 0
    /// The number of pictures that exceeded each limit. A picture that exceeds two limits is counted for both.
    public var broken = LimitViolations()
    /// The rates that were set in the driver if the driver controls the rate, in order of time. A long session keeps
    /// the first and the latest 255. After a swap, `DriverRate.picture` counts from the swap.
    public var driverRates: [DriverRate] = []

    /// Creates counters that are 0.
    public init() {}

    /// Adds a rate to `driverRates`.
    public mutating func add(_ rate: DriverRate) {
        if driverRates.count == 256 { driverRates.remove(at: 1) }
        driverRates.append(rate)
    }
}

/// The rates that were set in a driver that controls the rate, from one picture on. They are below the session's target
/// if vaenc inserts headers that the driver does not count.
public struct DriverRate: Sendable, Hashable, Codable {
    /// The number of pictures submitted before, including those that were encoded again.
    public var picture: Int
    /// The average rate in bits per second.
    public var bitrate: Int
    /// The maximum rate in bits per second (`bits_per_second` of VAEncMiscParameterRateControl). Equal to the average
    /// if the mode has no maximum.
    public var maxBitrate: Int

    /// Creates a rate from its values.
    public init(picture: Int, bitrate: Int, maxBitrate: Int) {
        self.picture = picture
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate
    }
}

extension VideoEncoder {
    /// Throws a `VaencError` of category `.unavailable`: by default, an encoder supports no changes while it runs.
    package func change(_ change: RunningChange) throws {
        throw VaencError(.unavailable, "this encoder cannot change while it runs", remedy: "create a new session")
    }

    /// Checks nothing by default.
    package func check(_ changes: [RunningChange]) throws {}

    /// Throws a `VaencError` of category `.unavailable`: by default, an encoder does not choose its references.
    package func invalidateReferences(displayIndices: [Int]) throws {
        throw VaencError(
            .unavailable, "this encoder does not support a choice of references", remedy: "force a key frame instead")
    }

    /// Completes all frames. This default does not reinitialize anything.
    package func refresh() throws { try completeFrames(until: nil) }

    /// Counters that are 0, the default for an encoder without statistics.
    package var statistics: EncoderStatistics { EncoderStatistics() }
}

/// A handler that receives packets, or the error that ends the session.
///
/// It must not make calls on the session that may wait for packets. Such a call of a `CompressionSession` throws.
public typealias PacketHandler = @Sendable (Result<EncodedPacket, any Error>) -> Void
