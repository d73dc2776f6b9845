import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

/// `--size` and `--fit`.
@Suite struct FrameShaperTests {
    private func shaped(_ source: VideoSize, _ output: VideoSize, _ fit: FrameFit, aspect: Rational? = nil) throws
        -> [UInt8]
    {
        let shaper = FrameShaper(
            source: source, aspect: aspect, color: ColorDescription(fullRange: false), output: output, fit: fit)
        let picture = PaddedPicture(.i420, source)
        // The left half is dark, the right half bright.
        let half = (0..<PixelFormat.i420.frameBytes(source)).map { index -> UInt8 in
            index < source.width * source.height ? (index % source.width < source.width / 2 ? 50 : 200) : 100
        }
        picture.fill(half)
        let result = PaddedPicture(.nv12, output)
        try unsafe picture.with { from in try unsafe result.with { to in unsafe try shaper.shape(from, to: to) } }
        #expect(result.isIntactAround)
        return result.packed
    }

    @Test func letterboxPutsBarsAboveAndBelow() throws {
        let bytes = try shaped(VideoSize(width: 64, height: 32), VideoSize(width: 64, height: 64), .letterbox)
        func luma(_ x: Int, _ y: Int) -> UInt8 { bytes[y * 64 + x] }
        for y in [0, 15, 48, 63] { for x in [0, 31, 63] { #expect(luma(x, y) == 16, "\(x) \(y)") } }
        for y in [16, 31, 47] { #expect(luma(2, y) == 50 && luma(61, y) == 200) }
        // Chroma is neutral in the bars and the picture's inside.
        #expect(bytes[64 * 64] == 128)
        #expect(bytes[64 * 64 + 16 * 64] == 100)
    }

    @Test func letterboxPutsBarsLeftAndRight() throws {
        let bytes = try shaped(VideoSize(width: 32, height: 64), VideoSize(width: 100, height: 64), .letterbox)
        func luma(_ x: Int, _ y: Int) -> UInt8 { bytes[y * 100 + x] }
        for x in [0, 33, 66, 99] { #expect(luma(x, 30) == 16, "\(x)") }
        #expect(luma(34, 30) == 50)
        #expect(luma(65, 30) == 200)
    }

    @Test func cropShowsTheMiddle() throws {
        let bytes = try shaped(VideoSize(width: 128, height: 32), VideoSize(width: 32, height: 32), .crop)
        #expect(bytes[0] == 50 && bytes[31] == 200)
        #expect(bytes[..<(32 * 32)].allSatisfy { $0 >= 40 && $0 <= 210 })
    }

    @Test func stretchShowsAll() throws {
        let bytes = try shaped(VideoSize(width: 128, height: 32), VideoSize(width: 32, height: 32), .stretch)
        #expect(bytes[2] == 50 && bytes[29] == 200)
    }

    /// Samples are twice as wide as high, so a square of samples is displayed as 2:1.
    @Test func letterboxRespectsTheSampleAspectRatio() throws {
        let bytes = try shaped(
            VideoSize(width: 64, height: 64), VideoSize(width: 64, height: 64).doubledWidth, .letterbox,
            aspect: Rational(2, 1))
        #expect(bytes[..<(128 * 64)].allSatisfy { $0 >= 30 })
    }

    /// Every pair of small sizes is tested.
    @Test func scalingStaysInsideThePlanes() throws {
        let sides = [16, 18, 22, 33, 64]
        for fit in FrameFit.allCases {
            for width in sides {
                for height in sides {
                    _ = try shaped(VideoSize(width: 48, height: 30), VideoSize(width: width, height: height), fit)
                }
            }
        }
    }

    /// The rows are padded and not aligned: no byte outside is written.
    @Test func everyPairOfFormatsIsConverted() throws {
        let size = VideoSize(width: 38, height: 18)
        for from in PixelFormat.allCases {
            for to in PixelFormat.allCases {
                let source = PaddedPicture(from, size), destination = PaddedPicture(to, size)
                source.fill(noise(from.frameBytes(size)))
                try unsafe source.with { a in
                    try unsafe destination.with { b in unsafe try PixelConverter().convert(a, to: b) }
                }
                #expect(destination.isIntactAround, "\(from) \(to)")
                #expect(destination.packed.contains { $0 != PaddedPicture.mark }, "\(from) \(to)")
            }
        }
    }
}

extension VideoSize {
    fileprivate var doubledWidth: VideoSize { VideoSize(width: width * 2, height: height) }
}
