import Threads
public import VAAPI
public import VideoBase

/// Changes of the size, codec or device while the session runs.
extension CompressionSession {
    /// Changes properties that need a new stream: the size, codec, profile or device. Blocks until all frames accepted
    /// so far are delivered.
    ///
    /// The next frame is a key frame with new parameter sets. Its packet has `changesFormat` set and the next
    /// `formatIndex`. Times, display indices and coding indices continue. Buffers from earlier calls of
    /// `makePixelBuffer` have the old format: request new ones.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the new encoder.
    ///   - device: The device of the new encoder; nil keeps the current one.
    /// - Throws: The errors of creating the new encoder; the session then continues with the old encoder. The errors of
    ///   delivering the remaining frames. `usage` in the session's handler, and after `invalidate`.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func swap(to configuration: EncoderConfiguration, device: DeviceSelector? = nil) throws {
        try core.swap(to: configuration, device: device)
    }

    /// Changes the size, codec, profile or device as the blocking form does, and suspends the task in the meantime.
    public func swap(to configuration: EncoderConfiguration, device: DeviceSelector? = nil) async throws {
        try await caller.run { [core] _ in try core.swap(to: configuration, device: device) }
    }
}
