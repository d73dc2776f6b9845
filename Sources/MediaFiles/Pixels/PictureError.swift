import Glibc

public import VideoBase

/// Squared differences between pictures, summed over as many as are added; the base of PSNR.
public struct PictureError: Sendable, Hashable {
    /// Sums of squared differences of Y, Cb, Cr.
    public var squares: [UInt64] = [0, 0, 0]
    /// Samples compared, of Y, Cb, Cr.
    public var samples: [Int] = [0, 0, 0]

    public init() {}

    /// The error of one pair of pictures: NV12 or I420 (8 bit) on both sides, equal sizes.
    /// - Throws: `usage` for other formats or different sizes.
    public init(_ a: PixelPlanes, _ b: PixelPlanes) throws {
        throw VaencError(.unavailable, "PSNR is not built yet")
    }

    public static func += (sum: inout PictureError, other: PictureError) {
        for plane in 0..<3 {
            sum.squares[plane] += other.squares[plane]
            sum.samples[plane] += other.samples[plane]
        }
    }
}

extension PictureError {
    /// Peak signal-to-noise ratio of 8-bit samples in decibels, per plane (0 Y, 1 Cb, 2 Cr); infinite where equal.
    public func psnr(plane: Int) -> Double { Self.psnr(squares[plane], samples[plane]) }
    /// Over all samples of all planes, as FFmpeg's `average`.
    public var averagePSNR: Double { Self.psnr(squares.reduce(0, +), samples.reduce(0, +)) }

    private static func psnr(_ squares: UInt64, _ samples: Int) -> Double {
        if squares == 0 { return .infinity }
        return 10 * log10(255 * 255 * Double(samples) / Double(squares))
    }
}
