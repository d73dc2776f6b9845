import ExtremeValues
import BitstreamInspection
import H264Syntax
import MediaFiles
import NALUnits
import Synchronization
import Testing
import TestOracles
import VideoBase

@testable import SoftwareEncode

/// Collects packets and errors in the order of delivery.
final class Collector: Sendable {
    private let state = Mutex<(packets: [EncodedPacket], errors: [String])>(([], []))
    var packets: [EncodedPacket] { state.withLock { $0.packets } }
    var errors: [String] { state.withLock { $0.errors } }

    func take(_ result: Result<EncodedPacket, any Error>) {
        state.withLock { state in
            switch result {
            case .success(let packet): state.packets.append(packet)
            case .failure(let error): state.errors.append("\(error)")
            }
        }
    }
}

@Suite struct SoftwareEncoderTests {
    private static let rate = Rational(25)

    private static func time(_ index: Int) -> FrameTiming {
        FrameTiming(
            presentation: MediaTime(value: Int64(index), timescale: 25), duration: MediaTime(value: 1, timescale: 25))
    }

    /// Encodes frames `range` of the test pattern.
    static func feed(_ encoder: SoftwareEncoder, _ range: Range<Int>, size: VideoSize) throws {
        if range.isEmpty { return }
        var options = SourceOptions()
        options.start = Double(range.lowerBound) / 25
        let source = try MediaInput.open(
            "testsrc:\(size.width)x\(size.height)@25:\(range.upperBound)", options: options)
        for index in range {
            let buffer = try encoder.makePixelBuffer()
            _ = try unsafe buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
            try encoder.encode(buffer, timing: time(index), options: FrameOptions())
        }
    }

    static func encode(
        _ count: Int, size: VideoSize = VideoSize(width: 176, height: 144),
        _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) throws -> (packets: [EncodedPacket], description: EncoderDescription) {
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = rate
        configuration.coding.preset = 6
        change(&configuration)
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try encoder.prepare()
        try feed(encoder, 0..<count, size: size)
        try encoder.completeFrames(until: nil)
        #expect(encoder.pendingFrameCount == 0)
        let description = try encoder.encoderDescription
        encoder.invalidate()
        #expect(collector.errors == [])
        return (collector.packets, description)
    }

