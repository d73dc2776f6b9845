import ExtremeValues
import Glibc
import NALUnits
import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

/// Containers judged by ffprobe and ffmpeg.
@Suite struct ContainerSinkTests {
    private static let size = VideoSize(width: 176, height: 144)
    private static let rate = Rational(30000, 1001)

    /// Encodes with libx264 and returns packets with times. The streams have no B frames, so display order equals
    /// coding order.
    static func packets(_ times: [MediaTime], options: String = "bframes=0:keyint=5:scenecut=0") throws
        -> [EncodedPacket]
    {
        let stream = try ForeignEncoder.x264(Fixture.carphone.frames(times.count), options: options)
        var packets: [EncodedPacket] = []
        var pending: [UInt8] = []
        func isSlice(_ unit: [UInt8]) -> Bool { [1, 5].contains(unit[0] & 31) }
        for unit in AnnexB.split(stream) {
            AnnexB.append(unit, to: &pending)
            if isSlice(unit) {
                let index = packets.count
                packets.append(
                    EncodedPacket(
                        codec: .h264, bytes: pending, type: unit[0] & 31 == 5 ? .idr : .p, presentation: times[index],
                        decode: times[index],
                        displayIndex: index, codingIndex: index))
                pending = []
            }
        }
        #expect(packets.count == times.count)
        return packets
    }

    static func description(_ packets: [EncodedPacket]) -> EncoderDescription {
        EncoderDescription(
            kind: .software, path: nil, driver: "test", codec: .h264, profile: .h264High, level: 11, tier: nil, size: size,
            frameRate: rate, effective: [],
            parameterSets: AnnexB.split(packets[0].bytes).filter { [7, 8].contains($0[0] & 31) })
    }

    private static func write(_ packets: [EncodedPacket], to path: String, options: SinkOptions = SinkOptions()) throws {
        let sink = try MediaOutput.open(path, options: options)
        try sink.start(description(packets))
        for packet in packets { try sink.write(packet) }
        try sink.finish()
        #expect(sink.bytesWritten == Files.size(path))
    }

    private static func probe(_ path: String, _ entries: String, _ more: [String] = []) throws -> [Substring] {
        let result = try ProcessRunner.run(
            "ffprobe",
            ["-v", "warning", "-select_streams", "v", "-show_entries", entries, "-of", "csv=p=0"] + more + [path])
        #expect(result.status == 0)
        #expect(result.errors == "", "\(path)")
        return result.output.split(whereSeparator: \.isNewline)
    }

    static func regular(_ count: Int, from start: Int = 0) -> [MediaTime] {
        (start..<start + count).map { MediaTime(value: Int64($0 * 1001), timescale: 30000) }
    }

