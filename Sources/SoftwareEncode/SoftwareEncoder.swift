public import VideoBase

/// libx264 or libx265 through libavcodec, behind the session protocol of every encoder.
public final class SoftwareEncoder: VideoEncoder {
    /// Why the software path cannot encode `codec` here (library or encoder missing); nil where it can.
    public static func unavailability(of codec: VideoCodec) -> VaencError? {
        VaencError(.unavailable, "software encoding is not built yet")
    }

    /// Opens nothing yet: `prepare` does.
    /// - Throws: `usage` for values out of range, `unavailable` without libavcodec or the encoder.
    public init(configuration: EncoderConfiguration, onPacket: @escaping PacketHandler) throws {
        throw VaencError(.unavailable, "software encoding is not built yet")
    }

    public var encoderDescription: EncoderDescription {
        get throws { throw VaencError(.internalFault, "the encoder is not prepared") }
    }

    public func prepare() throws {}
    public func makePixelBuffer() throws -> any PixelBuffer {
        throw VaencError(.unavailable, "software encoding is not built yet")
    }
    public func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {}
    public func completeFrames(until time: MediaTime?) throws {}
    public func invalidate() {}
    public var pendingFrameCount: Int { 0 }
}