    /// The library reads a picture after `encode` has returned: its buffer can neither be drawn into nor encoded again.
    @Test(arguments: VideoCodec.allCases) func encodedBufferIsRefused(_ codec: VideoCodec) throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        configuration.codec = codec
        let encoder = try SoftwareEncoder(configuration: configuration) { _ in }
        defer { encoder.invalidate() }
        try encoder.prepare()
        let buffer = try encoder.makePixelBuffer()
        try encoder.encode(buffer, timing: Self.time(0), options: FrameOptions())
        let calls: [() throws -> Void] = [
            { try encoder.encode(buffer, timing: Self.time(1), options: FrameOptions()) },
            { try unsafe buffer.withUnsafePlanes { _ in } },
        ]
        for call in calls {
            let error = #expect(throws: VaencError.self) { try call() }
            #expect(error?.category == .usage && error?.message == "the pixel buffer was encoded already")
        }
        try encoder.encode(encoder.makePixelBuffer(), timing: Self.time(1), options: FrameOptions())
        try encoder.completeFrames(until: nil)
        #expect(encoder.pendingFrameCount == 0)
    }

    /// Returns the mean luma PSNR of the decoded packets against the test pattern, and the times of the pictures.
    private static func judge(
        _ packets: [EncodedPacket], codec: VideoCodec, size: VideoSize, first: Int = 0
    ) throws -> (psnr: Double, times: [MediaTime]) {
        let decoder = try PacketDecoder(codec: codec)
        var options = SourceOptions()
        options.start = Double(first) / 25
        let source = try MediaInput.open("testsrc:\(size.width)x\(size.height)@25:1000", options: options)
        let original = try SystemPixelBuffer(format: .i420, size: size)
        var error = PictureError()
        var times: [MediaTime] = []
        func take(_ planes: PixelPlanes, _ time: MediaTime) throws {
            try unsafe original.withUnsafePlanes { planes2 in
                _ = unsafe try source.readFrame(into: planes2)
                var shown = unsafe planes
                unsafe shown.size = size
                error += unsafe try PictureError(planes2, shown)
            }
            times.append(time)
        }
        for packet in packets { unsafe try decoder.decode(packet, onFrame: take) }
        unsafe try decoder.finish(onFrame: take)
        return (error.psnr(plane: 0), times)
    }

    /// A packet has the QP of its own picture. If the library chooses the QP, packets have none.
    @Test(arguments: VideoCodec.allCases, [0, 2]) func packetsHaveTheQPOfTheirPicture(_ codec: VideoCodec, _ bFrames: Int) throws {
        let settings: [(inout EncoderConfiguration) -> Void] = [
            { $0.rate.qp = 24 }, { ($0.rate.qp, $0.rate.qpI) = (24, 10) }, { ($0.rate.qp, $0.rate.qpI, $0.rate.qpB) = (30, 26, 40) }, { ($0.rate.qpI, $0.rate.qpB) = (20, 33) },
        ]
        for set in settings {
            let (packets, _) = try Self.encode(25) {
                ($0.codec, $0.structure.bFrames, $0.structure.gopFrames) = (codec, bFrames, 12)
                set(&$0)
            }
            let pictures = Streams.inspect(packets.flatMap(\.bytes), codec: codec == .h264 ? .h264 : .hevc).pictures
            #expect(packets.map(\.qp) == pictures.map(\.qp), "\(pictures.map(\.qp))")
            var requested = EncoderConfiguration(size: VideoSize(width: 16, height: 16))
            set(&requested)
            for packet in packets {
                switch packet.type {
                case .idr, .i: if let qp = requested.rate.qpI { #expect(packet.qp == qp) }
                case .p: if let qp = requested.rate.qp { #expect(packet.qp == qp) }
                // B pictures that others refer to are finer.
                case .b: if let qp = requested.rate.qpB, !packet.isReference { #expect(packet.qp == qp) }
                }
            }
        }
        let (packets, _) = try Self.encode(10) { ($0.codec, $0.structure.bFrames, $0.rate.quality) = (codec, bFrames, 30) }
        #expect(packets.allSatisfy { $0.qp == nil })
    }

    @Test(arguments: [VideoCodec.h264, .hevc])
    func decodedPicturesMatchTheInput(_ codec: VideoCodec) throws {
        let size = VideoSize(width: 176, height: 144)
        let (packets, description) = try Self.encode(30) {
            $0.codec = codec; $0.rate.qp = 24; $0.structure.gopFrames = 10
        }
        #expect(packets.count == 30)
        let (psnr, times) = try Self.judge(packets, codec: codec, size: size)
        #expect(psnr > 34, "\(psnr)")
        #expect(times == (0..<30).map { MediaTime(value: $0, timescale: 25) })
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0, 10, 20])
        #expect(packets.map(\.codingIndex) == Array(0..<30))
        // libx264 also writes start codes of three bytes, which become four.
        let stream = packets.flatMap(\.bytes)
        let codes = stream.indices.dropFirst().dropLast(2).filter { stream[$0] == 0 && stream[$0 + 1] == 0 && stream[$0 + 2] == 1 }
        #expect(codes.count > 30 && codes.allSatisfy { stream[$0 - 1] == 0 })
        #expect(packets.contains { $0.type == .b })
        // Every picture occurs once. Decoding times increase and precede presentation.
        #expect(packets.map(\.displayIndex).sorted() == Array(0..<30))
        for (packet, next) in zip(packets, packets.dropFirst()) {
            #expect(packet.decode < next.decode)
            #expect(packet.decode <= packet.presentation)
        }
        for packet in packets {
            #expect(packet.presentation == MediaTime(value: Int64(packet.displayIndex), timescale: 25))
            #expect(packet.latency > .zero)
            let sets = description.parameterSets.reduce(into: [UInt8]()) { $0 += [0, 0, 0, 1] + $1 }
            #expect(packet.bytes.starts(with: sets) == packet.isKey)
        }
        #expect(description.kind == .software && description.codec == codec)
        #expect(description.driver.hasPrefix(codec == .h264 ? "libx264 1" : "libx265 "))
        #expect(description.parameterSets.count == (codec == .h264 ? 2 : 3))
    }

    /// Every picture has the requested delimiter, the first one too.
    @Test(arguments: [VideoCodec.h264, .hevc]) func everyPictureHasItsDelimiter(_ codec: VideoCodec) throws {
        for gop in [1, 4] {
            let packets = try Self.encode(9) { ($0.codec, $0.structure.gopFrames, $0.headers.accessUnitDelimiters) = (codec, gop, true) }.packets
            let delimiter: [UInt8] = codec == .h264 ? [0, 0, 0, 1, 9] : [0, 0, 0, 1, 70, 1]
            #expect(packets.count == 9 && packets.allSatisfy { $0.bytes.starts(with: delimiter) }, "\(gop)")
        }
    }

    /// libx265 opens with either a level or a constant QP: the level is omitted, which is reported, and refused by
    /// `strict`.
    @Test func levelWithConstantQPIsReported() throws {
        let description = try Self.encode(5) { $0.codec = .hevc; $0.rate.qp = 30; $0.level = 41 }.description
        let entry = try #require(description.effective.first { $0.option == "level" })
        #expect(entry.differs && entry.asked == "4.1" && entry.used == description.level.description && entry.why.description.contains("constant QP"))
        #expect(throws: VaencError.self) { try Self.encode(5) { $0.codec = .hevc; $0.rate.qp = 30; $0.level = 41; $0.strict = true } }
        let rated = try Self.encode(5) { $0.codec = .hevc; $0.rate.bitrate = BitsPerSecond(200_000); $0.level = 41; $0.strict = true }
        #expect(rated.description.level.description == "4.1")
        #expect(try Self.encode(5) { $0.rate.qp = 30; $0.level = 41; $0.strict = true }.description.level.description == "4.1")
    }

    /// Key frames at times, open GOPs and intra refresh are checked by packet types and recovery points.
    @Test func packetsShowTheGOPStructure() throws {
        let times = try Self.encode(12) { $0.structure.forcedKeyTimes = [0.3, 0.2]; $0.structure.forcedKeyFrames = [2] }.packets
        #expect(times.filter(\.isKey).map(\.displayIndex) == [0, 2, 5, 8])
        for codec in [VideoCodec.h264, .hevc] {
            let open = try Self.encode(30) { $0.codec = codec; $0.structure.openGOP = true; $0.structure.gopFrames = 10; $0.structure.bFrames = 2 }.packets
            #expect(open.filter(\.isKey).map(\.displayIndex) == [0])
            let later = open.filter { $0.recoveryFrameCount == 0 && !$0.isKey }
            #expect(later.map(\.type) == [.i, .i], "\(codec) \(open.map(\.type))")
            // Parameter sets are at each random access point.
            #expect(later.allSatisfy { $0.bytes[4] & 31 == 7 || $0.bytes[4] >> 1 == 32 })
            #expect(open.contains { !$0.isReference } && open.contains { $0.type == .b })
        }
        for codec in VideoCodec.allCases {
            let refresh = try Self.encode(40) { $0.codec = codec; $0.structure.intraRefresh = true; $0.structure.gopFrames = 12 }.packets
            #expect(refresh.filter(\.isKey).map(\.displayIndex) == [0])
            let points = refresh.filter { $0.recoveryFrameCount ?? 0 > 0 }
            #expect(points.count >= 2 && points.allSatisfy { $0.type == .p }, "\(codec)")
            // A receiver that joins there has the parameter sets.
            let first = try #require(points.first.flatMap { point in refresh.firstIndex { $0.codingIndex == point.codingIndex } })
            let late = ForeignDecoder.libavcodec.decode(refresh[first...].flatMap(\.bytes), codec: codec == .hevc ? .hevc : .h264)
            #expect(late.frames.count > 10, "\(codec): \(late.frames.count)")
        }
    }

    /// The QP is lower in the region: the region is closer to the source, and the rest is not.
    @Test func regionOfInterestHasHigherQuality() throws {
        let size = VideoSize(width: 176, height: 144)
        func error(_ regions: [RegionOfInterest]) throws -> (inside: Double, outside: Double) {
            let packets = try Self.encode(6) { $0.rate.quality = 38; $0.structure.bFrames = 0; $0.coding.regionsOfInterest = regions }.packets
            let decoder = try PacketDecoder(codec: .h264)
            let source = try MediaInput.open("testsrc:176x144@25:6")
            let original = try SystemPixelBuffer(format: .i420, size: size)
            var sums = (0.0, 0.0)
            func take(_ planes: PixelPlanes, _ time: MediaTime) throws {
                try unsafe original.withUnsafePlanes { first in
                    _ = unsafe try source.readFrame(into: first)
                    for y in 0..<144 {
                        for x in 0..<176 {
                            let a = unsafe Double(first.base(0).load(fromByteOffset: y * first.pitch(0) + x, as: UInt8.self))
                            let b = unsafe Double(planes.base(0).load(fromByteOffset: y * planes.pitch(0) + x, as: UInt8.self))
                            if x < 80, y < 80 { sums.0 += (a - b) * (a - b) } else { sums.1 += (a - b) * (a - b) }
                        }
                    }
                }
            }
            for packet in packets { unsafe try decoder.decode(packet, onFrame: take) }
            unsafe try decoder.finish(onFrame: take)
            return (sums.0, sums.1)
        }
        let plain = try error([])
        let better = try error([RegionOfInterest(x: 0, y: 0, width: 80, height: 80, qpDelta: -12)])
        #expect(better.inside < plain.inside * 0.5)
        #expect(better.outside > plain.outside * 0.8)
    }

    /// Only some pictures have regions. Earlier, libx265 crashed because memory of a picture without regions was reused
    /// for one with them.
    @Test func regionsMayBeInSomePicturesOnly() throws {
        let size = VideoSize(width: 176, height: 144)
        var configuration = EncoderConfiguration(size: size)
        configuration.codec = .hevc
        configuration.frameRate = Self.rate
        configuration.coding.preset = 6
        configuration.rate.quality = 30
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        var options = FrameOptions()
        options.regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 64, height: 64, qpDelta: -6)]
        for index in 0..<120 {
            let isPlain = index < 60 || index % 2 == 0
            try encoder.encode(encoder.makePixelBuffer(), timing: Self.time(index), options: isPlain ? FrameOptions() : options)
        }
        try encoder.completeFrames(until: nil)
        encoder.invalidate()
        #expect(collector.packets.count == 120 && collector.errors == [])
    }

    /// The rate follows a change of the running encoder. A constant rate needs no key frame; libx264 cannot change the
    /// average of a variable rate in a running stream, so a key frame starts a new one.
    @Test(arguments: [RateControlMode.cbr, .vbr]) func rateChangesWhileRunning(_ mode: RateControlMode) throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 320, height: 240))
        configuration.frameRate = Self.rate
        configuration.coding.preset = 6
        configuration.structure.bFrames = 0
        configuration.rate.bitrate = BitsPerSecond(150_000)
        configuration.rate.rateControl = mode
        if mode == .vbr { configuration.rate.maxBitrate = BitsPerSecond(200_000) }
        configuration.rate.vbvSize = 50_000
        configuration.headers.hrdParameters = false
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try Self.feed(encoder, 0..<60, size: configuration.size)
        var change = RunningChange()
        change.bitrate = BitsPerSecond(600_000)
        try encoder.change(change)
        try Self.feed(encoder, 60..<120, size: configuration.size)
        try encoder.completeFrames(until: nil)
        let packets = collector.packets
        #expect(packets.filter(\.isKey).map(\.displayIndex) == (mode == .cbr ? [0] : [0, 60]))
        #expect(packets.map(\.displayIndex) == Array(0..<120))
        func rate(_ range: Range<Int>) -> Int { packets[range].reduce(0) { $0 + $1.bytes.count } * 8 * 25 / range.count }
        #expect(rate(85..<120) > rate(25..<60) * 2, "\(rate(25..<60)) then \(rate(85..<120))")
        // The additional bits are not only filler: the quality is better.
        let pictures = Streams.inspect(packets.flatMap(\.bytes)).frames
        func qp(_ range: Range<Int>) -> Int { pictures[range].reduce(0) { $0 + $1.qp } / range.count }
        #expect(qp(85..<120) < qp(25..<60) - 3, "\(qp(25..<60)) then \(qp(85..<120))")
        change.bitrate = nil
        change.qp = 3
        #expect(throws: VaencError.self) { try encoder.change(change) }
        // Invalidated references are answered with a key frame.
        try encoder.invalidateReferences(displayIndices: [110])
        try Self.feed(encoder, 120..<123, size: configuration.size)
        // A key frame answers all reports of frames before it. Frames that do not exist are ignored.
        for lost in [110, 119, 123, 500, -1] { try encoder.invalidateReferences(displayIndices: [lost]) }
        try Self.feed(encoder, 123..<126, size: configuration.size)
        try encoder.completeFrames(until: nil)
        #expect(collector.packets.last { $0.isKey }?.displayIndex == 120)
        let counts = encoder.statistics
        #expect(counts.taken == 126 && counts.delivered == 126 && counts.dropped == 0)
        encoder.invalidate()
    }

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
        configuration.frameRate = Self.rate
        configuration.coding.preset = 7
        configuration.structure.bFrames = bFrames
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        for index in 0..<8 {
            var options = FrameOptions()
            if index == 0 || index == 3 { options.userData = Self.userData }
            if index == 3 || index == 4 { options.captions = Self.captions }
            try encoder.encode(try SystemPixelBuffer(format: .i420, size: size), timing: Self.time(index), options: options)
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
                try encoder.encode(try SystemPixelBuffer(format: .i420, size: size), timing: Self.time(8), options: options)
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

    /// A change is refused for the same reasons as a configuration, and then has no effect. Existing limits continue.
    @Test func contradictingChangesAreRefused() throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 176, height: 144))
        configuration.frameRate = Self.rate
        configuration.rate.bitrate = BitsPerSecond(500_000)
        configuration.rate.maxBitrate = BitsPerSecond(900_000)
        configuration.rate.dataRateLimits = [DataRateLimit(bytes: 100_000, seconds: 1)]
        let settings = try EncoderSettings(configuration)
        func change(_ body: (inout RunningChange) -> Void) throws -> RateLimits {
            var change = RunningChange()
            body(&change)
            return try settings.changed(settings.limits, by: change)
        }
        let wrong: [(inout RunningChange) -> Void] = [
            { $0.maxBitrate = BitsPerSecond(400_000) }, { $0.bitrate = BitsPerSecond(810_000) },
            { $0.dataRateLimits = [DataRateLimit(bytes: 60_000, seconds: 1)] }, { $0.bitrate = BitsPerSecond(0) },
            { $0.dataRateLimits = [DataRateLimit(bytes: 0, seconds: 1)] }, { $0.bitrate = BitsPerSecond(-1) },
            { $0.qp = -1 }, { $0.qp = 52 }, { $0.minQP = -1 }, { $0.maxQP = 52 }, { $0.frameRate = Rational(0) },
            { $0.frameRate = Rational(1, 0) },
        ]
        for body in wrong {
            let error = #expect(throws: VaencError.self) { _ = try change(body) }
            #expect(error?.category == .usage && error?.remedy != nil, "\(error as Any)")
        }
        // Another encoder supports these changes, this one does not.
        for body in [{ $0.qp = 30 }, { $0.frameRate = Rational(30) }] as [(inout RunningChange) -> Void] {
            let error = #expect(throws: VaencError.self) { _ = try change(body) }
            #expect(error?.category == .unavailable, "\(error as Any)")
        }
        #expect(try change { $0.bitrate = BitsPerSecond(700_000) }.maxRate == 800)
        #expect(try change { $0.dataRateLimits = [DataRateLimit(bytes: 75_000, seconds: 1)] }.maxRate == 600)
    }

    /// libavcodec and OpenH264 decode the bare stream to the same pictures.
    @Test func foreignDecodersAgree() throws {
        let (packets, _) = try Self.encode(12) {
            $0.rate.qp = 30; $0.structure.bFrames = 0; $0.coding.slices = 3; $0.headers.accessUnitDelimiters = true
        }
        let stream = packets.flatMap(\.bytes)
        let starts = packets.map { Array($0.bytes.prefix(5)) }
        #expect(starts == Array(repeating: [0, 0, 0, 1, 9], count: 12))
        let a = ForeignDecoder.libavcodec.decode(stream), b = ForeignDecoder.openh264.decode(stream)
        #expect(a.messages == [] && a.frames.count == 12)
        let isSame = a.frames == b.frames
        #expect(isSame)
    }

    @Test func requestedProfileAndLevelAreUsed() throws {
        let baseline = try Self.encode(3) { $0.profile = .h264ConstrainedBaseline }
        #expect(baseline.description.profile == .h264ConstrainedBaseline)
        #expect(baseline.packets.allSatisfy { $0.type != .b })
        let main = try Self.encode(3) {
            $0.profile = .h264Main; $0.level = 31
        }
        #expect(main.description.profile == .h264Main && main.description.level.description == "3.1")
        let hevc = try Self.encode(3) {
            $0.codec = .hevc; $0.level = 41
        }
        #expect(hevc.description.profile == .hevcMain && hevc.description.level.description == "4.1")
        let deep = try Self.encode(3) {
            $0.codec = .hevc; $0.profile = .hevcMain10
        }
        #expect(deep.description.profile == .hevcMain10)
    }

    @Test func keyFramesAreForced() throws {
        let (packets, _) = try Self.encode(12) {
            $0.structure.forcedKeyFrames = [5, 7]; $0.structure.gopFrames = 100
        }
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0, 5, 7])
    }

    @Test(arguments: [(17, 33), (33, 18), (16, 16), (50, 50)])
    func oddSizesArePadded(_ width: Int, _ height: Int) throws {
        let size = VideoSize(width: width, height: height)
        for codec in [VideoCodec.h264, .hevc] {
            let (packets, description) = try Self.encode(6, size: size) {
                $0.rate.qp = 20; $0.codec = codec
            }
            #expect(description.size == size.aligned(to: 2))
            let (psnr, times) = try Self.judge(packets, codec: codec, size: size)
            #expect(psnr > 33 && times.count == 6, "\(codec) \(psnr)")
        }
    }

    /// After frames are completed, encoding continues without loss, with a key frame.
    @Test func encodingContinuesAfterCompletion() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = Self.rate
        configuration.rate.qp = 20
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try Self.feed(encoder, 0..<7, size: size)
        #expect(encoder.pendingFrameCount > 0)
        try encoder.completeFrames(until: MediaTime(value: 3, timescale: 25))
        #expect(collector.packets.count >= 4)
        try encoder.completeFrames(until: nil)
        #expect(collector.packets.count == 7)
        try encoder.completeFrames(until: nil)
        try Self.feed(encoder, 7..<12, size: size)
        try encoder.completeFrames(until: nil)
        let packets = collector.packets
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0, 7])
        #expect(packets.map(\.displayIndex).sorted() == Array(0..<12))
        for (packet, next) in zip(packets, packets.dropFirst()) { #expect(packet.decode < next.decode) }
        let (psnr, times) = try Self.judge(packets, codec: .h264, size: size)
        #expect(psnr > 33 && times.count == 12, "\(psnr)")
        encoder.invalidate()
        encoder.invalidate()
        #expect(throws: (any Error).self) { try encoder.makePixelBuffer() }
    }

    @Test func lowLatencyDeliversEachPacketAtOnce() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.pipeline.lowLatency = true
        configuration.frameRate = Self.rate
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        for index in 0..<5 {
            try Self.feed(encoder, index..<index + 1, size: size)
            #expect(collector.packets.count == index + 1)
            #expect(encoder.pendingFrameCount == 0)
        }
    }

    /// A caller's own buffer of another format is converted.
    @Test func foreignBuffersAreConverted() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = Self.rate
        configuration.rate.qp = 20
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        let source = try MediaInput.open("testsrc:64x64@25:5")
        for (index, format) in [PixelFormat.i420, .nv12, .i444, .yuyv, .i422].enumerated() {
            let buffer = try SystemPixelBuffer(format: format, size: size)
            _ = try unsafe buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
            try encoder.encode(buffer, timing: Self.time(index), options: FrameOptions())
        }
        let wrong = try SystemPixelBuffer(format: .nv12, size: VideoSize(width: 32, height: 64))
        #expect(throws: VaencError.self) { try encoder.encode(wrong, timing: Self.time(9), options: FrameOptions()) }
        let early = try encoder.makePixelBuffer()
        #expect(throws: VaencError.self) { try encoder.encode(early, timing: Self.time(2), options: FrameOptions()) }
        try encoder.completeFrames(until: nil)
        let (psnr, times) = try Self.judge(collector.packets, codec: .h264, size: size)
        #expect(psnr > 33 && times.count == 5, "\(psnr)")
    }

    /// Otherwise the pool would be empty.
    @Test(.timeLimit(.minutes(60))) func droppedBuffersReturnToThePool() throws {
        let encoder = try SoftwareEncoder(configuration: EncoderConfiguration(size: VideoSize(width: 64, height: 64))) {
            _ in
        }
        for _ in 0..<50 { _ = try encoder.makePixelBuffer() }
    }

    /// Ending a session at any moment neither blocks nor crashes.
    @Test(.timeLimit(.minutes(60))) func invalidateIsSafeAtAnyMoment() throws {
        let size = VideoSize(width: 64, height: 64)
        for count in 0..<8 {
            let collector = Collector()
            let encoder = try SoftwareEncoder(configuration: EncoderConfiguration(size: size)) { collector.take($0) }
            try Self.feed(encoder, 0..<count, size: size)
            encoder.invalidate()
            let delivered = collector.packets.count
            #expect(encoder.pendingFrameCount == 0)
            #expect(collector.packets.count == delivered)
        }
    }

    @Test func variableTimesAreKept() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = Self.rate
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        let times = [0, 40, 50, 300, 301, 1000, 1001, 1500].map { MediaTime(value: $0, timescale: 1000) }
        for time in times {
            try encoder.encode(
                encoder.makePixelBuffer(), timing: FrameTiming(presentation: time), options: FrameOptions())
        }
        try encoder.completeFrames(until: nil)
        #expect(collector.packets.map(\.presentation).sorted() == times)
        for (packet, next) in zip(collector.packets, collector.packets.dropFirst()) {
            #expect(packet.decode < next.decode)
        }
        for packet in collector.packets { #expect(packet.decode <= packet.presentation) }
    }

    /// For any first presentation time, decoding starts a whole number of pictures before it.
    @Test(arguments: [VideoCodec.h264, .hevc]) func decodingStartsWholePicturesEarly(_ codec: VideoCodec) throws {
        func time(_ index: Int) -> MediaTime { MediaTime(value: Int64(25 + 40 * index), timescale: 1000) }
        var configuration = EncoderConfiguration(size: VideoSize(width: 176, height: 144))
        configuration.codec = codec
        configuration.frameRate = Self.rate
        configuration.structure.bFrames = 2
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        for index in 0..<8 {
            try encoder.encode(encoder.makePixelBuffer(), timing: FrameTiming(presentation: time(index)), options: FrameOptions())
        }
        try encoder.completeFrames(until: nil)
        let packets = collector.packets
        let early = packets.count { $0.decode < time(0) }
        #expect(packets.count == 8 && early > 0)
        for (index, packet) in packets.enumerated() { #expect(packet.decode == time(index - early), "\(index): \(packet.decode)") }
    }

    @Test func bitRateIsKept() throws {
        let size = VideoSize(width: 320, height: 180)
        let (packets, _) = try Self.encode(100, size: size) {
            $0.rate.bitrate = BitsPerSecond(500_000); $0.structure.gopFrames = 50
        }
        let rate = Double(packets.reduce(0) { $0 + $1.bytes.count }) * 8 / 4
        #expect(rate > 250_000 && rate < 750_000, "\(rate)")
    }

    @Test func bothLibrariesAreAvailable() {
        #expect(SoftwareEncoder.unavailability(of: .h264) == nil)
        #expect(SoftwareEncoder.unavailability(of: .hevc) == nil)
    }
}
