public import VideoBase

/// Decodes a stream in the process through libavcodec: for comparing what was encoded with its source.
/// One thread at a time.
public final class PacketDecoder {
    /// Receives a decoded picture (I420, or what the stream has) and its presentation time; the planes are valid during the call.
    public typealias FrameHandler = (PixelPlanes, MediaTime) throws -> Void

    /// - Throws: `unavailable` without libavcodec.
    public init(codec: VideoCodec) throws {
        throw VaencError(.unavailable, "decoding is not built yet")
    }

    /// Feeds one access unit; `onFrame` runs for each picture that becomes ready, in presentation order.
    /// - Throws: `badInput` with libavcodec's message for a broken stream; what `onFrame` throws.
    public func decode(_ packet: EncodedPacket, onFrame: FrameHandler) throws {}

    /// Gives the pictures still held back.
    public func finish(onFrame: FrameHandler) throws {}
}
