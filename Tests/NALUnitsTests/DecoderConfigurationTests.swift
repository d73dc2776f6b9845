import NALUnits
import TestOracles
import Testing
import VideoBase

/// Reads avcC and hvcC records that FFmpeg wrote, and writes them again.
@Suite struct DecoderConfigurationTests {
    /// Returns the record of a file's video as ffprobe shows it.
    private func record(_ file: String) throws -> [UInt8] {
        let shown = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", "v", "-show_streams", "-show_data", "-of", "json", file])
        let text = try #require(JSONValue(shown.output)?["streams"]?.array.first?["extradata"]?.string)
        // Each line has an offset, up to eight groups of two bytes, two spaces and the characters.
        return text.split(separator: "\n").flatMap { line -> [UInt8] in
            let groups = line.drop { $0 != ":" }.dropFirst().prefix(40).filter { $0 != " " }
            return stride(from: 0, to: groups.count - 1, by: 2).compactMap {
                UInt8(String(groups.dropFirst($0).prefix(2)), radix: 16)
            }
        }
    }

    @Test(arguments: Fixture.allCases) func clipRecordsAreRewrittenUnchanged(_ clip: Fixture) throws {
        let bytes = try record(clip.path())
        let read = try DecoderConfiguration(record: bytes)
        #expect(read.codec == .h264)
        #expect(read.lengthSize == .four)
        #expect(read.profile == (clip == .bigBuckBunny ? 77 : 100))
        #expect(read.units.map { $0[0] & 31 } == [7, 8])
        // These records lack the fields of the High profiles because they are older.
        #expect(read.bitDepthLuma == nil)
        let fields: [UInt8] = clip == .bigBuckBunny ? [] : [0xFD, 0xF8, 0xF8, 0]
        #expect(AVCDecoderConfigurationRecord(parameterSets: read.units)?.bytes == bytes + fields)
        try expectCutsAreRefused(bytes, mayEndEarly: 0)
    }

    /// Records of 4:2:2 and 10 bits name the chroma format and the bit depth.
    @Test(arguments: [("libx264", "yuv422p10le", 122, 2, 10), ("libx264", "yuv420p10le", 110, 1, 10)])
    func tenBitRecordsAreRewrittenUnchanged(_ encoder: String, _ format: String, _ profile: Int, _ chroma: Int, _ depth: Int) throws {
        try Files.withTemporaryFolder { folder in
            let bytes = try record(makeFile(encoder, format, in: folder))
            let read = try DecoderConfiguration(record: bytes, codec: .h264)
            #expect([read.profile, read.chromaFormat, read.bitDepthLuma, read.bitDepthChroma] == [profile, chroma, depth, depth])
            #expect(AVCDecoderConfigurationRecord(parameterSets: read.units)?.bytes == bytes)
            try expectCutsAreRefused(bytes, mayEndEarly: 4)
        }
    }

    @Test(arguments: [("yuv420p", 1, 8), ("yuv420p10le", 2, 10)])
    func hevcRecordsAreRead(_ format: String, _ profile: Int, _ depth: Int) throws {
        try Files.withTemporaryFolder { folder in
            let bytes = try record(makeFile("libx265", format, in: folder))
            let read = try DecoderConfiguration(record: bytes)
            #expect(read.codec == .hevc)
            #expect(read.lengthSize == .four)
            #expect([read.profile, read.chromaFormat, read.bitDepthLuma, read.bitDepthChroma] == [profile, 1, depth, depth])
            #expect(read.units.prefix(3).map { $0[0] >> 1 } == [32, 33, 34])
            let own = try #require(HEVCDecoderConfigurationRecord(parameterSets: read.units, isComplete: read.isComplete))
            let again = try DecoderConfiguration(record: own.bytes)
            #expect([again.profile, again.level, again.bitDepthLuma] == [read.profile, read.level, read.bitDepthLuma])
            #expect(again.units == Array(read.units.prefix(3)))
            // Both writers agree on the SPS and on lengths; avgFrameRate and segmentation are up to the writer.
            #expect(own.bytes[..<13] == bytes[..<13])
            #expect(own.bytes[16...18] == bytes[16...18] && own.bytes[21] == bytes[21])
            try expectCutsAreRefused(bytes, mayEndEarly: 0)
        }
    }

    @Test func lengthSizesAreReadAndBadRecordsRefused() throws {
        let sps: [UInt8] = [0x67, 66, 0xC0, 30]
        for size in LengthSize.allCases {
            var avc = try #require(AVCDecoderConfigurationRecord(parameterSets: [sps, [0x68, 0xEE]]))
            avc.lengthSize = size
            #expect(try DecoderConfiguration(record: avc.bytes).lengthSize == size)
        }
        let bad: [([UInt8], Int)] = [
            ([1, 66, 0xC0, 30, 0xFE, 0xE0, 0], 4), ([2, 66, 0xC0, 30, 0xFF, 0xE0, 0], 0),
            ([1, 66, 0xC0, 30, 0xFF, 0xE1, 0, 2, 0x68, 1, 0], 8), ([1, 66, 0xC0, 30, 0xFF, 0xE1, 0, 0, 0], 8),
        ]
        for (bytes, offset) in bad {
            do {
                _ = try DecoderConfiguration(record: bytes, codec: .h264)
                Issue.record("\(bytes) was taken")
            } catch {
                #expect(error.offset == offset, "\(error)")
            }
        }
        // avc3: the record has no parameter sets.
        #expect(try DecoderConfiguration(record: [1, 66, 0xC0, 30, 0xFF, 0xE0, 0]).units.isEmpty)
    }

    /// Returns the path of a short file of a few pictures.
    private func makeFile(_ encoder: String, _ format: String, in folder: String) throws -> String {
        let file = folder + "/clip.mp4"
        let run = try ProcessRunner.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc=s=64x64:d=0.2", "-c:v", encoder, "-pix_fmt", format,
                "-x265-params", "log-level=none", file,
            ])
        try #require(run.status == 0, "\(run.errors)")
        return file
    }

    /// - Parameter mayEndEarly: the number of bytes at the end that a record may lack.
    private func expectCutsAreRefused(_ record: [UInt8], mayEndEarly: Int) throws {
        let codec = try DecoderConfiguration(record: record).codec
        for count in 0..<record.count - mayEndEarly {
            #expect(throws: MalformedStream.self, "\(count)") {
                try DecoderConfiguration(record: Array(record[..<count]), codec: codec)
            }
        }
    }
}
