import TestOracles
import Testing
import VideoBase

@testable import MediaFiles

/// Pictures of 8 and 10 bits, converted, read and measured.
@Suite struct SampleDepthTests {
    private static let shallow: [PixelFormat] = [.nv12, .i420, .yv12]
    private static let deep: [PixelFormat] = [.p010, .i420p10]

    /// Returns a raw picture of planar samples Y, Cb, Cr in a pixel format, by the simplest code.
    private static func raw(_ planar: [UInt16], _ format: PixelFormat, _ size: VideoSize) -> [UInt8] {
        let luma = size.width * size.height, chroma = (planar.count - luma) / 2
        var order = Array(0..<luma)
        for index in 0..<chroma {
            if format == .nv12 || format == .p010 { order += [luma + index, luma + chroma + index] }
        }
        if order.count == luma {
            let (first, second) = format == .yv12 ? (luma + chroma, luma) : (luma, luma + chroma)
            order += Array(first..<first + chroma) + Array(second..<second + chroma)
        }
        return order.flatMap { index -> [UInt8] in
            let sample = format == .p010 ? planar[index] << 6 : planar[index]
            return format.bitDepth == 8 ? [UInt8(sample)] : [UInt8(sample & 0xFF), UInt8(sample >> 8)]
        }
    }

    private static func converted(
        _ planar: [UInt16], _ from: PixelFormat, _ to: PixelFormat, _ size: VideoSize, fullRange: Bool?
    ) throws -> [UInt8] {
        let source = PaddedPicture(from, size, padding: from.bitDepth == 8 ? 13 : 14)
        let target = PaddedPicture(to, size, padding: to.bitDepth == 8 ? 13 : 14)
        source.fill(raw(planar, from, size))
        let converter = PixelConverter(color: ColorDescription(fullRange: fullRange))
        try unsafe source.with { a in try unsafe target.with { unsafe try converter.convert(a, to: $0) } }
        #expect(target.isIntactAround)
        return target.packed
    }

    /// Every value, in every pair of formats, at sizes that are no multiple of a vector.
    @Test func samplesAreScaledByFour() throws {
        let size = VideoSize(width: 37, height: 29)
        let count = 37 * 29 + 2 * 19 * 15
        let bytes = (0..<count).map { UInt16($0 * 7 % 256) }
        let words = (0..<count).map { UInt16($0 * 7 % 1024) }
        #expect(Set(bytes.prefix(37 * 29)).count == 256 && Set(words.prefix(37 * 29)).count == 1024)
        for shallow in Self.shallow {
            for deep in Self.deep {
                let wide = try Self.converted(bytes, shallow, deep, size, fullRange: nil)
                #expect(wide == Self.raw(bytes.map { $0 * 4 }, deep, size), "\(shallow) \(deep)")
                let narrow = try Self.converted(words, deep, shallow, size, fullRange: false)
                #expect(narrow == Self.raw(words.map { min(($0 + 2) / 4, 255) }, shallow, size), "\(deep) \(shallow)")
            }
        }
        for (a, b) in [(PixelFormat.p010, PixelFormat.i420p10), (.i420p10, .p010)] {
            #expect(try Self.converted(words, a, b, size, fullRange: nil) == Self.raw(words, b, size))
        }
        // In full range, white stays white, black stays black, and the chroma of gray stays in the middle.
        let full = try Self.converted(bytes, .i420, .i420p10, size, fullRange: true)
        let expected = bytes.enumerated().map { $0 < 37 * 29 ? $1 * 4 + $1 / 64 : $1 * 4 }
        #expect(full == Self.raw(expected, .i420p10, size) && expected.contains(1023))
    }

