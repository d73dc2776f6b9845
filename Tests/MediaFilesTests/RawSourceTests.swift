import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

@Suite struct RawSourceTests {
    private func source(
        _ bytes: [UInt8], _ folder: String, _ format: PixelFormat, _ size: VideoSize,
        _ change: (inout SourceOptions) -> Void = { _ in }
    ) throws -> any FrameSource {
        let path = "\(folder)/in.raw"
        try Files.write(bytes, to: path)
        var options = SourceOptions()
        options.inputSize = size
        options.inputFormat = format
        change(&options)
        return try MediaInput.open(path, options: options)
    }

    /// Planes of another size are refused, and the next call returns the picture.
    @Test(arguments: ["raw", "testsrc", "carphone"]) func planesOfAnotherSizeAreRefused(_ kind: String) throws {
        try Files.withTemporaryFolder { folder in
            let size = VideoSize(width: 16, height: 8)
            let input: any FrameSource =
                switch kind {
                case "raw": try source(noise(PixelFormat.nv12.frameBytes(size) * 2, seed: 1), folder, .nv12, size)
                case "testsrc": try MediaInput.open("testsrc:16x8@30:2")
                default: try MediaInput.open(Fixture.carphone.path())
                }
            for wrong in [VideoSize(width: 8, height: 8), VideoSize(width: 1000, height: 1000)] {
                let error = failure { try PaddedPicture(.nv12, wrong).read(input) }
                let words = ["\(wrong)", "\(input.info.size)", "use planes"]
                #expect(error?.category == .usage && words.allSatisfy { error?.message.contains($0) == true }, "\(error as Any)")
            }
            // SAFETY: the planes have no memory, so none is accessed.
            let empty = unsafe PixelPlanes(
                format: .nv12, size: input.info.size, allocatedSize: input.info.size, bases: (nil, nil, nil), pitches: (1024, 1024, 0))
            #expect(failure { _ = try unsafe input.readFrame(into: empty) }?.category == .usage)
            #expect(try PaddedPicture(.nv12, input.info.size).read(input) != nil)
        }
    }

    /// Every small size, also odd ones, is read into padded rows without touching the padding. 35 columns reach the
    /// vector loops and the scalar code for the remaining columns.
    @Test func planarIsReadAsSemiPlanarAtEverySize() throws {
        try Files.withTemporaryFolder { folder in
            for width in 1...35 {
                for height in [1, 2, 3, 6] {
                    let size = VideoSize(width: width, height: height)
                    let raw = noise(PixelFormat.i420.frameBytes(size) * 2, seed: UInt64(width * 64 + height))
                    for padding in [0, 13] {
                        let input = try source(raw, folder, .i420, size)
                        let picture = PaddedPicture(.nv12, size, padding: padding)
                        for index in 0..<2 {
                            let timing = try picture.read(input)
                            let frame = Array(raw[(index * raw.count / 2)..<((index + 1) * raw.count / 2)])
                            #expect(picture.packed == semiPlanar(frame, size), "\(size)")
                            #expect(picture.isIntactAround, "\(size)")
                            #expect(timing?.presentation == MediaTime(value: Int64(index), timescale: 30))
                        }
                        #expect(try picture.read(input) == nil)
                    }
                }
            }
        }
    }

    /// If input and output have the same format, the bytes are unchanged.
    @Test func everyFormatPassesUnchanged() throws {
        try Files.withTemporaryFolder { folder in
            for format in PixelFormat.allCases {
                for size in [VideoSize(width: 16, height: 8), VideoSize(width: 33, height: 7)] {
                    let raw = noise(format.frameBytes(size))
                    let input = try source(raw, folder, format, size)
                    #expect(input.info.frameCount == 1)
                    let picture = PaddedPicture(format, size)
                    #expect(try picture.read(input) != nil)
                    #expect(picture.packed == raw, "\(format) \(size)")
                    #expect(picture.isIntactAround, "\(format) \(size)")
                }
            }
        }
    }

    @Test func yv12ChromaIsReordered() throws {
        try Files.withTemporaryFolder { folder in
            let size = VideoSize(width: 4, height: 2)
            let input = try source(Array(0..<12), folder, .yv12, size)
            // V 8 9, U 10 11.
            #expect(try input.next(.nv12)?.bytes == [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 11, 9])
        }
    }

