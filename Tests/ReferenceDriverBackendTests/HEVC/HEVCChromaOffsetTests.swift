import CVA
import ReferenceDriver
import TestOracles
import Testing

/// pps_cb_qp_offset and pps_cr_qp_offset also affect the deblocking of chroma (cQpPicOffset, H.265 8.7.2.5.5); the
/// slices' own offsets do not. Decoders compare their pictures with the driver's hashes.
@Suite struct HEVCChromaOffsetTests {
    @Test(arguments: [(12, -12, 0, 0), (-7, 5, 0, 0), (0, 0, 6, -9), (4, -4, 8, -8)], [false, true])
    func decodersMatchTheDriversHashes(offsets: (Int, Int, Int, Int), isWide: Bool) throws {
        var environment = Environment(isStrict: true)
        environment.writesHashes = true
        let client = HEVCClient(environment, width: 200, height: 136, isWide: isWide)
        var bytes: [UInt8] = []
        for plan in HEVCClient.lowDelay(3) {
            var buffers = client.buffers(plan)
            buffers.picture?.pic_init_qp = 38
            buffers.picture?.pps_cb_qp_offset = Int8(offsets.0)
            buffers.picture?.pps_cr_qp_offset = Int8(offsets.1)
            for index in buffers.slices.indices {
                buffers.slices[index].slice_qp_delta = 0
                buffers.slices[index].slice_cb_qp_offset = Int8(offsets.2)
                buffers.slices[index].slice_cr_qp_offset = Int8(offsets.3)
            }
            bytes += try #require(client.encode(buffers))
        }
        let video = ForeignDecoder.libavcodec.decode(bytes, codec: .hevc)
        #expect(video.messages == [] && video.frames.count == 3)
    }
}
