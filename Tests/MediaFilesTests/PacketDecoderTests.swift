import NALUnits
import PacketDecoding
import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

@Suite struct PacketDecoderTests {
    private func packets(_ options: String) throws -> [EncodedPacket] {
        let stream = try ForeignEncoder.x264(Fixture.carphone.frames(10), options: options)
        var result: [EncodedPacket] = []
        var pending: [UInt8] = []
        for unit in AnnexB.split(stream) {
            AnnexB.append(unit, to: &pending)
            guard [1, 5].contains(unit[0] & 31) else { continue }
            let time = MediaTime(value: Int64(result.count), timescale: 25)
            result.append(
                EncodedPacket(
                    codec: .h264, bytes: pending, type: .p, presentation: time, decode: time, displayIndex: result.count,
                    codingIndex: result.count))
            pending = []
        }
        return result
    }

    private func decode(_ packets: [EncodedPacket]) throws -> [(bytes: [UInt8], time: MediaTime)] {
        let decoder = try PacketDecoder(codec: .h264)
        var result: [(bytes: [UInt8], time: MediaTime)] = []
        func take(_ planes: PixelPlanes, _ time: MediaTime) throws {
            let picture = unsafe PaddedPicture(planes.format, planes.size, padding: 0)
            try unsafe picture.with { unsafe try PixelConverter().convert(planes, to: $0) }
            result.append((picture.packed, time))
        }
        for packet in packets { unsafe try decoder.decode(packet, onFrame: take) }
        unsafe try decoder.finish(onFrame: take)
        return result
    }

    @Test func decodedPicturesMatchOpenH264() throws {
        let packets = try packets("bframes=0")
        let expected = ForeignDecoder.openh264.decode(packets.flatMap(\.bytes)).frames
        let found = try decode(packets)
        #expect(found.count == 10)
        let isSame = found.map(\.bytes) == expected.map(\.bytes)
        #expect(isSame)
        #expect(found.map(\.time) == packets.map(\.presentation))
    }

    @Test func brokenStreamsAreErrors() throws {
        var packets = try packets("bframes=0:qp=20")
        for index in packets[4].bytes.indices where index > 40 { packets[4].bytes[index] ^= 0x5A }
        #expect(failure { try decode(packets) }?.category == .badInput)
    }
}
