import NALUnits
import SoftwareEncode
import Synchronization
import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

/// HDR10 and HDR10+ from options to streams and files, and read back from files; judged by ffprobe.
@Suite struct HDRInContainerTests {
    private static let display = MasteringDisplay(
        "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)")
    private static let light = ContentLight(maxContentLight: 1000, maxFrameAverageLight: 400)

    /// Encodes six pictures in two GOPs.
    private static func encode(
        codec: VideoCodec, withDynamic: Bool, to path: String, container: Bool
    ) throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 96, height: 64))
        configuration.codec = codec
        configuration.inputFormat = codec == .hevc ? .p010 : .nv12
        configuration.frameRate = Rational(25)
        configuration.coding.preset = 7
        configuration.structure.gopFrames = 3
        configuration.structure.bFrames = 0
        configuration.display.color = ColorDescription(primaries: 9, transfer: 16, matrix: 9, fullRange: false)
        configuration.display.masteringDisplay = display
        configuration.display.contentLight = light
        let packets = Mutex<[EncodedPacket]>([])
        let encoder = try SoftwareEncoder(configuration: configuration) { result in
            if let packet = try? result.get() { packets.withLock { $0.append(packet) } }
        }
        defer { encoder.invalidate() }
        try encoder.prepare()
        let source = try MediaInput.open("testsrc:96x64@25:6")
        for number in 0..<6 {
            let buffer = try encoder.makePixelBuffer()
            let timing = try unsafe buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
            var options = FrameOptions()
            if withDynamic { options.dynamicHDR = HDR10Plus.message(number) }
            try encoder.encode(buffer, timing: #require(timing), options: options)
        }
        try encoder.completeFrames(until: nil)
        var options = SinkOptions()
        options.color = configuration.display.color
        if container {
            options.masteringDisplay = display
            options.contentLight = light
        }
        let sink = try MediaOutput.open(path, options: options)
        try sink.start(encoder.encoderDescription)
        for packet in packets.withLock({ $0 }) { try sink.write(packet) }
        try sink.finish()
    }

    private static func frames(_ path: String) throws -> [Substring] {
        let result = try ProcessRunner.run("ffprobe", ["-v", "warning", "-show_frames", "-select_streams", "v", path])
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        return result.output.split(separator: "[FRAME]").map { $0 }
    }

    /// Each key frame of the stream has the metadata. Files are read back the same, with and without the container's
    /// own metadata.
    @Test(arguments: [("a.h265", false), ("a.ts", false), ("a.mp4", false), ("a.mp4", true), ("a.mkv", true)])
    func staticMetadataIsReadBack(_ name: String, _ container: Bool) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/\(name)"
            try Self.encode(codec: .hevc, withDynamic: false, to: path, container: container)
            let frames = try Self.frames(path)
            #expect(frames.count == 6)
            for index in [0, 3] {
                for line in [
                    "red_x=34000/50000", "red_y=16000/50000", "green_x=13250/50000", "green_y=34500/50000",
                    "blue_x=7500/50000", "blue_y=3000/50000", "white_point_x=15635/50000", "white_point_y=16450/50000",
                    "min_luminance=50/10000", "max_luminance=10000000/10000", "max_content=1000", "max_average=400",
                    "color_primaries=bt2020", "color_transfer=smpte2084", "color_space=bt2020nc",
                ] {
                    #expect(frames[index].contains("\(line)\n"), "\(index) \(line)")
                }
            }
            let source = try MediaInput.open(path)
            #expect(source.info.masteringDisplay == Self.display)
            #expect(source.info.contentLight == Self.light)
            #expect(source.info.color.primaries == 9 && source.info.color.transfer == 16 && source.info.color.matrix == 9)
            #expect(source.info.bitDepth == 10)
            // The first picture was inspected before, and is still returned.
            #expect(try source.all(.p010).count == 6)
        }
    }

    @Test func h264CarriesStaticMetadata() throws {
        try Files.withTemporaryFolder { folder in
            try Self.encode(codec: .h264, withDynamic: false, to: "\(folder)/a.h264", container: false)
            // FFmpeg's H.264 decoder does not read it before version 6.1, but trace_headers does.
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "verbose", "-i", "\(folder)/a.h264", "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-",
                ])
            let lines = result.errors.split(whereSeparator: \.isNewline)
            for (field, value) in [
                ("max_display_mastering_luminance", "10000000"), ("white_point_x", "15635"),
                ("max_content_light_level", "1000"), ("max_pic_average_light_level", "400"),
            ] {
                let found = lines.filter { $0.contains(" \(field) ") }
                // The two key frames have the messages.
                #expect(found.count == 2 && found.allSatisfy { $0.hasSuffix("= \(value)") }, "\(field)")
            }
        }
    }

    /// HDR10+ of each picture is bit-exact after FFmpeg has read it.
    @Test func dynamicMetadataIsReadBack() throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.mp4"
            try Self.encode(codec: .hevc, withDynamic: true, to: path, container: true)
            let frames = try Self.frames(path)
            for (number, frame) in frames.enumerated() {
                #expect(frame.contains("SMPTE2094-40"), "\(number)")
                #expect(frame.contains("maxscl=\(10_000 + number)/100000\n"), "\(number)")
            }
            let source = try MediaInput.open(path)
            let picture = PaddedPicture(.p010, source.info.size, padding: 0)
            for number in 0..<6 {
                #expect(try picture.read(source) != nil)
                #expect(source.dynamicHDR == HDR10Plus.message(number), "\(number)")
            }
        }
    }

    /// The file has no metadata, with 8 bits or 10.
    @Test func plainFilesHaveNoMetadata() throws {
        try Files.withTemporaryFolder { folder in
            for format in ["yuv420p", "yuv420p10le"] {
                let path = "\(folder)/\(format).mkv"
                let setup = try ProcessRunner.run(
                    "ffmpeg",
                    ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.2", "-c:v", "ffv1", "-pix_fmt", format, path])
                #expect(setup.status == 0)
                let source = try MediaInput.open(path)
                #expect(source.info.masteringDisplay == nil && source.info.contentLight == nil)
                #expect(try source.all().count == 5 && source.dynamicHDR == [])
            }
        }
    }

    @Test func otherDataIsNotDynamicMetadata() {
        var options = FrameOptions()
        options.dynamicHDR = [0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34]
        let size = VideoSize(width: 16, height: 16)
        #expect(failure { try options.check(size) }?.category == .usage)
        options.dynamicHDR = HDR10Plus.message(0)
        #expect(failure { try options.check(size) } == nil)
    }
}
