import ExtremeValues
import NALUnits
import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

/// HEVC in containers, judged by ffprobe, by ffmpeg's decoding, and by libavformat's own output of the stream.
@Suite struct HEVCContainerTests {
    private static let size = VideoSize(width: 176, height: 144)
    private static let rate = Rational(30000, 1001)

    /// Encodes with libx265 and returns the stream in Annex B.
    private static func stream(
        depth: Int, _ folder: String, count: Int = 8, options: String = ""
    ) throws -> [UInt8] {
        let raw = "\(folder)/in.yuv", path = "\(folder)/in.h265"
        try Files.write(Fixture.carphone.frames(count).flatMap(\.bytes), to: raw)
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "176x144", "-r", "30000/1001",
                "-i", raw, "-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", depth == 10 ? "yuv420p10le" : "yuv420p", "-x265-params",
                "bframes=0:keyint=5:min-keyint=5:scenecut=0:repeat-headers=1:aud=1:log-level=none" + options,
                path,
            ])
        #expect(result.status == 0, "\(result.errors)")
        return try Files.read(path)
    }

    private static func type(_ unit: [UInt8]) -> UInt8 { unit[0] >> 1 & 63 }

    /// Splits a stream into one packet per picture. The streams have no B pictures and one slice per picture.
    private static func packets(_ stream: [UInt8]) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        var pending: [UInt8] = []
        for unit in AnnexB.split(stream) {
            AnnexB.append(unit, to: &pending)
            if type(unit) >= 32 { continue }
            let time = MediaTime(value: Int64(packets.count * 1001), timescale: 30000)
            packets.append(
                EncodedPacket(
                    codec: .hevc, bytes: pending, type: type(unit) >= 16 ? .idr : .p, presentation: time, decode: time,
                    displayIndex: packets.count, codingIndex: packets.count))
            pending = []
        }
        return packets
    }

    private static func sets(_ packets: [EncodedPacket]) -> [[UInt8]] {
        AnnexB.split(packets[0].bytes).filter { (32...34).contains(type($0)) }
    }

    private static func write(
        _ packets: [EncodedPacket], depth: Int, to path: String, _ adjust: (inout SinkOptions) -> Void = { _ in }
    ) throws {
        var options = SinkOptions()
        options.overwrite = true
        adjust(&options)
        let sink = try MediaOutput.open(path, options: options)
        try sink.start(
            EncoderDescription(
                kind: .software, path: nil, driver: "test", codec: .hevc,
                profile: depth == 10 ? .hevcMain10 : .hevcMain, level: 20, tier: .main, size: size, frameRate: rate, effective: [],
                parameterSets: sets(packets)))
        for packet in packets { try sink.write(packet) }
        try sink.finish()
    }

    /// In MPEG-TS a delimiter with the picture's TemporalId precedes every picture. The test moves some of libx265's
    /// pictures without delimiters to higher layers.
    @Test func delimitersHaveTheTemporalIdOfTheirPicture() throws {
        try Files.withTemporaryFolder { folder in
            var layers: [Int] = []
            var packets = Self.packets(try Self.stream(depth: 8, folder))
            for index in packets.indices {
                let layer = packets[index].isKey ? 0 : index % 3
                layers.append(layer)
                var bytes: [UInt8] = []
                for unit in AnnexB.split(packets[index].bytes) where Self.type(unit) != 35 {
                    let header: [UInt8] = [unit[0], unit[1] & 0xF8 | UInt8(layer + 1)]
                    AnnexB.append(header + Array(unit.dropFirst(2)), to: &bytes)
                }
                packets[index].bytes = bytes
            }
            #expect(Set(layers) == [0, 1, 2])
            try Self.write(packets, depth: 8, to: "\(folder)/a.ts")
            let names = ["Access Unit Delimiter", "Slice Segment Header"]
            let units = try TraceHeaders(path: "\(folder)/a.ts", codec: "mpegts").units.filter { names.contains($0.name) }
            let found = units.map { "\($0.name) \(($0["nuh_temporal_id_plus1"] ?? 0) - 1)" }
            #expect(found == layers.flatMap { layer in names.map { "\($0) \(layer)" } })
        }
    }

    private static func probe(_ path: String, _ arguments: [String]) throws -> String {
        let result = try ProcessRunner.run("ffprobe", ["-v", "warning", "-select_streams", "v"] + arguments + [path])
        #expect(result.status == 0 && result.errors == "", "\(path): \(result.errors)")
        return result.output
    }

    /// Returns the content of the first box with the given name.
    private static func box(_ name: String, in bytes: [UInt8]) -> [UInt8]? {
        let pattern = Array(name.utf8)
        guard let offset = (4..<bytes.count - 4).first(where: { bytes[$0..<$0 + 4].elementsEqual(pattern) }) else {
            return nil
        }
        let size = bytes[offset - 4..<offset].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 8, offset - 4 + size <= bytes.count else { return nil }
        return Array(bytes[offset + 4..<offset - 4 + size])
    }

    @Test(arguments: ["mp4", "mov", "mkv", "ts"], [8, 10])
    func containerPicturesMatchTheStream(_ ending: String, _ depth: Int) throws {
        try Files.withTemporaryFolder { folder in
            let stream = try Self.stream(depth: depth, folder)
            let packets = Self.packets(stream)
            #expect(packets.count == 8)
            let path = "\(folder)/a.\(ending)"
            try Self.write(packets, depth: depth, to: path)
            for (name, output) in [(path, "a.yuv"), ("\(folder)/in.h265", "b.yuv")] {
                let result = try ProcessRunner.run(
                    "ffmpeg", ["-v", "warning", "-xerror", "-nostdin", "-i", name, "-f", "rawvideo", "\(folder)/\(output)"])
                #expect(result.status == 0 && result.errors == "", "\(result.errors)")
            }
            let pictures = try Files.read("\(folder)/a.yuv")
            #expect(pictures.count == 8 * 176 * 144 * 3 / 2 * (depth == 10 ? 2 : 1))
            let isSame = try pictures == Files.read("\(folder)/b.yuv")
            #expect(isSame)
            let found = try Self.probe(
                path, ["-show_entries", "stream=codec_name,profile,codec_tag_string,pix_fmt", "-of", "csv=p=0"])
            #expect(found.hasPrefix("hevc,\(depth == 10 ? "Main 10" : "Main"),"))
            #expect(found.contains(depth == 10 ? "yuv420p10le" : "yuv420p"))
            if ending == "mp4" || ending == "mov" { #expect(found.contains(",hvc1,")) }
        }
    }

    /// The record equals libavformat's byte for byte, with both sample entries. In Matroska it is CodecPrivate.
    @Test(arguments: [8, 10]) func recordsMatchLibavformats(_ depth: Int) throws {
        try Files.withTemporaryFolder { folder in
            let packets = Self.packets(try Self.stream(depth: depth, folder))
            for entry in HEVCSampleEntry.allCases {
                let ours = "\(folder)/ours.mp4", theirs = "\(folder)/theirs.mp4"
                try Self.write(packets, depth: depth, to: ours) { $0.hevcSampleEntry = entry }
                let result = try ProcessRunner.run(
                    "ffmpeg",
                    ["-v", "error", "-y", "-i", "\(folder)/in.h265", "-c", "copy", "-tag:v", entry.rawValue, theirs])
                #expect(result.status == 0, "\(result.errors)")
                let record = try #require(Self.box("hvcC", in: Files.read(ours)))
                #expect(try record == Self.box("hvcC", in: Files.read(theirs)), "\(entry)")
                #expect(
                    try Self.probe(ours, ["-show_entries", "stream=codec_tag_string", "-of", "csv=p=0"])
                        .hasPrefix(entry.rawValue))
                if entry == .hvc1 { continue }
                try Self.write(packets, depth: depth, to: "\(folder)/a.mkv") { $0.hevcSampleEntry = entry }
                let file = try Files.read("\(folder)/a.mkv")
                // Before version 61, libavformat marks the arrays as complete.
                let records = try [true, false].map {
                    try #require(
                        HEVCDecoderConfigurationRecord(parameterSets: Self.sets(packets), isComplete: $0)
                    ).bytes
                }
                #expect(file.indices.contains { at in records.contains { file[at...].starts(with: $0) } })
            }
        }
    }

    /// With `hvc1`, only the sample entry has the parameter sets; with `hev1`, key frames have them too. Delimiters are
    /// removed.
    @Test func onlyHev1SamplesHaveParameterSets() throws {
        try Files.withTemporaryFolder { folder in
            let packets = Self.packets(try Self.stream(depth: 8, folder))
            #expect(packets.filter(\.isKey).count == 2)
            for entry in HEVCSampleEntry.allCases {
                let path = "\(folder)/a.mp4"
                try Self.write(packets, depth: 8, to: path) { $0.hevcSampleEntry = entry }
                let data = try #require(Self.box("mdat", in: Files.read(path)))
                let found = try? LengthPrefixed.units(in: data.span)
                let units = try #require(found)
                let types = units.map { data[$0.lowerBound] >> 1 & 63 }
                for set in UInt8(32)...34 { #expect(types.filter { $0 == set }.count == (entry == .hev1 ? 2 : 0)) }
                #expect(!types.contains(35) && types.filter { $0 < 32 }.count == 8)
            }
        }
    }

    /// Mastering display, content light and color, as ffprobe reads them and, in MP4, as the boxes store them.
    @Test(arguments: ["mp4", "mov", "mkv"]) func containersCarryHDRMetadata(_ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            // ffprobe prints the decoder's colors if there is a decoder, so the stream has the same.
            let packets = Self.packets(
                try Self.stream(
                    depth: 10, folder, count: 2,
                    options: ":colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:range=limited"))
            let path = "\(folder)/a.\(ending)"
            try Self.write(packets, depth: 10, to: path) {
                $0.color = ColorDescription(primaries: 9, transfer: 16, matrix: 9, fullRange: false)
                $0.masteringDisplay = MasteringDisplay(
                    "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)")
                $0.contentLight = ContentLight(maxContentLight: 1000, maxFrameAverageLight: 400)
            }
            let found = try Self.probe(path, ["-show_streams"]).split(whereSeparator: \.isNewline)
            for line in ["color_space=bt2020nc", "color_transfer=smpte2084", "color_primaries=bt2020", "color_range=tv"] {
                #expect(found.contains(Substring(line)), "\(line)")
            }
            func value(_ name: String) -> Double? {
                guard let line = found.first(where: { $0.hasPrefix("\(name)=") }) else { return nil }
                let parts = line.dropFirst(name.count + 1).split(separator: "/").map { Double($0) ?? .nan }
                return parts.count == 2 ? parts[0] / parts[1] : parts.first
            }
            let expectedValues = [
                "red_x": 0.68, "red_y": 0.32, "green_x": 0.265, "green_y": 0.69, "blue_x": 0.15, "blue_y": 0.06,
                "white_point_x": 0.3127, "white_point_y": 0.329, "max_luminance": 1000, "min_luminance": 0.005,
                "max_content": 1000, "max_average": 400,
            ]
            for (name, expected) in expectedValues {
                #expect(value(name).map { abs($0 - expected) < 1e-6 * max(expected, 1) } == true, "\(name)")
            }
            if ending != "mp4" { return }
            let file = try Files.read(path)
            // The primaries are in the order green, blue, red, then white; the luminances in 0.0001 cd/m².
            #expect(
                Self.box("mdcv", in: file) == [
                    0x33, 0xC2, 0x86, 0xC4, 0x1D, 0x4C, 0x0B, 0xB8, 0x84, 0xD0, 0x3E, 0x80, 0x3D, 0x13, 0x40, 0x42,
                    0x00, 0x98, 0x96, 0x80, 0x00, 0x00, 0x00, 0x32,
                ])
            #expect(Self.box("clli", in: file) == [0x03, 0xE8, 0x01, 0x90])
            #expect(Self.box("colr", in: file) == Array("nclx".utf8) + [0, 9, 0, 16, 0, 9, 0])
        }
    }

    @Test func flashVideoIsRefused() throws {
        let error = failure { try MediaOutput.check("a.flv", holds: .hevc) }
        #expect(error?.category == .usage && error?.message.contains("does not write HEVC into FLV") == true)
        #expect(failure { try MediaOutput.check("rtmp://example/live", holds: .hevc) }?.category == .usage)
        for (name, codec) in [("a.flv", VideoCodec.h264), ("a.mp4", .hevc), ("a.ts", .hevc), ("a.mkv", .hevc)] {
            #expect(failure { try MediaOutput.check(name, holds: codec) } == nil, "\(name)")
        }
    }
}
