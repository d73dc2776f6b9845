import Vaenc

// Blocks the main thread, which the reader needs: the result is an error after a few seconds instead of a hang.
func encodeOnTheMainThread() throws {
    let session = try CompressionSession(
        configuration: EncoderConfiguration(size: VideoSize(width: 64, height: 64)), device: .software, packetCapacity: 4)
    Task { @MainActor in for try await packet in session.packets { print(packet.bytes.count) } }
    for index in 0..<200 {
        let buffer = try session.makePixelBuffer()
        try session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 30))
    }
    session.invalidate()
}

do { try encodeOnTheMainThread() } catch { print(error) }
