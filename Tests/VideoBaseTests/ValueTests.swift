import Testing
import VideoBase

@Suite struct ValueTests {
    @Test func sizesAreParsed() {
        #expect(VideoSize("1280x720") == VideoSize(width: 1280, height: 720))
        #expect(VideoSize("1280X720") == VideoSize(width: 1280, height: 720))
        #expect(VideoSize("16×16") == VideoSize(width: 16, height: 16))
        for text in ["", "x", "1280", "1280x", "x720", "0x720", "-1x5", "1x2x3", "1280 x 720", "99999999999999999999x1"] {
            #expect(VideoSize(text) == nil, "\(text)")
        }
    }

    @Test func bitRatesAreParsed() {
        for (text, value) in [("6M", 6_000_000), ("800k", 800_000), ("1.5M", 1_500_000), ("123", 123), ("2G", 2_000_000_000)] {
            #expect(BitsPerSecond(text)?.value == value, "\(text)")
        }
        for text in ["", "M", "-1M", "0", "1e300", "6MB", "nan", "0.1"] {
            #expect(BitsPerSecond(text) == nil, "\(text)")
        }
    }

    /// The expected sizes of raw frames are those of FFmpeg's `av_image_get_buffer_size` (alignment 1).
    @Test func frameBytesMatchFFmpeg() {
        let odd = VideoSize(width: 5, height: 3)
        let expected: [PixelFormat: Int] = [
            .nv12: 27, .i420: 27, .yv12: 27, .yuyv: 36, .uyvy: 36, .i422: 33, .i444: 45, .gray: 15, .rgb24: 45, .bgra: 60,
            .rgba: 60, .p010: 54, .i420p10: 54,
        ]
        for format in PixelFormat.allCases {
            #expect(format.frameBytes(odd) == expected[format], "\(format)")
        }
        #expect(PixelFormat.nv12.frameBytes(VideoSize(width: 1920, height: 1080)) == 3_110_400)
    }

    /// Byte counts of impossible sizes saturate, and a buffer of such a size is refused.
    @Test func impossibleSizesAreRefused() {
        let values = [Int.min, -1, 0, 1, 65536, 65537, 1 << 32, Int.max - 1, Int.max]
        for format in PixelFormat.allCases {
            for width in values {
                for height in values {
                    let size = VideoSize(width: width, height: height)
                    let bytes = format.frameBytes(size)
                    #expect((bytes > 0) == (width > 0 && height > 0), "\(format) \(size)")
                    if width == .max, height > 1 { #expect(bytes == .max) }
                    if (1...65536).contains(width), (1...65536).contains(height) { continue }
                    let error = #expect(throws: VaencError.self) { try SystemPixelBuffer(format: format, size: size) }
                    #expect(error?.category == .usage)
                }
            }
        }
    }

    @Test func alignmentRoundsUp() {
        for value in 0...70 {
            let aligned = value.aligned(to: 16)
            #expect(aligned % 16 == 0 && aligned >= value && aligned - value < 16)
        }
    }

    @Test func systemBufferPlanesDoNotOverlap() throws {
        for format in PixelFormat.allCases {
            let buffer = try SystemPixelBuffer(format: format, size: VideoSize(width: 21, height: 7))
            try buffer.withUnsafePlanes { planes in
                for plane in 0..<format.planeCount {
                    let bytes = format.rowBytes(plane: plane, width: 21)
                    #expect(planes.pitch(plane) >= bytes)
                    for row in 0..<format.rows(plane: plane, height: 7) {
                        let start = planes.base(plane) + row * planes.pitch(plane)
                        for x in 0..<bytes { start.storeBytes(of: UInt8(plane * 64 + row + 1), toByteOffset: x, as: UInt8.self) }
                    }
                }
                for plane in 0..<format.planeCount {
                    for row in 0..<format.rows(plane: plane, height: 7) {
                        let start = planes.base(plane) + row * planes.pitch(plane)
                        let last = format.rowBytes(plane: plane, width: 21) - 1
                        #expect(start.load(as: UInt8.self) == UInt8(plane * 64 + row + 1))
                        #expect(start.load(fromByteOffset: last, as: UInt8.self) == UInt8(plane * 64 + row + 1))
                    }
                }
            }
        }
    }

    /// Decimal seconds keep their text, and no number of seconds and no duration traps.
    @Test func durationsConvertToSecondsAndBack() {
        for seconds in [0, 0.1, 0.001, 1.1, 12.5, 33.366_667, 86400, 999_999_999.999, -0.5, -62.04] {
            #expect(Duration(checkedSeconds: seconds)?.seconds == seconds)
        }
        #expect(Duration(checkedSeconds: 0.04) == .milliseconds(40) && Duration(checkedSeconds: -2) == .seconds(-2))
        for seconds in [1.0 / 3, 1e-12, 2.0 / 30000 * 1001, 1e15, 1e19] {
            #expect(abs((Duration(checkedSeconds: seconds)?.seconds ?? 0) / seconds - 1) < 1e-6, "\(seconds)")
        }
        #expect(Duration(checkedSeconds: .leastNonzeroMagnitude) == Duration(attoseconds: 1))
        for seconds in [Double.nan, .infinity, -.infinity, 1e20, -1e300] { #expect(Duration(checkedSeconds: seconds) == nil, "\(seconds)") }
        let (least, most) = (Duration(attoseconds: .min), Duration(attoseconds: .max))
        #expect(most.seconds > 1.7e20 && least.seconds < -1.7e20 && Duration(attoseconds: 1).seconds == 1e-18)
        #expect(most.wholeNanoseconds == .max && least.wholeNanoseconds == .min && Duration.milliseconds(-3).wholeNanoseconds == -3_000_000)
    }

    @Test func levelsHaveTheirName() {
        #expect([9, 10, 41, 62, 5, 0].map { CodecLevel(tenths: $0).description } == ["1b", "1.0", "4.1", "6.2", "0.5", "0.0"])
        #expect([-1, -10, -41, .min].map { CodecLevel(tenths: $0).description } == ["-0.1", "-1.0", "-4.1", "-922337203685477580.8"])
        for tenths in [9] + Array(10...99) { #expect(CodecLevel(CodecLevel(tenths: tenths).description)?.tenths == tenths) }
        #expect(CodecLevel("4")?.tenths == 40 && CodecLevel("1B")?.tenths == 9)
        for name in ["", ".", "4.", "4.10", "0.9", "-1", "4.1.1", "x", "10"] { #expect(CodecLevel(name) == nil, "\(name)") }
    }

    @Test func errorDescriptionIsOneLine() {
        let error = VaencError(.badInput, "clip.y4m has no frames", remedy: "look at it with ffprobe")
        #expect("\(error)" == "clip.y4m has no frames: look at it with ffprobe")
        #expect(error.category == .badInput)
    }
}
