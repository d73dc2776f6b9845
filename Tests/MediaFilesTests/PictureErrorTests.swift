import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

@Suite struct PictureErrorTests {
    private func error(_ a: PaddedPicture, _ b: PaddedPicture) throws -> PictureError {
        try unsafe a.with { x in try unsafe b.with { y in unsafe try PictureError(x, y) } }
    }

    @Test func planesWithoutMemoryAreRefused() throws {
        let size = VideoSize(width: 16, height: 16)
        let bare = unsafe PixelPlanes(format: .nv12, size: size, allocatedSize: size, bases: (nil, nil, nil), pitches: (16, 16, 0))
        let calls: [() throws -> Void] = [
            { _ = unsafe try PictureError(bare, bare) },
            {
                var similarity = PictureSimilarity(); unsafe try similarity.add(bare, bare)
            },
            { unsafe try PixelConverter().convert(bare, to: bare) },
        ]
        for call in calls {
            let error = #expect(throws: VaencError.self) { try call() }
            #expect(error?.category == .usage)
        }
    }

    /// Compares with plain sums for all pairs of formats, at every width that reaches the vector loop and the scalar
    /// code for the remaining columns.
    @Test func squaredErrorsMatchPlainSums() throws {
        for width in 1...37 {
            let size = VideoSize(width: width, height: 3)
            let count = PixelFormat.i420.frameBytes(size)
            let left = noise(count, seed: UInt64(width)), right = noise(count, seed: UInt64(width) + 100)
            let luma = size.width * size.height, chroma = (count - luma) / 2
            func sum(_ range: Range<Int>) -> UInt64 {
                range.reduce(0) { $0 + UInt64((Int(left[$1]) - Int(right[$1])) * (Int(left[$1]) - Int(right[$1]))) }
            }
            let expected = [sum(0..<luma), sum(luma..<luma + chroma), sum(luma + chroma..<count)]
            func picture(_ format: PixelFormat, _ planar: [UInt8]) -> PaddedPicture {
                let picture = PaddedPicture(format, size)
                let swapped = Array(planar[..<luma]) + planar[(luma + chroma)...] + planar[luma..<luma + chroma]
                picture.fill(format == .nv12 ? semiPlanar(planar, size) : format == .yv12 ? swapped : planar)
                return picture
            }
            for a in [PixelFormat.nv12, .i420, .yv12] {
                for b in [PixelFormat.nv12, .i420, .yv12] {
                    #expect(try error(picture(a, left), picture(b, right)).squares == expected, "\(a) \(b) \(width)")
                }
            }
        }
    }

    /// Every sample has the largest difference, and the row fills the 32-bit lanes.
    @Test func largestDifferenceDoesNotOverflow() throws {
        let size = VideoSize(width: 262_144, height: 1)
        let black = PaddedPicture(.nv12, size), white = PaddedPicture(.nv12, size)
        black.fill([UInt8](repeating: 0, count: PixelFormat.nv12.frameBytes(size)))
        white.fill([UInt8](repeating: 255, count: PixelFormat.nv12.frameBytes(size)))
        let result = try error(black, white)
        #expect(result.squares[0] == 262_144 * 65025)
        #expect(abs(result.psnr(plane: 0)) < 1e-9)
    }

    @Test func psnrMatchesTheReference() throws {
        let size = VideoSize(width: 176, height: 144)
        let frames = try Fixture.carphone.frames(2)
        let a = PaddedPicture(.i420, size), b = PaddedPicture(.i420, size)
        a.fill(frames[0].bytes)
        b.fill(frames[1].bytes)
        let result = try error(a, b)
        #expect(abs(result.psnr(plane: 0) - PSNR.luma(frames[0], frames[1])) < 0.001)
        #expect(abs(result.averagePSNR - PSNR.all(frames[0], frames[1])) < 0.001)
        b.fill(frames[0].bytes)
        #expect(try error(a, b).psnr(plane: 0) == .infinity)
        #expect(failure { try error(a, PaddedPicture(.i420, VideoSize(width: 2, height: 2))) }?.category == .usage)
    }
}
