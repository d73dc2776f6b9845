import Glibc
import TestOracles
import Testing
import VideoBase

@testable import MediaFiles

/// Inputs that are truncated while they are read: an error, never an early end.
@Suite struct CutInputTests {
    /// - Parameter whole: The number of pictures of an input that libavformat may have read completely when it was
    ///   opened.
    private func expectCut(_ source: any FrameSource, _ path: String, readFirst: Int, to length: Int, whole: Int? = nil) throws {
        let picture = PaddedPicture(.nv12, source.info.size)
        for _ in 0..<readFirst { #expect(try picture.read(source) != nil) }
        try #require(unsafe truncate(path, length) == 0)
        var count = readFirst
        let error = failure { while try picture.read(source) != nil { count += 1 } }
        if error == nil, let whole {
            #expect(count == whole, "\(path) cut to \(length)")
        } else {
            #expect(error?.category == .badInput, "\(path) cut to \(length): \(error?.message ?? "ended well")")
        }
    }

    @Test(arguments: [0, 1, 5000]) func truncatedRawInputIsAnError(length: Int) throws {
        try Files.withTemporaryFolder { folder in
            var options = SourceOptions()
            options.inputSize = VideoSize(width: 64, height: 48)
            options.inputFormat = .i420
            let bytes = PixelFormat.i420.frameBytes(VideoSize(width: 64, height: 48))
            for read in [0, 3] {
                let path = "\(folder)/\(read).yuv"
                try Files.write(noise(bytes * 40), to: path)
                try expectCut(try MediaInput.open(path, options: options), path, readFirst: read, to: length)
            }
        }
    }

    /// Containers and bare streams are read ahead, so the clip is too large to be read at once.
    @Test(arguments: ["mp4", "mkv", "ts", "h264", "y4m"]) func truncatedCodedInputIsAnError(ending: String) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.\(ending)"
            let coding = ending == "y4m" ? [] : ["-c:v", "libx264", "-qp", "4", "-preset", "ultrafast", "-movflags", "+faststart"]
            let setup = try ProcessRunner.run(
                "ffmpeg", ["-v", "error", "-i", Fixture.bikes.path(), "-an", "-frames:v", "60", "-pix_fmt", "yuv420p"] + coding + [path])
            #expect(setup.status == 0, "\(setup.errors)")
            for length in [0, 1000] {
                let copy = "\(folder)/\(length).\(ending)"
                try Files.write(try Files.read(path), to: copy)
                // A bare stream has no index: libavformat looks at up to 5 MB of it first.
                try expectCut(
                    try MediaInput.open(copy, options: SourceOptions()), copy, readFirst: 1, to: length, whole: ending == "h264" ? 60 : nil)
            }
        }
    }
}
