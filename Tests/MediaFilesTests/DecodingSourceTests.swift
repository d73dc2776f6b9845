import Glibc
import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

@Suite struct DecodingSourceTests {
    /// The clip's pictures equal ffmpeg's raw ones, as I420 and as NV12, at their times.
    @Test(arguments: [Fixture.carphone, .bikes])
    func decodedPicturesMatchFFmpeg(_ clip: Fixture) throws {
        let source = try MediaInput.open(clip.path())
        #expect(source.info.size == VideoSize(width: clip.width, height: clip.height))
        #expect(source.info.frameCount == clip.frameCount)
        let expected = try clip.frames(30)
        let semi = try MediaInput.open(clip.path())
        let rate = source.info.frameRate
        for (index, frame) in expected.enumerated() {
            let planar = try #require(try source.next(.i420))
            let isSame = planar.bytes == frame.bytes
            #expect(isSame, "\(index)")
            let isSameInNV12 = try semi.next(.nv12)?.bytes == frame.nv12
            #expect(isSameInNV12, "\(index)")
            let time = Double(index) / rate.value
            #expect(abs(planar.timing.presentation.seconds - time) < 0.0005, "\(index)")
        }
    }

    @Test func everyPictureIsReturned() throws {
        for clip in Fixture.allCases {
            let source = try MediaInput.open(clip.path())
            var count = 0
            var last = -1.0
            let picture = PaddedPicture(.nv12, source.info.size, padding: 0)
            while let timing = try picture.read(source) {
                #expect(timing.presentation.seconds > last)
                last = timing.presentation.seconds
                count += 1
            }
            #expect(count == clip.frameCount)
            #expect(try picture.read(source) == nil)
        }
    }

    @Test func startDurationAndLimitAreApplied() throws {
        let all = try MediaInput.open(Fixture.bikes.path()).all(.nv12)
        var options = SourceOptions()
        options.start = .milliseconds(3200)
        options.duration = .milliseconds(400)
        let part = try MediaInput.open(Fixture.bikes.path(), options: options).all(.nv12)
        let isPart = part.map(\.bytes) == all[80..<90].map(\.bytes)
        #expect(isPart)
        #expect(part.first?.timing.presentation == .zero)
        options.duration = nil
        options.frameLimit = 3
        let source = try MediaInput.open(Fixture.bikes.path(), options: options)
        #expect(source.info.frameCount == 3)
        let isLimited = try source.all(.nv12).map(\.bytes) == all[80..<83].map(\.bytes)
        #expect(isLimited)
        options.start = .seconds(1000)
        #expect(try MediaInput.open(Fixture.bikes.path(), options: options).all(.nv12).isEmpty)
    }

    /// Sound ends with pictures that a limit has cut, and otherwise with the input.
    @Test func soundEndsWithTheRequestedPart() throws {
        func end(_ change: (inout SourceOptions) -> Void, pictures: Int, _ seconds: Double) throws -> Double? {
            var options = SourceOptions()
            change(&options)
            let info = try MediaInput.open(Fixture.bigBuckBunny.path(), options: options).info
            return info.endOfSound(pictures: pictures, end: MediaTime(value: Int64(seconds * 1000), timescale: 1000))?.seconds
        }
        #expect(try end({ _ in }, pictures: 132, 5.28) == nil)
        #expect(try end({ $0.duration = .seconds(2) }, pictures: 50, 2) == 2)
        // The pictures end before the requested part.
        #expect(try end({ $0.duration = .seconds(9) }, pictures: 132, 5.28) == 9)
        #expect(try end({ $0.frameLimit = 10 }, pictures: 10, 0.4) == 0.4)
        #expect(try end({ $0.frameLimit = 200 }, pictures: 132, 5.28) == nil)
    }

    /// A requested frame rate replaces the file's times.
    @Test func requestedRateReplacesTheTimes() throws {
        var options = SourceOptions()
        options.frameRate = Rational(50)
        options.frameLimit = 3
        let frames = try MediaInput.open(Fixture.carphone.path(), options: options).all()
        #expect(frames.map(\.timing.presentation) == (0..<3).map { MediaTime(value: $0, timescale: 50) })
    }

