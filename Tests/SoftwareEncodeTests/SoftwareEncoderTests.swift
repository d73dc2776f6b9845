import ExtremeValues
import BitstreamInspection
import H264Syntax
import MediaFiles
import PacketDecoding
import Testing
import TestOracles
import VideoBase

@testable import SoftwareEncode

@Suite struct SoftwareEncoderTests {
    /// The library reads a picture after `encode` has returned: its buffer can neither be drawn into nor encoded again.
    @Test(arguments: VideoCodec.allCases) func encodedBufferIsRefused(_ codec: VideoCodec) throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        configuration.codec = codec
        let encoder = try SoftwareEncoder(configuration: configuration) { _ in }
        defer { encoder.invalidate() }
        try encoder.prepare()
        let buffer = try encoder.makePixelBuffer()
        try encoder.encode(buffer, timing: SoftwareRun.time(0), options: FrameOptions())
        let calls: [() throws -> Void] = [
            { try encoder.encode(buffer, timing: SoftwareRun.time(1), options: FrameOptions()) },
            { try unsafe buffer.withUnsafePlanes { _ in } },
        ]
        for call in calls {
            let error = #expect(throws: VaencError.self) { try call() }
            #expect(error?.category == .usage && error?.message == "the pixel buffer was encoded already")
        }
        try encoder.encode(encoder.makePixelBuffer(), timing: SoftwareRun.time(1), options: FrameOptions())
        try encoder.completeFrames(until: nil)
        #expect(encoder.pendingFrameCount == 0)
    }

    /// A packet has the QP of its own picture. If the library chooses the QP, packets have none.
    @Test(arguments: VideoCodec.allCases, [0, 2]) func packetsHaveTheQPOfTheirPicture(_ codec: VideoCodec, _ bFrames: Int) throws {
        let settings: [(inout EncoderConfiguration) -> Void] = [
            { $0.rate.qp = 24 }, { ($0.rate.qp, $0.rate.qpI) = (24, 10) }, { ($0.rate.qp, $0.rate.qpI, $0.rate.qpB) = (30, 26, 40) },
            { ($0.rate.qpI, $0.rate.qpB) = (20, 33) },
        ]
        for set in settings {
            let (packets, _) = try SoftwareRun.encode(25, size: VideoSize(width: 96, height: 64)) {
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
        let (packets, _) = try SoftwareRun.encode(10) { ($0.codec, $0.structure.bFrames, $0.rate.quality) = (codec, bFrames, 30) }
        #expect(packets.allSatisfy { $0.qp == nil })
    }

    @Test(arguments: [VideoCodec.h264, .hevc])
    func decodedPicturesMatchTheInput(_ codec: VideoCodec) throws {
        let size = VideoSize(width: 176, height: 144)
        let (packets, description) = try SoftwareRun.encode(30) {
            $0.codec = codec; $0.rate.qp = 24; $0.structure.gopFrames = 10
        }
        #expect(packets.count == 30)
        let (psnr, times) = try SoftwareRun.judge(packets, codec: codec, size: size)
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
            let packets = try SoftwareRun.encode(9) { ($0.codec, $0.structure.gopFrames, $0.headers.accessUnitDelimiters) = (codec, gop, true) }
                .packets
            let delimiter: [UInt8] = codec == .h264 ? [0, 0, 0, 1, 9] : [0, 0, 0, 1, 70, 1]
            #expect(packets.count == 9 && packets.allSatisfy { $0.bytes.starts(with: delimiter) }, "\(gop)")
        }
    }

    /// libx265 opens with either a level or a constant QP: the level is omitted, which is reported, and refused by
    /// `strict`.
    @Test func levelWithConstantQPIsReported() throws {
        let description = try SoftwareRun.encode(5) {
            $0.codec = .hevc; $0.rate.qp = 30; $0.level = 41
        }.description
        let entry = try #require(description.effective.first { $0.option == "level" })
        #expect(entry.differs && entry.asked == "4.1" && entry.used == description.level.description && entry.why.description.contains("constant QP"))
        #expect(throws: VaencError.self) {
            try SoftwareRun.encode(5) {
                $0.codec = .hevc; $0.rate.qp = 30; $0.level = 41; $0.strict = true
            }
        }
        let rated = try SoftwareRun.encode(5) {
            $0.codec = .hevc; $0.rate.bitrate = BitsPerSecond(200_000); $0.level = 41; $0.strict = true
        }
        #expect(rated.description.level.description == "4.1")
        #expect(
            try SoftwareRun.encode(5) {
                $0.rate.qp = 30; $0.level = 41; $0.strict = true
            }.description.level.description == "4.1")
    }

    /// Key frames at times, open GOPs and intra refresh are checked by packet types and recovery points.
    @Test func packetsShowTheGOPStructure() throws {
        let times = try SoftwareRun.encode(12) {
            $0.structure.forcedKeyTimes = [.seconds(0.3), .seconds(0.2)]; $0.structure.forcedKeyFrames = [2]
        }.packets
        #expect(times.filter(\.isKey).map(\.displayIndex) == [0, 2, 5, 8])
        for codec in [VideoCodec.h264, .hevc] {
            let open = try SoftwareRun.encode(30) {
                $0.codec = codec; $0.structure.openGOP = true; $0.structure.gopFrames = 10; $0.structure.bFrames = 2
            }.packets
            #expect(open.filter(\.isKey).map(\.displayIndex) == [0])
            let later = open.filter { $0.recoveryFrameCount == 0 && !$0.isKey }
            #expect(later.map(\.type) == [.i, .i], "\(codec) \(open.map(\.type))")
            // Parameter sets are at each random access point.
            #expect(later.allSatisfy { $0.bytes[4] & 31 == 7 || $0.bytes[4] >> 1 == 32 })
            #expect(open.contains { !$0.isReference } && open.contains { $0.type == .b })
        }
        for codec in VideoCodec.allCases {
            let refresh = try SoftwareRun.encode(40) {
                $0.codec = codec; $0.structure.intraRefresh = true; $0.structure.gopFrames = 12
            }.packets
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
            let packets = try SoftwareRun.encode(6) {
                $0.rate.quality = 38; $0.structure.bFrames = 0; $0.coding.regionsOfInterest = regions
            }.packets
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

    /// Only some pictures have regions. libx265 reuses the memory of a picture without regions for one with regions,
    /// and must not crash.
    @Test func regionsMayBeInSomePicturesOnly() throws {
        let size = VideoSize(width: 176, height: 144)
        var configuration = EncoderConfiguration(size: size)
        configuration.codec = .hevc
        configuration.frameRate = SoftwareRun.rate
        configuration.coding.preset = 6
        configuration.rate.quality = 30
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        var options = FrameOptions()
        options.regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 64, height: 64, qpDelta: -6)]
        for index in 0..<120 {
            let isPlain = index < 60 || index % 2 == 0
            try encoder.encode(encoder.makePixelBuffer(), timing: SoftwareRun.time(index), options: isPlain ? FrameOptions() : options)
        }
        try encoder.completeFrames(until: nil)
        encoder.invalidate()
        #expect(collector.packets.count == 120 && collector.errors == [])
    }

    /// libavcodec and OpenH264 decode the bare stream to the same pictures.
    @Test func foreignDecodersAgree() throws {
        let (packets, _) = try SoftwareRun.encode(12) {
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
        let baseline = try SoftwareRun.encode(3) { $0.profile = .h264ConstrainedBaseline }
        #expect(baseline.description.profile == .h264ConstrainedBaseline)
        #expect(baseline.packets.allSatisfy { $0.type != .b })
        let main = try SoftwareRun.encode(3) {
            $0.profile = .h264Main; $0.level = 31
        }
        #expect(main.description.profile == .h264Main && main.description.level.description == "3.1")
        let hevc = try SoftwareRun.encode(3) {
            $0.codec = .hevc; $0.level = 41
        }
        #expect(hevc.description.profile == .hevcMain && hevc.description.level.description == "4.1")
        let deep = try SoftwareRun.encode(3) {
            $0.codec = .hevc; $0.profile = .hevcMain10
        }
        #expect(deep.description.profile == .hevcMain10)
    }

    @Test func keyFramesAreForced() throws {
        let (packets, _) = try SoftwareRun.encode(12) {
            $0.structure.forcedKeyFrames = [5, 7]; $0.structure.gopFrames = 100
        }
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0, 5, 7])
    }

    @Test(arguments: [(17, 33), (33, 18), (16, 16), (50, 50)])
    func oddSizesArePadded(_ width: Int, _ height: Int) throws {
        let size = VideoSize(width: width, height: height)
        for codec in [VideoCodec.h264, .hevc] {
            let (packets, description) = try SoftwareRun.encode(6, size: size) {
                $0.rate.qp = 20; $0.codec = codec
            }
            #expect(description.size == size.aligned(to: 2))
            let (psnr, times) = try SoftwareRun.judge(packets, codec: codec, size: size)
            #expect(psnr > 33 && times.count == 6, "\(codec) \(psnr)")
        }
    }

    /// After frames are completed, encoding continues without loss, with a key frame.
    @Test func encodingContinuesAfterCompletion() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = SoftwareRun.rate
        configuration.rate.qp = 20
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        try SoftwareRun.feed(encoder, 0..<7, size: size)
        #expect(encoder.pendingFrameCount > 0)
        try encoder.completeFrames(until: MediaTime(value: 3, timescale: 25))
        #expect(collector.packets.count >= 4)
        try encoder.completeFrames(until: nil)
        #expect(collector.packets.count == 7)
        try encoder.completeFrames(until: nil)
        try SoftwareRun.feed(encoder, 7..<12, size: size)
        try encoder.completeFrames(until: nil)
        let packets = collector.packets
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0, 7])
        #expect(packets.map(\.displayIndex).sorted() == Array(0..<12))
        for (packet, next) in zip(packets, packets.dropFirst()) { #expect(packet.decode < next.decode) }
        let (psnr, times) = try SoftwareRun.judge(packets, codec: .h264, size: size)
        #expect(psnr > 33 && times.count == 12, "\(psnr)")
        encoder.invalidate()
        encoder.invalidate()
        #expect(throws: (any Error).self) { try encoder.makePixelBuffer() }
    }

    @Test func lowLatencyDeliversEachPacketAtOnce() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.pipeline.lowLatency = true
        configuration.frameRate = SoftwareRun.rate
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        for index in 0..<5 {
            try SoftwareRun.feed(encoder, index..<index + 1, size: size)
            #expect(collector.packets.count == index + 1)
            #expect(encoder.pendingFrameCount == 0)
        }
    }

    /// A caller's own buffer of another format is converted.
    @Test func foreignBuffersAreConverted() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = SoftwareRun.rate
        configuration.rate.qp = 20
        let collector = Collector()
        let encoder = try SoftwareEncoder(configuration: configuration) { collector.take($0) }
        let source = try MediaInput.open("testsrc:64x64@25:5")
        for (index, format) in [PixelFormat.i420, .nv12, .i444, .yuyv, .i422].enumerated() {
            let buffer = try SystemPixelBuffer(format: format, size: size)
            _ = try unsafe buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
            try encoder.encode(buffer, timing: SoftwareRun.time(index), options: FrameOptions())
        }
        let wrong = try SystemPixelBuffer(format: .nv12, size: VideoSize(width: 32, height: 64))
        #expect(throws: VaencError.self) { try encoder.encode(wrong, timing: SoftwareRun.time(9), options: FrameOptions()) }
        let early = try encoder.makePixelBuffer()
        #expect(throws: VaencError.self) { try encoder.encode(early, timing: SoftwareRun.time(2), options: FrameOptions()) }
        try encoder.completeFrames(until: nil)
        let (psnr, times) = try SoftwareRun.judge(collector.packets, codec: .h264, size: size)
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
            try SoftwareRun.feed(encoder, 0..<count, size: size)
            encoder.invalidate()
            let delivered = collector.packets.count
            #expect(encoder.pendingFrameCount == 0)
            #expect(collector.packets.count == delivered)
        }
    }

    @Test func variableTimesAreKept() throws {
        let size = VideoSize(width: 64, height: 64)
        var configuration = EncoderConfiguration(size: size)
        configuration.frameRate = SoftwareRun.rate
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
        configuration.frameRate = SoftwareRun.rate
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
        let (packets, _) = try SoftwareRun.encode(100, size: size) {
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
