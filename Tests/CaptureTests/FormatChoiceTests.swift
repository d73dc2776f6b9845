@testable import Capture
import Testing
import VideoBase

/// The choice among a camera's formats.
@Suite struct FormatChoiceTests {
    private func format(_ fourCC: String, _ sizes: [(Int, Int, [Int])], isEmulated: Bool = false) -> CaptureFormat {
        CaptureFormat(
            fourCC: fourCC, description: fourCC, layout: CaptureLayout(fourCC: fourCC), isEmulated: isEmulated,
            sizes: sizes.map { width, height, rates in
                let size = VideoSize(width: width, height: height)
                return CaptureSizes(
                    smallest: size, largest: size, step: VideoSize(width: 1, height: 1), rates: rates.map { Rational($0) },
                    ratesAreRange: false)
            })
    }

    private func choose(
        _ formats: [CaptureFormat], _ size: (Int, Int)? = nil, rate: Int? = nil, layout: CaptureLayout? = nil
    ) throws -> FormatChoice {
        var request = CaptureRequest()
        request.size = size.map { VideoSize(width: $0, height: $1) }
        request.frameRate = rate.map { Rational($0) }
        request.layout = layout
        return try FormatChoice(formats, request, name: "x")
    }

    /// The formats are those of a USB camera: large raw pictures are slow.
    @Test func webcamFormatFitsSizeAndRate() throws {
        let formats = [
            format("YUYV", [(640, 480, [30, 15]), (1280, 720, [10])]), format("MJPG", [(640, 480, [30]), (1280, 720, [30]), (1920, 1080, [30])]),
        ]
        #expect(try choose(formats).format.fourCC == "MJPG")
        #expect(try choose(formats, rate: 10).format.fourCC == "YUYV")
        #expect(try choose(formats, (640, 480)).format.fourCC == "YUYV")
        #expect(try choose(formats, (1800, 1000)).size == VideoSize(width: 1920, height: 1080))
        #expect(try choose(formats, (4000, 3000)).size == VideoSize(width: 1920, height: 1080))
        #expect(try choose(formats, (640, 480), rate: 20).rate == Rational(30))
        #expect(try choose(formats, (640, 480), layout: .mjpeg).format.fourCC == "MJPG")
        #expect(throws: VaencError.self) { try choose(formats, layout: .raw(.nv12)) }
    }

    /// Formats that libv4l2 emulates have the lowest priority. The format that is cheapest to encode has the highest.
    @Test func emulatedFormatsAreChosenLast() throws {
        let formats = [format("YU12", [(64, 48, [30])], isEmulated: true), format("YUYV", [(64, 48, [30])]), format("NV12", [(64, 48, [30])])]
        #expect(try choose(formats).format.fourCC == "NV12")
        #expect(try choose(Array(formats.prefix(2))).format.fourCC == "YUYV")
        #expect(try choose(Array(formats.prefix(1))).format.isEmulated)
        #expect(throws: VaencError.self) { try choose([format("XXXX", [(64, 48, [30])])]) }
    }

    /// No size from a caller or a driver ends the program.
    @Test func impossibleSizesAreRefused() throws {
        let formats = [format("NV12", [(640, 480, [30]), (1 << 32, 1 << 32, [30])])]
        #expect(try choose(formats, (1 << 40, 1 << 40)).size?.width == 1 << 32)
        #expect(try choose(formats, (.max, .min)).size != nil)
        for (size, rate) in [(1 << 40, 30), (0, 30), (640, 0), (640, .max)] {
            var request = CaptureRequest()
            request.size = VideoSize(width: size, height: size)
            request.frameRate = Rational(rate)
            let error = #expect(throws: VaencError.self) { try CameraStream("/dev/video-that-does-not-exist", request) }
            #expect(error?.category == .usage, "\(size) \(rate): \(error as Any)")
        }
    }

    /// For each requested size and rate, the choice is in the range, and none is nearer.
    @Test func nearestSizeAndRateAreInTheRange() throws {
        let range = CaptureSizes(
            smallest: VideoSize(width: 16, height: 16), largest: VideoSize(width: 64, height: 32), step: VideoSize(width: 8, height: 4),
            rates: [Rational(60), Rational(5)], ratesAreRange: true)
        for width in 1...80 {
            for height in 1...40 {
                let found = range.nearest(VideoSize(width: width, height: height))
                #expect((16...64).contains(found.width) && (16...32).contains(found.height))
                #expect((found.width - 16) % 8 == 0 && (found.height - 16) % 4 == 0)
                #expect(abs(found.width - min(max(width, 16), 64)) <= 4 && abs(found.height - min(max(height, 16), 32)) <= 2)
            }
        }
        #expect(range.nearest(Rational(25)) == Rational(25) && range.nearest(Rational(90)) == Rational(60))
        #expect(range.nearest(Rational(1)) == Rational(5))
    }

    /// The planes are consecutive. Separate chroma planes have half the pitch.
    @Test func planesFollowEachOther() {
        let size = VideoSize(width: 6, height: 4)
        #expect(FrameLayout(.nv12, size: size, pitch: 0).byteCount == PixelFormat.nv12.frameBytes(size))
        #expect(FrameLayout(.i420, size: size, pitch: 16).offsets == [0, 64, 80])
        #expect(FrameLayout(.i420, size: size, pitch: 16).pitches == [16, 8, 8])
        #expect(FrameLayout(.nv12, size: size, pitch: 16).offsets == [0, 64])
        #expect(FrameLayout(.i422, size: size, pitch: 0).byteCount == 48)
        #expect(!FrameLayout(.yuyv, size: size, pitch: 10).isValid && FrameLayout(.yuyv, size: size, pitch: 12).isValid)
        for format in [PixelFormat.nv12, .i420, .yv12, .yuyv, .uyvy, .i422, .rgb24, .gray] {
            #expect(FrameLayout(format, size: size, pitch: 0).byteCount == format.frameBytes(size), "\(format)")
        }
    }
}
