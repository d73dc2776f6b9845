import Testing
import VAAPI
import Vaenc
import VideoBase

/// Completing the accepted frames, and continuing.
extension SessionEndTests {
    @Test func flushCompletesAfterAllPackets() async throws {
        let packets = PacketList()
        var configuration = Pictures.configuration()
        configuration.pipeline.asyncDepth = 4
        let session = try CompressionSession(configuration: configuration, device: .reference) { packets.add($0) }
        try Pictures.encode(0..<3, on: session)
        let delivered: Int = try await withCheckedThrowingContinuation { continuation in
            session.flush { result in
                continuation.resume(with: result.flatMap { Result { try packets.values().count } })
            }
        }
        #expect(delivered == 3)
        try Pictures.encode(3..<5, on: session)
        try await session.flush()
        #expect(try packets.values().count == 5)
        session.invalidate()
        let error: any Error = await withCheckedContinuation { continuation in
            session.flush { if case .failure(let error) = $0 { continuation.resume(returning: error) } }
        }
        #expect((error as? any DescribedError)?.category == .usage)
    }

    /// A cancelled wait for completion only stops waiting.
    @Test func cancelledCompletionStillCompletes() async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: .reference)
        try Pictures.encode(0..<4, on: session)
        let completion = Task { try await session.completeFrames() }
        completion.cancel()
        _ = await completion.result
        try await session.completeFrames()
        #expect(session.statistics.delivered == 4)
        session.invalidate()
    }

    @Test(arguments: VideoCodec.allCases) func refreshStartsWithAKeyFrame(_ codec: VideoCodec) async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(codec: codec), device: .reference)
        try Pictures.encode(0..<3, on: session)
        try await session.refresh()
        #expect(session.unreadPacketCount == 3)
        try Pictures.encode(3..<5, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(5, of: session)
        #expect(packets.map(\.isKey) == [true, false, false, true, false])
        #expect(packets.map(\.changesFormat) == [false, false, false, false, false])
        _ = Pictures.decode(packets)
    }
}
