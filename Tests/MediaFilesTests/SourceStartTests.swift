import TestOracles
import Testing
import VideoBase

@testable import MediaFiles

/// Reading from a start time, and streams that begin between key frames. ffmpeg writes the files.
@Suite struct SourceStartTests {
    private static let codecs = [
        ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "8"],
        ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "keyint=8:min-keyint=8:open-gop=0:bframes=2:scenecut=0:log-level=none"],
        ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "keyint=8:min-keyint=8:open-gop=1:bframes=2:scenecut=0:log-level=none"],
    ]

    private static func write(_ codec: [String], to path: String) throws {
        try ffmpeg(["-f", "lavfi", "-i", "testsrc2=s=96x80:r=25:d=1.2"] + codec + [path])
    }

    /// From any start, the pictures equal the rest of the whole file, even if the container has no index of key frames.
    @Test(arguments: ["mp4", "mkv", "ts", "bare"], [0, 1, 2])
    func startSelectsTheExactPicture(_ container: String, _ codec: Int) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.\(container == "bare" ? codec == 0 ? "h264" : "h265" : container)"
            try Self.write(Self.codecs[codec], to: path)
            let all = try MediaInput.open(path).all(.nv12).map(\.bytes)
            #expect(all.count == 30)
            for frame in [1, 7, 8, 11, 20, 29] {
                var options = SourceOptions()
                options.start = .milliseconds(frame * 40)
                let source = try MediaInput.open(path, options: options)
                let part = try source.all(.nv12)
                let isTail = part.map(\.bytes) == Array(all[frame...])
                #expect(isTail, "from \(frame): \(part.count) pictures")
                #expect(part.first?.timing.presentation == .zero)
                #expect(source.picturesLeftOut == 0)
            }
        }
    }

    /// A stream that is joined between key frames: the pictures before the first key frame are left out and counted,
    /// and the rest is complete.
    @Test(arguments: [0, 1]) func picturesBeforeTheFirstKeyFrameAreLeftOut(_ codec: Int) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/whole.ts"
            try Self.write(Self.codecs[codec], to: path)
            let all = try MediaInput.open(path).all(.nv12).map(\.bytes)
            // Starts at the packets of a later picture.
            let bytes = try Files.read(path)
            let packets = bytes.count / 188
            let starts = (0..<packets).filter { packet in
                let header = bytes[packet * 188..<packet * 188 + 4]
                return header[packet * 188 + 1] & 0x5F == 0x41 && header[packet * 188 + 2] == 0
            }
            try #require(starts.count == 30)
            let tables = Array(bytes[..<(starts[0] * 188)])
            let joined = "\(folder)/joined.ts"
            for first in [1, 5, 7] {
                try Files.write(tables + bytes[(starts[first] * 188)...], to: joined)
                let source = try MediaInput.open(joined)
                let part = try source.all(.nv12).map(\.bytes)
                let isTail = part == Array(all[8...])
                #expect(isTail, "from packet \(first): \(part.count) pictures")
                #expect(source.picturesLeftOut == 8 - first)
            }
        }
    }
}