    @Test func varyingFrameRateIsKept() throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/vfr.mkv"
            try ffmpeg(
                [
                    "-i", Fixture.carphone.path(), "-frames:v", "8", "-vf", "settb=1/1000,setpts=N*N*0.01/TB",
                    "-fps_mode", "passthrough", "-enc_time_base", "1/1000", "-c:v", "libx264", "-bf", "2", path,
                ])
            let times = try MediaInput.open(path).all().map(\.timing.presentation.seconds)
            #expect(times.count == 8)
            for (index, time) in times.enumerated() { #expect(abs(time - Double(index * index) * 0.01) < 0.0015) }
        }
    }

    /// All containers with the same stream have the same pictures.
    @Test func picturesAreEqualInEveryContainer() throws {
        try Files.withTemporaryFolder { folder in
            let expected = try MediaInput.open(Fixture.carphone.path()).all().map(\.bytes)
            for name in ["a.mkv", "a.mov", "a.avi", "a.ts"] {
                try ffmpeg(["-i", Fixture.carphone.path(), "-an", "-c", "copy", "\(folder)/\(name)"])
                let source = try MediaInput.open("\(folder)/\(name)")
                let isSame = try source.all().map(\.bytes) == expected
                #expect(isSame, "\(name)")
            }
        }
    }

    @Test func colorAndAspectAreRead() throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/c.mp4"
            try ffmpeg(
                [
                    "-i", Fixture.carphone.path(), "-frames:v", "2", "-vf",
                    "setsar=12/11,setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=pc",
                    "-c:v", "libx264", path,
                ])
            let info = try MediaInput.open(path).info
            #expect(info.color == ColorDescription(primaries: 1, transfer: 1, matrix: 1, fullRange: true))
            #expect(info.sampleAspectRatio == Rational(12, 11))
        }
    }

    // MARK: Bad input

    @Test func badInputsAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            let bikes = try Files.read(Fixture.bikes.path())
            try Files.write([], to: "\(folder)/empty.mp4")
            try Files.write(Array("no video here\n".utf8), to: "\(folder)/text.mp4")
            try Files.write(Array(String(repeating: "no video here\n", count: 500).utf8), to: "\(folder)/text.txt")
            try Files.write(noise(50_000), to: "\(folder)/noise.mp4")
            // The index is at the end: without it the file cannot be read.
            try Files.write(Array(bikes[..<200_000]), to: "\(folder)/cut.mp4")
            try ffmpeg(["-f", "lavfi", "-i", "sine=d=0.5", "\(folder)/sound.mp4"])
            for name in ["empty.mp4", "text.mp4", "text.txt", "noise.mp4", "cut.mp4", "sound.mp4", "."] {
                let error = failure { try MediaInput.open("\(folder)/\(name)").all() }
                #expect(error?.category == .badInput, "\(name): \(error?.message ?? "no error")")
                #expect(error?.message.contains(name) == true)
                #expect(error?.message.contains("\n") == false)
            }
            #expect(failure { try MediaInput.open("\(folder)/none.mp4") }?.category == .noInput)
            #expect(failure { try MediaInput.open("\(folder)/text.txt/x.mp4") }?.category == .noInput)
            #expect(failure { try MediaInput.open("https://example.com/x.mp4") }?.category == .unavailable)
            #expect(SystemError.input(EACCES, "x").category == .noPermission)
        }
    }

    /// The MP4 has its index first. The complete pictures are returned, then the error.
    @Test func truncatedMP4EndsWithAnError() throws {
        try Files.withTemporaryFolder { folder in
            let whole = "\(folder)/whole.mp4"
            try ffmpeg(["-i", Fixture.bikes.path(), "-an", "-c", "copy", "-movflags", "+faststart", whole])
            try Files.write(Array(Files.read(whole)[..<200_000]), to: "\(folder)/cut.mp4")
            let expected = try MediaInput.open(whole).all(.nv12)
            let source = try MediaInput.open("\(folder)/cut.mp4")
            var given: [(bytes: [UInt8], timing: FrameTiming)] = []
            let error = failure { while let frame = try source.next(.nv12) { given.append(frame) } }
            #expect(error?.category == .badInput)
            #expect(given.count > 50 && given.count < 200)
            // There may be a gap before the last pictures: pictures that were coded after them.
            let wrong = given.filter { frame in
                expected.first { $0.timing.presentation == frame.timing.presentation }?.bytes != frame.bytes
            }
            #expect(wrong.count == 0)
        }
    }

    @Test func cancelEndsReading() throws {
        for input in [try Fixture.carphone.path(), "testsrc:64x64@25:100"] {
            let source = try MediaInput.open(input)
            #expect(try source.next() != nil)
            source.cancel()
            #expect(failure { try source.all() }?.category == .interrupted)
            source.close()
            source.close()
        }
    }

    @Test(.timeLimit(.minutes(60))) func cancelWakesAReadFromAPipe() throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/pipe"
            try #require(unsafe mkfifo(path, 0o600) == 0)
            // The pipe is open for reading and writing: a read finds neither bytes nor the end.
            let writer = unsafe open(path, O_RDWR)
            defer { close(writer) }
            let reader = try ByteReader(path: path)
            // The status of a thread begins with its number.
            let number = String(decoding: try Files.read("/proc/thread-self/stat"), as: UTF8.self).prefix { $0 != " " }
            let thread = Canceller(reader, of: String(number))
            #expect(failure { try reader.read(10) }?.category == .interrupted)
            withExtendedLifetime(thread) {}
        }
    }
}

/// Cancels the reader of a thread when that thread sleeps, from another thread.
private final class Canceller {
    init(_ reader: ByteReader, of thread: String) {
        Task.detached {
            while try !String(decoding: Files.read("/proc/self/task/\(thread)/status"), as: UTF8.self).contains("State:\tS") {
                try await Task.sleep(for: .milliseconds(1))
            }
            reader.cancel()
        }
    }
}
