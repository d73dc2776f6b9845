import NALUnits
import TestOracles
import Testing
import VideoBase

@testable import MediaFiles

/// Truncated HEVC streams, which libavcodec accepts silently. libx265 makes them.
@Suite struct LastPictureCheckTests {
    private static func stream(_ options: String, format: String = "yuv420p", to path: String) throws {
        let raw = path + ".yuv"
        try Files.write(Fixture.carphone.frames(10).flatMap(\.bytes), to: raw)
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "176x144", "-r", "25", "-i", raw, "-c:v",
                "libx265", "-preset", "ultrafast", "-pix_fmt", format, "-x265-params", "crf=24:scenecut=0:log-level=none:" + options, path,
            ])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Returns the number of pictures before the end or the error.
    private static func read(_ path: String) throws -> (count: Int, error: (category: ErrorCategory, message: String)?) {
        let source = try MediaInput.open(path)
        var count = 0
        let error = failure { while try source.next() != nil { count += 1 } }
        return (count, error)
    }

    /// A complete stream is accepted, however it ends.
    @Test(arguments: [
        ("keyint=5:min-keyint=5:bframes=0", "yuv420p", "h265"), ("keyint=4:open-gop=1:bframes=3", "yuv420p", "h265"),
        ("keyint=50:wpp=1:slices=3:hash=1:aud=1", "yuv420p10le", "hevc"), ("keyint=5:bframes=2", "yuv422p", "h265"),
        ("keyint=4:open-gop=1:bframes=3", "yuv420p", "ts"), ("keyint=1:lossless=1", "yuv444p", "h265"),
        ("keyint=50:intra-refresh=1:bframes=0", "yuv420p", "h265"), ("keyint=4:open-gop=1:bframes=3", "yuv420p10le", "mkv"),
    ])
    func completeStreamsAreAccepted(_ options: String, _ format: String, _ ending: String) throws {
        try Files.withTemporaryFolder { folder in
            try Self.stream(options, format: format, to: "\(folder)/a.\(ending)")
            let read = try Self.read("\(folder)/a.\(ending)")
            #expect(read.count == 10 && read.error == nil, "\(read)")
            guard ending == "h265" else { return }
            // End of sequence, end of bitstream (7.3.2.7, 7.3.2.8).
            try Files.write(Files.read("\(folder)/a.h265") + [0, 0, 1, 0x48, 1, 0, 0, 1, 0x4A, 1], to: "\(folder)/b.h265")
            let ended = try Self.read("\(folder)/b.h265")
            #expect(ended.count == 10 && ended.error == nil, "\(ended)")
        }
    }

    /// If the stream is cut inside one of its last slices, the picture is left out and the error names it. Without its
    /// last two bytes a slice may still have all decoded data; a cut between NAL units of two pictures is no damage.
    @Test(arguments: ["keyint=50:bframes=0", "keyint=5:open-gop=1:bframes=2", "keyint=50:bframes=0:slices=2:wpp=1"])
    func cutStreamsAreDetected(_ options: String) throws {
        try Files.withTemporaryFolder { folder in
            try Self.stream(options, to: "\(folder)/whole.h265")
            let stream = try Files.read("\(folder)/whole.h265")
            let slices = AnnexB.units(in: stream.span).filter { stream[$0.lowerBound] >> 1 & 63 < 32 }
            for slice in slices.suffix(4) {
                let count = slice.count
                for cut in [1, 2, 3, 7, count / 5, count / 2, count * 3 / 4, count - 9, count - 3] where cut > 0 && cut < count - 2 {
                    try Files.write(Array(stream[..<(slice.lowerBound + cut)]), to: "\(folder)/cut.h265")
                    let read = try Self.read("\(folder)/cut.h265")
                    #expect(read.error?.category == .badInput, "\(cut) of \(slice.count) bytes: \(read)")
                    let isSpoken = read.error?.message.contains("damaged or truncated after picture \(read.count)") == true
                    #expect(isSpoken && (5...9).contains(read.count), "\(read)")
                }
            }
        }
    }

    /// The last slice of the picture is missing completely.
    @Test func missingSliceIsDetected() throws {
        try Files.withTemporaryFolder { folder in
            try Self.stream("keyint=50:bframes=0:slices=2", to: "\(folder)/whole.h265")
            let stream = try Files.read("\(folder)/whole.h265")
            let last = try #require(AnnexB.units(in: stream.span).last)
            try Files.write(Array(stream[..<(last.lowerBound - 4)]), to: "\(folder)/cut.h265")
            let read = try Self.read("\(folder)/cut.h265")
            #expect(read.count == 9 && read.error?.category == .badInput, "\(read)")
        }
    }
}
