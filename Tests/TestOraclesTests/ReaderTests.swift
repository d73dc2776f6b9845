import TestOracles
import Testing

@Suite struct ReaderTests {
    @Test func reconstructionIsSortedIntoOutputOrder() throws {
        let frames = (0..<5).compactMap {
            PlanarFrame(width: 2, height: 2, bytes: [UInt8](repeating: UInt8($0), count: 6))
        }
        let text = "0 IDR 0 26 100\n1 P 4 28 20\n2 B 2 30 5\n3 IDR 0 26 90\n4 P 2 28 10\n"
        let reconstruction = try Reconstruction(frames: frames, text: text)
        #expect(reconstruction.framesInOutputOrder.map { $0.bytes[0] } == [0, 2, 1, 3, 4])
        #expect(reconstruction.pictures.map(\.qp) == [26, 28, 30, 26, 28])
        #expect(reconstruction.pictures[1].bytes == 20)
        #expect(throws: Reconstruction.Malformed.self) { try Reconstruction(frames: frames, text: "0 IDR 0 26 100\n") }
        #expect(throws: Reconstruction.Malformed.self) { try Reconstruction(frames: [frames[0]], text: "0 IDR x\n") }
    }

    @Test func traceHeadersAreReadFromX264() throws {
        let source = try Fixture.carphone.frames(5, width: 96, height: 80)
        let stream = try ForeignEncoder.x264(source, options: "qp=31:keyint=3:bframes=0:cabac=0:slices=2:ref=2")
        try Files.withTemporaryFolder { folder in
            try Files.write(stream, to: folder + "/a.h264")
            let headers = try TraceHeaders(path: folder + "/a.h264")
            let sps = try #require(headers.units(named: "Sequence Parameter Set").first)
            #expect(sps["pic_width_in_mbs_minus1"] == 5 && sps["pic_height_in_map_units_minus1"] == 4)
            #expect(headers["entropy_coding_mode_flag"].allSatisfy { $0 == 0 })
            let slices = headers.units(named: "Slice Header")
            #expect(slices.count == 10)
            #expect(slices.map { $0["nal_unit_type"] } == [5, 5, 1, 1, 1, 1, 5, 5, 1, 1])
            #expect(slices.map { $0["frame_num"] } == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1])
        }
    }
}