    /// Times that a container cannot store are refused: MPEG-TS has 33 bits of 90 kHz, and FLV 24 bits for the time
    /// from decoding to presentation.
    @Test func timesTooFarApartAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            let jump = try Self.packets(Self.regular(3) + [MediaTime(value: 14 * 3600, timescale: 1)])
            #expect(failure { try Self.write(jump, to: folder + "/jump.ts") }?.category == .badInput)
            try Self.write(jump, to: folder + "/jump.mkv")
            try Self.write(jump, to: folder + "/jump.flv")
            var late = try Self.packets(Self.regular(6))
            for index in 3..<6 { late[index].presentation = MediaTime(value: Int64(3 * 3600 + index), timescale: 1) }
            #expect(failure { try Self.write(late, to: folder + "/late.flv") }?.category == .badInput)
        }
    }

    /// Every container has the same pictures as the bare stream, none missing, and decodes without messages.
    @Test(arguments: ["mp4", "mov", "mkv", "ts"])
    func containerPicturesMatchTheStream(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let packets = try Self.packets(Self.regular(12))
            let path = "\(folder)/a.\(ending)"
            try Self.write(packets, to: path)
            let decoded = ForeignDecoder.libavcodec.decode(packets.flatMap(\.bytes))
            #expect(decoded.messages == [])
            let result = try ProcessRunner.run(
                "ffmpeg", ["-v", "warning", "-xerror", "-nostdin", "-i", path, "-f", "rawvideo", "\(folder)/a.yuv"])
            #expect(result.status == 0)
            #expect(result.errors == "")
            let isSame = try Files.read("\(folder)/a.yuv") == decoded.frames.flatMap(\.bytes)
            #expect(isSame)
            #expect(Files.list(folder) == ["a.\(ending)", "a.yuv"])
        }
    }

    /// For any first time, the output's times are exact and start at zero. Durations come from the frame rate.
    @Test func mp4TimesAreExact() throws {
        try Files.withTemporaryFolder { folder in
            for start in [0, 777] {
                let path = "\(folder)/a\(start).mp4"
                try Self.write(Self.packets(Self.regular(8, from: start)), to: path)
                #expect(
                    try Self.probe(path, "stream=time_base,r_frame_rate,nb_frames,start_pts") == [
                        "30000/1001,1/30000,0,8"
                    ])
                #expect(
                    try Self.probe(path, "packet=pts,dts,duration,flags").map { $0.prefix { $0 != "_" } }
                        == (0..<8).map { "\($0 * 1001),\($0 * 1001),1001,\($0 % 5 == 0 ? "K" : "")" })
            }
        }
    }

    @Test func varyingTimesAreKept() throws {
        try Files.withTemporaryFolder { folder in
            let times = [0, 40, 50, 300, 301, 1000].map { MediaTime(value: $0, timescale: 1000) }
            let packets = try Self.packets(times)
            for ending in ["mp4", "mkv"] {
                let path = "\(folder)/a.\(ending)"
                try Self.write(packets, to: path)
                let found = try Self.probe(path, "packet=pts_time").map { Double($0) ?? -1 }
                #expect(zip(found, times).allSatisfy { abs($0 - $1.seconds) < 1e-6 }, "\(found)")
                #expect(found.count == times.count)
            }
        }
    }

    /// Decoding times precede presentation times and start below zero, as with B pictures.
    @Test func reorderedTimesAreKept() throws {
        try Files.withTemporaryFolder { folder in
            var packets = try Self.packets(Self.regular(7))
            let shown = [0, 3, 1, 2, 6, 4, 5]
            for index in packets.indices {
                packets[index].presentation = MediaTime(value: Int64(shown[index] * 1001), timescale: 30000)
                packets[index].decode = MediaTime(value: Int64((index - 2) * 1001), timescale: 30000)
            }
            for ending in ["mp4", "mov"] {
                let path = "\(folder)/a.\(ending)"
                try Self.write(packets, to: path)
                let found = try Self.probe(path, "packet=pts,dts").map {
                    $0.split(separator: ",").map { Int($0) ?? -1 }
                }
                #expect(found.map { $0[0] } == shown.map { $0 * 1001 })
                #expect(found.map { $0[1] } == (0..<7).map { ($0 - 2) * 1001 })
            }
            try Self.write(packets, to: "\(folder)/a.mkv")
            #expect(try Self.probe("\(folder)/a.mkv", "packet=pts_time").count == 7)
        }
    }

    /// avcC matches the SPS. Samples have four-byte lengths and no parameter sets.
    @Test func avcCAndSamplesMatchTheStream() throws {
        try Files.withTemporaryFolder { folder in
            let packets = try Self.packets(Self.regular(6))
            let path = "\(folder)/a.mp4"
            try Self.write(packets, to: path)
            let bytes = try Files.read(path)
            let offset = try #require(Self.find(Array("avcC".utf8), in: bytes)) + 4
            let sets = AnnexB.split(packets[0].bytes)
            let sps = sets[0], pps = sets[1]
            #expect(sps[0] & 31 == 7 && pps[0] & 31 == 8)
            #expect(Array(bytes[offset..<offset + 6]) == [1, sps[1], sps[2], sps[3], 0xFF, 0xE1])
            #expect(Array(bytes[(offset + 6)..<(offset + 8 + sps.count)]) == [0, UInt8(sps.count)] + sps)
            #expect(
                Array(bytes[(offset + 8 + sps.count)..<(offset + 11 + sps.count + pps.count)]) == [
                    1, 0, UInt8(pps.count),
                ] + pps)
            let mdat = try #require(Self.find(Array("mdat".utf8), in: bytes)) + 4
            let first = sets[2]
            #expect(Array(bytes[mdat..<mdat + 4]) == [0, 0, UInt8(first.count >> 8), UInt8(first.count & 255)])
            #expect(Array(bytes[(mdat + 4)..<(mdat + 4 + first.count)]) == first)
        }
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        for index in 0..<max(0, bytes.count - pattern.count) where bytes[index] == pattern[0] {
            if bytes[index..<index + pattern.count].elementsEqual(pattern) { return index }
        }
        return nil
    }

    @Test func colorAndAspectBoxesAreWritten() throws {
        try Files.withTemporaryFolder { folder in
            var options = SinkOptions()
            options.color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, fullRange: false)
            options.sampleAspectRatio = Rational(12, 11)
            let path = "\(folder)/a.mp4"
            try Self.write(Self.packets(Self.regular(2)), to: path, options: options)
            let bytes = try Files.read(path)
            // colr nclx: primaries, transfer, matrix, range; pasp: horizontal, vertical.
            let colr = Array("colrnclx".utf8) + [0, 1, 0, 1, 0, 1, 0]
            let pasp = Array("pasp".utf8) + [0, 0, 0, 12, 0, 0, 0, 11]
            for box in [colr, pasp] { #expect(Self.find(box, in: bytes) != nil) }
        }
    }

    /// The file plays after any number of packets.
    @Test func everyPrefixPlays() throws {
        try Files.withTemporaryFolder { folder in
            let packets = try Self.packets(Self.regular(4))
            for count in 1...4 {
                let path = "\(folder)/a\(count).mp4"
                try Self.write(Array(packets[..<count]), to: path)
                #expect(try Self.probe(path, "stream=nb_read_frames", ["-count_frames"]) == ["\(count)"])
            }
            // Without any packet there is still a file.
            let sink = try MediaOutput.open("\(folder)/none.mp4")
            try sink.start(Self.description(packets))
            try sink.finish()
            #expect((Files.size("\(folder)/none.mp4") ?? 0) > 0)
        }
    }

    /// A device is not seekable, so MP4 is fragmented. This device is always full.
    @Test func fullDeviceIsReported() throws {
        let packets = try Self.packets(Self.regular(6))
        for format in [OutputFormat.mp4, .mov, .mkv, .ts] {
            var options = SinkOptions()
            options.format = format
            let sink = try MediaOutput.open("/dev/full", options: options)
            let error = failure {
                try sink.start(Self.description(packets))
                for packet in packets { try sink.write(packet) }
                try sink.finish()
            }
            #expect(error?.category == .inputOutput, "\(format)")
            #expect(error?.message.contains("/dev/full failed: the disk is full") == true, "\(error?.message ?? "")")
            sink.cancel()
        }
    }

    /// The disk has 16 KiB. Only root may mount it.
    @Test(.enabled(if: geteuid() == 0)) func fullDiskKeepsOnlyRecordings() throws {
        try Files.withTemporaryFolder { folder in
            let mount = try ProcessRunner.run("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", folder])
            try #require(mount.status == 0, "\(mount.errors)")
            defer { _ = try? ProcessRunner.run("umount", [folder]) }
            let packets = try Self.packets(Self.regular(30), options: "bframes=0:qp=10")
            for (name, isRecording) in ["a.h264", "a.mp4", "a.mkv", "a.ts"].flatMap({ [($0, false), ($0, true)] }) {
                var options = SinkOptions()
                options.survivesKill = isRecording
                let sink = try MediaOutput.open("\(folder)/\(name)", options: options)
                let error = failure {
                    try sink.start(Self.description(packets))
                    for packet in packets { try sink.write(packet) }
                    try sink.finish()
                }
                #expect(error?.category == .inputOutput, "\(name)")
                #expect(error?.message.contains("the disk is full") == true, "\(error?.message ?? "")")
                // A recording's playable part is kept, if there is one: a fragment of MP4 is larger than the disk.
                let part = sink.abandon()
                #expect(Files.list(folder) == (part == nil ? [] : [name + ".part"]), "\(name)")
                #expect((part != nil) == (isRecording && name != "a.mp4"), "\(name)")
                if let part { try #require(unsafe unlink(part) == 0) }
            }
        }
    }

    @Test func timescaleFitsRateAndTimes() {
        #expect(ContainerSink.timescale(25, 25) == 25)
        #expect(ContainerSink.timescale(30000, 30000) == 30000)
        #expect(ContainerSink.timescale(25, 1) == 25)
        #expect(ContainerSink.timescale(30000, 90000) == 90000)
        #expect(ContainerSink.timescale(24, 1000) == 3000)
        #expect(ContainerSink.timescale(1_000_003, 999_983) == 90_000)
    }

    @Test func timeDifferencesAreExact() {
        func t(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }
        #expect(t(5, 25) - t(2, 25) == t(3, 25))
        #expect(t(1, 2) - t(1, 4) == t(1, 4))
        #expect(t(1, 3) - t(1, 2) == t(-1, 6))
        #expect(t(7, 30) - .zero == t(7, 30))
    }

    /// Times of all sizes, as far apart as possible, are written or refused with an error, and never end the process.
    @Test(arguments: ["mp4", "mov", "mkv", "ts"]) func extremeTimesDoNotTrap(_ format: String) throws {
        let pairs: [(Int64, Int64, Int32, Int32)] = [
            (-(1 << 62) + 1, (1 << 62) - 1, .max, .max), (.min, .max, 1, 1), (.min, .max, .max, 1), (0, .max, 1, .max),
            (-(1 << 40) + 1, 1 << 40, 1, 25), ((1 << 62) - 2, (1 << 62) - 1, .max, .max), (-1, 1, .max, 1),
            (0, 1, 0, -1), (.max, .min, 90_000, 7),
        ]
        try Files.withTemporaryFolder { folder in
            var written = 0
            for (index, (a, b, first, second)) in pairs.enumerated() {
                var packets = try Self.packets(
                    [MediaTime(value: a, timescale: first), MediaTime(value: b, timescale: second)])
                packets[0].duration = MediaTime(value: .max, timescale: first)
                packets[1].decode = MediaTime(value: .min, timescale: second)
                let sink = try MediaOutput.open("\(folder)/\(index).\(format)", options: SinkOptions())
                do {
                    try sink.start(Self.description(packets))
                    for packet in packets { try sink.write(packet) }
                    try sink.finish()
                    written += 1
                } catch let error as VaencError {
                    #expect([.usage, .inputOutput].contains(error.category))
                    sink.cancel()
                }
            }
            #expect(written < pairs.count || format != "mp4")
        }
    }

    /// The differences are compared with the definition.
    @Test func extremeTimeDifferencesAreRounded() {
        let values: [Int64] = [.min, -(1 << 62) + 1, -1, 0, 7, (1 << 62) - 1, .max]
        let times = values.flatMap { value in [1, 25, 90_000, .max - 1, .max].map { MediaTime(value: value, timescale: $0) } }
        for a in times {
            for b in times {
                let difference = a - b
                let divisor = Int128(a.timescale) * Int128(b.timescale)
                let exact = Int128(a.value) * Int128(b.timescale) - Int128(b.value) * Int128(a.timescale)
                let (low, high) = (Int128(Int64.min) * divisor, Int128(Int64.max) * divisor)
                let expected = min(max(exact * Int128(difference.timescale), low), high)
                let error = (Int128(difference.value) * divisor - expected).magnitude
                #expect(2 * error <= divisor.magnitude, "\(a) - \(b)")
            }
        }
    }
}
