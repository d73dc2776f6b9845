public import VAAPI
public import VideoBase

/// Another size, codec or device in mid-stream.
extension CompressionSession {
    /// Changes what only a new stream can change: size, codec, profile, device. The frames taken come out first; the
    /// next one is a key frame with new parameter sets, and its packet has `changesFormat` and the next `formatIndex`.
    /// Times, display and coding indices go on. Buffers made before the call are of the old format: make new ones. Blocks.
    ///
    /// - Parameter device: nil for the present one.
    /// - Throws: what making the new encoder throws; the session then goes on as it was.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func swap(to configuration: EncoderConfiguration, device: DeviceSelector? = nil) throws {
        try core.swap(to: configuration, device: device)
    }

    public func swap(to configuration: EncoderConfiguration, device: DeviceSelector? = nil) async throws {
        try await caller.run { [core] _ in try core.swap(to: configuration, device: device) }
    }
}
