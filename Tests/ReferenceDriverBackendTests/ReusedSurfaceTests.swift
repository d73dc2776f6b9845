import CVA
import Glibc
import ReferenceDriver
import Testing

/// Tests surfaces that are used for the next picture while the device still works on the one before.
@Suite struct ReusedSurfaceTests {
    private func isReady(_ surface: VASurfaceID, _ client: Client) -> Bool {
        var status = VASurfaceStatus(0)
        return client.table.vaQuerySurfaceStatus(client.context, surface, &status) == VA_STATUS_SUCCESS && status == VASurfaceReady
    }

    /// A damaged picture waits for the encoder; then the processor writes an intact picture over it.
    @Test func overwrittenDamageIsNotReported() {
        let stream = StreamClient.busy(width: 1280, height: 720)
        let (client, reused) = (stream.client, stream.sources[0])
        let decoder = DecodeClient(VAProfileH264High, on: client)
        let processor = VideoProcessingClient(client)
        let source = processor.surface(VA_FOURCC_NV12, 64, 64, samples: [UInt8](repeating: 90, count: 6144))
        #expect(decoder.send(reused, DecodeClient.parameters(reused), data: DecodeClient.cutOff) == VA_STATUS_SUCCESS)
        #expect(processor.process(source, into: reused) == VA_STATUS_SUCCESS)
        #expect(!isReady(reused, client), "the encoder was done before: nothing is shown by this")
        #expect(decoder.sync(reused) == VA_STATUS_SUCCESS)
        // If nothing overwrites the damaged picture, the damage is reported.
        let other = decoder.surfaces[0]
        #expect(decoder.send(other, DecodeClient.parameters(other), data: DecodeClient.cutOff) == VA_STATUS_SUCCESS)
        #expect(decoder.sync(other) == VA_STATUS_ERROR_DECODING_ERROR)
    }

    /// A small picture is decoded into a corner of a surface that an encoder still reconstructs: the rest is the whole
    /// reconstruction.
    @Test func reconstructionCompletesBeforeDecoding() throws {
        func rows(_ stream: StreamClient) throws -> [UInt8] {
            let (status, image) = stream.client.derive(stream.reconstructions[0])
            #expect(status == VA_STATUS_SUCCESS)
            let base = try #require(stream.client.map(image.buf).1?.assumingMemoryBound(to: UInt8.self))
            return (64..<720).flatMap { row in
                Array(UnsafeBufferPointer(start: base + Int(image.offsets.0) + row * Int(image.pitches.0), count: 1280))
            }
        }
        let stream = StreamClient.busy(width: 1280, height: 720)
        let target = stream.reconstructions[0]
        let decoder = DecodeClient(VAProfileH264High, on: stream.client)
        #expect(decoder.send(target, DecodeClient.parameters(target), data: DecodeClient.cutOff) == VA_STATUS_SUCCESS)
        #expect(decoder.sync(target) == VA_STATUS_ERROR_DECODING_ERROR)
        let expected = try rows(StreamClient.busy(width: 1280, height: 720))
        #expect(expected.contains { $0 != expected[0] })
        #expect(try (rows(stream) == expected) as Bool)
    }
}
