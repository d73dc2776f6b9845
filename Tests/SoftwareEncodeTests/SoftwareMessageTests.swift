import MediaFiles
import PacketDecoding
import NALUnits
import Testing
import TestOracles
import VideoBase

@testable import SoftwareEncode

@Suite struct SoftwareMessageTests {
    private static let uuid = Array(UInt8(0x30)..<0x40)
    /// User data with bytes that must be escaped.
    private static let userData = [uuid + [0, 0, 1, 0, 0, 0, 0, 3], uuid + [9], uuid]
    private static let captions = [[UInt8]](repeating: [0xFC, 0x94, 0x20], count: 31).flatMap(\.self)

    /// Returns the payloads of the messages 4 and 5 of a packet, without the library's own user data, and whether they
    /// precede its first slice.
    private static func messages(_ packet: EncodedPacket, _ codec: VideoCodec) -> (payloads: [[UInt8]], areFirst: Bool) {
        var payloads: [[UInt8]] = []
        var areFirst = true
        var hasSlice = false
        for unit in AnnexB.split(packet.bytes) {
            let type = codec == .h264 ? unit[0] & 31 : unit[0] >> 1 & 63
            if codec == .h264 ? (1...5).contains(type) : type < 32 { hasSlice = true }
            guard type == (codec == .h264 ? 6 : 39) else { continue }
            var rbsp: [UInt8] = []
            var zeros = 0
            for byte in unit.dropFirst(codec == .h264 ? 1 : 2) {
                if zeros >= 2, byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                rbsp.append(byte)
            }
            var rest = rbsp[...]
            func number() -> Int {
                var value = 0
                while let byte = rest.popFirst() {
                    value += Int(byte)
                    if byte != 255 { break }
                }
                return value
            }
            while rest.count > 2 {
                let kind = number(), size = number()
                var payload = Array(rest.prefix(size))
                // em_data has no meaning: libavcodec writes 0.
                if kind == 4, size > 9 { payload[9] = 0xFF }
                rest = rest.dropFirst(size)
                if kind == 4 || kind == 5 && payload.starts(with: uuid) {
                    payloads.append(payload)
                    areFirst = areFirst && !hasSlice
                }
            }
        }
        return (payloads, areFirst)
    }

    /// Captions and messages stay with their frames, unchanged, whether the library writes them or not.
    @Test(arguments: [VideoCodec.h264, .hevc], [0, 2]) func captionsAndUserDataStayWithTheirFrames(_ codec: VideoCodec, bFrames: Int) throws {
        let size = VideoSize(width: 176, height: 144)
        var configuration = EncoderConfiguration(size: size)
        configuration.codec = codec
        configuration.frameRate = SoftwareRun.rate
        configuration.coding.preset = 7
        configuration.structure.bFrames = bFrames
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        for index in 0..<8 {
            var options = FrameOptions()
            if index == 0 || index == 3 { options.userData = Self.userData }
            if index == 3 || index == 4 { options.captions = Self.captions }
            try encoder.encode(try SystemPixelBuffer(format: .i420, size: size), timing: SoftwareRun.time(index), options: options)
        }
        // Data of a wrong size is refused, and the frame is not accepted.
        var wrong = [FrameOptions](repeating: FrameOptions(), count: 6)
        wrong[0].captions = [0xFC]
        wrong[1].captions = [UInt8](repeating: 0xFC, count: 96)
        wrong[2].userData = [Self.uuid, Array(Self.uuid.dropLast())]
        // These exceed the encoders' buffers.
        wrong[4].userData = [[UInt8](repeating: 1, count: 262_145)]
        wrong[5].userData = [[UInt8]](repeating: Self.uuid, count: 16_385)
        wrong[3].regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 0, height: 8, qpDelta: 0)]
        for options in wrong {
            let error = #expect(throws: VaencError.self) {
                try encoder.encode(try SystemPixelBuffer(format: .i420, size: size), timing: SoftwareRun.time(8), options: options)
            }
            #expect(error?.category == .usage && error?.remedy != nil)
        }
        #expect(encoder.statistics.taken == 8)
        try encoder.completeFrames(until: nil)
        encoder.invalidate()
        #expect(collector.packets.count == 8)
        let a53: [UInt8] = [0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0x40 | 31, 0xFF] + Self.captions + [0xFF]
        for packet in collector.packets {
            var expected: Set<[UInt8]> = []
            if [0, 3].contains(packet.displayIndex) { expected.formUnion(Self.userData) }
            if [3, 4].contains(packet.displayIndex) { expected.insert(a53) }
            let (payloads, areFirst) = Self.messages(packet, codec)
            #expect(Set(payloads) == expected && payloads.count == expected.count, "\(packet.displayIndex): \(payloads)")
            #expect(areFirst)
            // The messages are in their original order.
            #expect(payloads.filter { $0.starts(with: Self.uuid) } == (packet.displayIndex % 3 == 0 && packet.displayIndex < 6 ? Self.userData : []))
        }
        let decoder = try PacketDecoder(codec: codec)
        var count = 0
        for packet in collector.packets { try unsafe decoder.decode(packet) { _, _ in count += 1 } }
        try unsafe decoder.finish { _, _ in count += 1 }
        #expect(count == 8)
    }

    /// The inserted unit, for a library that writes none, is compared byte by byte.
    @Test func messagesAreInserted() {
        let messages = PictureMessages(captions: [], userData: [Self.uuid + [0, 0, 1]])
        let body: [UInt8] = [5, 19] + Self.uuid + [0, 0, 3, 1, 0x80]
        let start = AnnexB.startCode
        let avc = start + [9, 0xF0] + start + [0x67, 1, 2] + start + [0x65, 4, 5] + start + [0x65, 6, 7]
        #expect(
            messages.inserted(into: avc, codec: .h264)
                == start + [9, 0xF0] + start + [0x67, 1, 2] + start + [6] + body + start + [0x65, 4, 5] + start + [0x65, 6, 7])
        let hevc = start + [0x40, 1, 2] + start + [0x02, 3, 5] + start + [0x02, 3, 7]
        #expect(
            messages.inserted(into: hevc, codec: .hevc)
                == start + [0x40, 1, 2] + start + [0x4E, 3] + body + start + [0x02, 3, 5] + start + [0x02, 3, 7])
        #expect(PictureMessages(captions: [], userData: []).inserted(into: avc, codec: .h264) == avc)
    }
}
