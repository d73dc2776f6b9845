import Vaenc

let session = try CompressionSession(configuration: EncoderConfiguration(size: VideoSize(width: 64, height: 64)))
let reader = Task { for try await packet in session.packets { print(packet.bytes.count) } }
for index in 0..<1000 {
    let buffer = try await session.makePixelBuffer()
    try await session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 30))
}
try await session.completeFrames()
session.invalidate()
try await reader.value