    @Test func wideningMatchesFFmpeg() throws {
        let frame = try Fixture.carphone.frames(1)[0]
        try Files.withTemporaryFolder { folder in
            try Files.write(frame.bytes, to: "\(folder)/a.yuv")
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "176x144", "-i", "\(folder)/a.yuv",
                    "-f", "rawvideo", "-pix_fmt", "yuv420p10le", "\(folder)/b.yuv",
                ])
            #expect(result.status == 0, "\(result.errors)")
            let ours = try Self.converted(
                frame.bytes.map { UInt16($0) }, .i420, .i420p10, VideoSize(width: 176, height: 144), fullRange: false)
            let isSame = try ours == Files.read("\(folder)/b.yuv")
            #expect(isSame)
        }
    }

    /// A file of 10 bits is read unchanged in both 10-bit formats, and its bit depth is reported.
    @Test func filesKeepTheirTenBits() throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.mkv"
            let setup = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.2,format=yuv420p10le,noise=alls=8",
                    "-c:v", "ffv1", "-pix_fmt", "yuv420p10le", path,
                ])
            #expect(setup.status == 0, "\(setup.errors)")
            for (format, name) in [(PixelFormat.i420p10, "yuv420p10le"), (.p010, "p010le")] {
                let raw = "\(folder)/\(name).yuv"
                let result = try ProcessRunner.run(
                    "ffmpeg", ["-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", name, raw])
                #expect(result.status == 0, "\(result.errors)")
                let source = try MediaInput.open(path)
                #expect(source.info.bitDepth == 10 && source.info.nativeFormat == .i420p10)
                let pictures = try source.all(format)
                #expect(pictures.count == 5)
                let isSame = try pictures.flatMap(\.bytes) == Files.read(raw)
                #expect(isSame, "\(name)")
                // Raw input has the same pictures.
                var options = SourceOptions()
                options.inputFormat = format
                options.inputSize = VideoSize(width: 96, height: 64)
                let again = try MediaInput.open(raw, options: options)
                #expect(again.info.bitDepth == 10)
                let isSameRaw = try again.all(.i420p10).flatMap(\.bytes) == Files.read("\(folder)/yuv420p10le.yuv")
                #expect(isSameRaw, "\(name)")
            }
        }
    }

    /// Pixel formats unknown to vaenc are reported by FFmpeg's name, with their bit depth.
    @Test(arguments: [("yuv422p10le", 10), ("yuv420p12le", 12), ("yuv440p", 8)])
    func otherPixelFormatsAreNamed(_ name: String, _ depth: Int) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.mkv"
            let setup = try ProcessRunner.run(
                "ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.04", "-c:v", "ffv1", "-pix_fmt", name, path])
            #expect(setup.status == 0, "\(setup.errors)")
            let source = try MediaInput.open(path)
            #expect(source.info.nativeFormat == nil && source.info.nativeFormatName == name)
            #expect(source.info.bitDepth == depth)
            #expect(try source.all(.p010).count == 1)
        }
    }

    /// The ten-bit pattern equals the eight-bit one, with intermediate values.
    @Test func requestedPatternHasTenBits() throws {
        var options = SourceOptions()
        options.inputFormat = .p010
        let deep = try MediaInput.open("testsrc:96x64@25:2", options: options)
        #expect(deep.info.bitDepth == 10 && deep.info.nativeFormat == .p010)
        let wide = try deep.all(.i420p10), narrow = try MediaInput.open("testsrc:96x64@25:2").all(.i420)
        #expect(wide.count == 2)
        for (a, b) in zip(wide, narrow) {
            let words = stride(from: 0, to: a.bytes.count, by: 2).map { Int(a.bytes[$0]) | Int(a.bytes[$0 + 1]) << 8 }
            #expect(words.map { $0 >> 2 } == b.bytes.map { Int($0) })
            #expect(Set(words.prefix(96).map { $0 & 3 }) == [0, 1, 2, 3])
        }
    }

    /// PSNR and SSIM of ten bits are compared with FFmpeg's filters.
    @Test func tenBitMeasuresMatchFFmpegs() throws {
        let size = VideoSize(width: 70, height: 38)
        let count = 70 * 38 + 2 * 35 * 19
        let a: [UInt16] = (0..<count).map { (index: Int) -> UInt16 in UInt16((index % 70 * 9 + index / 70) % 900) }
        let b: [UInt16] = zip(a, noise(count)).map { (sample: UInt16, step: UInt8) -> UInt16 in
            sample + UInt16(step >> 3)
        }
        try Files.withTemporaryFolder { folder in
            for (name, samples) in [("a", a), ("b", b)] {
                try Files.write(Self.raw(samples, .i420p10, size), to: "\(folder)/\(name).yuv")
            }
            let input = { (name: String) in
                ["-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s", "70x38", "-i", "\(folder)/\(name).yuv"]
            }
            var error = PictureError(), similarity = PictureSimilarity()
            for (first, second) in [(PixelFormat.p010, PixelFormat.i420p10), (.i420p10, .p010), (.i420p10, .i420p10)] {
                let x = PaddedPicture(first, size, padding: 14), y = PaddedPicture(second, size, padding: 14)
                x.fill(Self.raw(a, first, size))
                y.fill(Self.raw(b, second, size))
                try unsafe x.with { p in
                    try unsafe y.with {
                        unsafe error += try PictureError(p, $0)
                        unsafe try similarity.add(p, $0)
                    }
                }
            }
            let ours = [
                "psnr": [error.psnr(plane: 0), error.psnr(plane: 1), error.psnr(plane: 2), error.averagePSNR],
                "ssim": [similarity.ssim(plane: 0), similarity.ssim(plane: 1), similarity.ssim(plane: 2), similarity.ssimOfAll],
            ]
            for (filter, keys) in [("psnr", ["y:", "u:", "v:", "average:"]), ("ssim", ["Y:", "U:", "V:", "All:"])] {
                let result = try ProcessRunner.run(
                    "ffmpeg", ["-nostdin", "-v", "info"] + input("a") + input("b") + ["-lavfi", filter, "-f", "null", "-"])
                let line = try #require(result.errors.split(separator: "\n").last { $0.contains(" \(keys[0])") })
                for (key, mine) in zip(keys, ours[filter] ?? []) {
                    let start = try #require(line.firstRange(of: " \(key)"))
                    let theirs = try #require(Double(line[start.upperBound...].prefix { $0 != " " }))
                    #expect(abs(mine - theirs) < (filter == "psnr" ? 0.01 : 1e-4), "\(filter) \(key) \(mine) \(theirs)")
                }
            }
        }
    }

    @Test func differentBitDepthsAreNotCompared() throws {
        let size = VideoSize(width: 16, height: 16)
        let a = PaddedPicture(.i420, size, padding: 0), b = PaddedPicture(.i420p10, size, padding: 0)
        #expect(failure { try unsafe a.with { x in try unsafe b.with { unsafe try PictureError(x, $0) } } }?.category == .usage)
        var similarity = PictureSimilarity()
        #expect(
            failure { try unsafe a.with { x in try unsafe b.with { unsafe try similarity.add(x, $0) } } }?.category == .usage)
    }
}
