import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Decodes the driver's streams with foreign decoders and compares them with the surfaces.
@Suite struct BackendStreamTests {
    /// Returns the samples of a surface, through vaGetImage into an I420 image.
    private func pixels(_ client: Client, _ surface: VASurfaceID, _ width: Int, _ height: Int) throws -> [UInt8] {
        let (status, image) = client.createImage(VA_FOURCC_I420, width, height)
        #expect(status == VA_STATUS_SUCCESS)
        #expect(
            client.table.vaGetImage(
                client.context, surface, 0, 0, UInt32(width), UInt32(height), image.image_id) == VA_STATUS_SUCCESS)
        let base = try #require(client.map(image.buf).1?.assumingMemoryBound(to: UInt8.self))
        var out: [UInt8] = []
        let planes = [
            (image.offsets.0, image.pitches.0, width, height),
            (image.offsets.1, image.pitches.1, width / 2, height / 2),
            (image.offsets.2, image.pitches.2, width / 2, height / 2),
        ]
        for (offset, pitch, columns, rows) in planes {
            for y in 0..<rows {
                out += UnsafeBufferPointer(start: base + Int(offset) + y * Int(pitch), count: columns)
            }
        }
        #expect(client.unmap(image.buf) == VA_STATUS_SUCCESS)
        #expect(client.table.vaDestroyImage(client.context, image.image_id) == VA_STATUS_SUCCESS)
        return out
    }

    private func check(_ stream: StreamClient, _ bytes: [UInt8], _ shown: [[UInt8]]) {
        for decoder in ForeignDecoder.all(for: .h264) {
            let video = decoder.decode(bytes)
            #expect(video.messages == [])
            #expect(video.frames.map(\.bytes) == shown, "\(decoder) at \(stream.width)x\(stream.height)")
        }
    }

    @Test(arguments: [(16, 16), (64, 48), (66, 50), (130, 18), (34, 98)], [false, true])
    func surfacesMatchForeignDecoders(size: (Int, Int), cabac: Bool) throws {
        let stream = StreamClient(width: size.0, height: size.1, profile: cabac ? VAProfileH264High : VAProfileH264Main)
        var bytes: [UInt8] = []
        var shown: [[UInt8]] = []
        for index in 0..<5 {
            let slices = 1 + index % stream.rows
            bytes += try #require(stream.encode(stream.buffers(slices: slices, cabac: cabac)))
            shown.append(try pixels(stream.client, stream.reconstructions[index % 2], size.0, size.1))
        }
        check(stream, bytes, shown)
        #expect(Set(shown).count == 5, "the pictures move")
    }

    @Test func qualityLevelsDifferAndOverflowIsReported() throws {
        var sizes: [Int] = []
        for level: UInt32 in [1, 4, 7] {
            let stream = StreamClient(width: 128, height: 96)
            var buffers = stream.buffers()
            var misc: [UInt8] = []
            for word in [VAEncMiscParameterTypeQualityLevel.rawValue, level, 0, 0, 0, 0] {
                withUnsafeBytes(of: word) { misc += $0 }
            }
            buffers.misc = [misc]
            var bytes = try #require(stream.encode(buffers))
            for _ in 0..<4 { bytes += try #require(stream.encode()) }
            sizes.append(bytes.count)
            #expect(ForeignDecoder.libavcodec.decode(bytes).frames.count == 5)
        }
        #expect(Set(sizes).count > 1, "levels differ")

        let stream = StreamClient()
        var buffers = stream.buffers()
        var misc: [UInt8] = []
        for word in [VAEncMiscParameterTypeMaxFrameSize.rawValue, 0, 100, 0, 0, 0, 0] {
            withUnsafeBytes(of: word) { misc += $0 }
        }
        buffers.misc = [misc]
        stream.paint()
        #expect(stream.send(buffers) == VA_STATUS_SUCCESS)
        let coded = try #require(stream.client.coded(stream.coded))
        #expect(coded.status & UInt32(VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW) != 0)
    }

    @Test func statusHasTheAverageQP() throws {
        let stream = StreamClient()
        var buffers = stream.buffers(slices: 3)
        buffers.slices[0].slice_qp_delta = 3
        stream.paint()
        #expect(stream.send(buffers) == VA_STATUS_SUCCESS)
        let coded = try #require(stream.client.coded(stream.coded))
        #expect(coded.status == 27 && coded.segments == 1)
    }

    @Test func writesStayWithinTheCodedBuffer() throws {
        let whole = try #require(StreamClient().encode())
        for size in [1, 8, 40, whole.count - 1, whole.count] {
            let stream = StreamClient(codedBytes: size)
            stream.paint()
            #expect(stream.send(stream.buffers()) == VA_STATUS_SUCCESS)
            let coded = try #require(stream.client.coded(stream.coded))
            let overflow = UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK | VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW)
            #expect(coded.status & overflow == (size < whole.count ? overflow : 0))
            #expect(coded.bytes.count <= size && whole.starts(with: coded.bytes))
        }
    }

    @Test func lastPictureEndsSequenceAndStream() throws {
        let stream = StreamClient()
        var buffers = stream.buffers()
        buffers.picture!.last_picture = 3
        let bytes = try #require(stream.encode(buffers))
        #expect(bytes.suffix(8) == [0, 0, 1, 10, 0, 0, 1, 11])
    }

    @Test func parameterSetsRepeatAtIDRPicturesOnly() throws {
        let stream = StreamClient()
        func types(_ bytes: [UInt8]) -> [UInt8] {
            (3..<bytes.count).filter { bytes[$0 - 3..<$0].elementsEqual([0, 0, 1]) }.map { bytes[$0] & 31 }
        }
        #expect(types(try #require(stream.encode())) == [7, 8, 5])
        #expect(types(try #require(stream.encode())) == [1])
        var buffers = stream.buffers()
        buffers.picture!.pic_init_qp = 30
        #expect(types(try #require(stream.encode(buffers))) == [8, 1], "a changed picture parameter set")
    }

    @Test func nullModeStreamIsTinyAndDecodes() throws {
        var environment = Environment(isStrict: true)
        environment.isNull = true
        for (cabac, slices) in [(false, 1), (true, 1), (false, 3), (true, 2)] {
            let stream = StreamClient(Client(environment), width: 178, height: 98)
            var bytes: [UInt8] = []
            for _ in 0..<6 { bytes += try #require(stream.encode(stream.buffers(slices: slices, cabac: cabac))) }
            #expect(bytes.count < 500)
            for decoder in ForeignDecoder.all(for: .h264) {
                let video = decoder.decode(bytes)
                #expect(video.messages == [] && video.frames.count == 6)
            }
        }
    }
}