    @Test func partialFrameErrorNamesBothSizes() throws {
        try Files.withTemporaryFolder { folder in
            let error = failure { try source(noise(1000), folder, .i420, VideoSize(width: 16, height: 16)) }
            #expect(error?.category == .badInput)
            #expect(error?.message.contains("1000") == true)
            #expect(error?.message.contains("384") == true)
            #expect(failure { try source([], folder, .i420, VideoSize(width: 16, height: 16)) }?.category == .badInput)
        }
    }

    @Test func rawNeedsASize() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write(noise(384), to: "\(folder)/x.yuv")
            #expect(failure { try MediaInput.open("\(folder)/x.yuv") }?.category == .usage)
        }
    }

    @Test func startDurationAndLimitAreApplied() throws {
        try Files.withTemporaryFolder { folder in
            let size = VideoSize(width: 4, height: 2)
            let raw = (0..<10).flatMap { [UInt8](repeating: $0, count: 12) }
            func firsts(_ change: (inout SourceOptions) -> Void) throws -> [UInt8] {
                let input = try source(raw, folder, .i420, size, change)
                let frames = try input.all()
                #expect(input.info.frameCount == frames.count)
                #expect(frames.first?.timing.presentation ?? .zero == .zero)
                return frames.map { $0.bytes[0] }
            }
            let limited = try firsts { $0.frameLimit = 3 }
            #expect(limited == [0, 1, 2])
            let late = try firsts {
                $0.frameRate = Rational(10); $0.start = .milliseconds(500)
            }
            #expect(late == [5, 6, 7, 8, 9])
            let middle = try firsts {
                $0.frameRate = Rational(10); $0.start = .milliseconds(500); $0.duration = .milliseconds(300)
            }
            #expect(middle == [5, 6, 7])
            let nothing = try firsts {
                $0.frameRate = Rational(10); $0.start = .seconds(5)
            }
            #expect(nothing == [])
        }
    }

    /// A picture of one color keeps that color in each format.
    @Test func conversionKeepsGray() throws {
        try Files.withTemporaryFolder { folder in
            let size = VideoSize(width: 32, height: 16)
            let gray: [(PixelFormat, [UInt8])] = [
                (.yuyv, [100, 128]), (.uyvy, [128, 100]), (.i422, [100]), (.i444, [100]), (.gray, [100]),
            ]
            for (format, pattern) in gray {
                var raw = (0..<format.frameBytes(size)).map { pattern[$0 % pattern.count] }
                if format.planeCount == 3 { for index in 512..<raw.count { raw[index] = 128 } }
                let bytes = try source(raw, folder, format, size).next(.nv12)?.bytes ?? []
                #expect(bytes[..<512].allSatisfy { $0 == 100 }, "\(format)")
                #expect(bytes[512...].allSatisfy { $0 == 128 }, "\(format)")
            }
        }
    }

    /// In limited range, white of RGB is 235 and black is 16.
    @Test func conversionFromRGBIsLimitedRange() throws {
        try Files.withTemporaryFolder { folder in
            let size = VideoSize(width: 16, height: 16)
            for format in [PixelFormat.rgb24, .bgra, .rgba] {
                for (level, luma) in [(UInt8(255), UInt8(235)), (0, 16)] {
                    let raw = [UInt8](repeating: level, count: format.frameBytes(size))
                    let bytes = try source(raw, folder, format, size).next(.nv12)?.bytes ?? []
                    #expect(bytes[..<256].allSatisfy { abs(Int($0) - Int(luma)) <= 1 }, "\(format) \(bytes[0])")
                    #expect(bytes[256...].allSatisfy { abs(Int($0) - 128) <= 1 }, "\(format)")
                }
            }
        }
    }

    @Test func tenBitsAreReducedToEight() throws {
        try Files.withTemporaryFolder { folder in
            let size = VideoSize(width: 16, height: 16)
            // 400 of 1023 is 100 of 255. P010 stores it in the high bits.
            let low: [UInt8] = [0x90, 0x01], high: [UInt8] = [0x00, 0x64]
            for (format, word) in [(PixelFormat.i420p10, low), (.p010, high)] {
                let raw = (0..<format.frameBytes(size)).map { word[$0 % 2] }
                let bytes = try source(raw, folder, format, size).next(.nv12)?.bytes ?? []
                #expect(bytes.allSatisfy { $0 == 100 }, "\(format) \(bytes.prefix(4))")
            }
        }
    }
}
