import Glibc

public import VideoBase

/// The squared differences between pictures, summed over all pictures that are added. PSNR is computed from them.
public struct PictureError: Sendable, Hashable {
    /// The sums of squared differences of Y, Cb and Cr.
    package var squares: [UInt64] = [0, 0, 0]
    /// The numbers of compared samples of Y, Cb and Cr.
    public var samples: [Int] = [0, 0, 0]
    /// The maximum value of a sample: 255, or 1023 for 10 bits.
    public private(set) var peak = 255

    /// Creates the error of no pictures.
    public init() {}

    /// Computes the error of a pair of pictures of equal size and depth. Each is 4:2:0 in any layout.
    /// - Throws: `usage` for other formats, for different sizes or depths, and for planes without memory.
    public init(_ a: PixelPlanes, _ b: PixelPlanes) throws {
        let known: Set<PixelFormat> = [.nv12, .i420, .yv12, .p010, .i420p10]
        let size = unsafe a.size
        guard unsafe size == b.size && a.format.bitDepth == b.format.bitDepth, known.contains(unsafe a.format),
            known.contains(unsafe b.format)
        else {
            throw VaencError(
                .usage,
                "cannot compare \(unsafe a.format.rawValue) of \(size) with \(unsafe b.format.rawValue) of \(unsafe b.size)"
            )
        }
        try unsafe a.check()
        try unsafe b.check()
        if unsafe a.format.bitDepth > 8 {
            peak = 1023
            unsafe addDeep(a, b)
            return
        }
        // SAFETY: the planes of both pictures have the sizes that their format and size state.
        for row in 0..<size.height {
            squares[0] += unsafe SquaredDifference.row(
                a.base(0) + row * a.pitch(0), b.base(0) + row * b.pitch(0), count: size.width)
        }
        let width = (size.width + 1) / 2, rows = (size.height + 1) / 2
        if unsafe a.format != .nv12 && b.format != .nv12 {
            for plane in 1...2 {
                let left = unsafe Self.chroma(a, plane), right = unsafe Self.chroma(b, plane)
                for row in 0..<rows {
                    squares[plane] += unsafe SquaredDifference.row(
                        left.base + row * left.pitch, right.base + row * right.pitch, count: width)
                }
            }
        } else {
            // One picture has interleaved chroma: the planar rows of the other are interleaved first.
            var left = [UInt8](repeating: 0, count: width * 2)
            var right = left
            for row in 0..<rows {
                let sums = unsafe left.withUnsafeMutableBytes { first in
                    unsafe right.withUnsafeMutableBytes { second in
                        unsafe SquaredDifference.pairs(
                            Self.pairs(a, row: row, buffer: first.baseAddress!),
                            Self.pairs(b, row: row, buffer: second.baseAddress!),
                            count: width * 2)
                    }
                }
                squares[1] += sums.even
                squares[2] += sums.odd
            }
        }
        samples = [size.width * size.height, width * rows, width * rows]
    }

    // SAFETY: the planes of both pictures have the sizes that their format and size state.
    private mutating func addDeep(_ a: PixelPlanes, _ b: PixelPlanes) {
        for component in 0..<3 {
            let left = unsafe DeepSamples(a, component), right = unsafe DeepSamples(b, component)
            let width = unsafe component == 0 ? a.size.width : (a.size.width + 1) / 2
            let rows = unsafe component == 0 ? a.size.height : (a.size.height + 1) / 2
            for row in 0..<rows {
                squares[component] += unsafe SquaredDifference.row(
                    left.row(row), as: left, against: right.row(row), as: right, count: width)
            }
            samples[component] = width * rows
        }
    }

    /// Returns the first byte of Cb (1) or Cr (2) of a planar picture, and its pitch.
    private static func chroma(_ p: PixelPlanes, _ plane: Int) -> (base: UnsafeRawPointer, pitch: Int) {
        let planeIndex = unsafe p.format == .yv12 ? 3 - plane : plane
        return unsafe (UnsafeRawPointer(p.base(planeIndex)), p.pitch(planeIndex))
    }

    /// Returns a row of interleaved chroma: the picture's own row, or a converted row in `buffer`.
    private static func pairs(_ p: PixelPlanes, row: Int, buffer: UnsafeMutableRawPointer) -> UnsafeRawPointer {
        if unsafe p.format == .nv12 { return unsafe UnsafeRawPointer(p.base(1) + row * p.pitch(1)) }
        let u = unsafe chroma(p, 1), v = unsafe chroma(p, 2)
        unsafe ChromaInterleave.interleave(
            u: u.base + row * u.pitch, v: v.base + row * v.pitch, to: buffer, count: (p.size.width + 1) / 2)
        return UnsafeRawPointer(buffer)
    }

    /// Adds the error of other pictures.
    public static func += (sum: inout PictureError, other: PictureError) {
        for plane in 0..<3 {
            sum.squares[plane] += other.squares[plane]
            sum.samples[plane] += other.samples[plane]
        }
        sum.peak = max(sum.peak, other.peak)
    }
}

extension PictureError {
    /// Returns the peak signal-to-noise ratio of a plane (0 Y, 1 Cb, 2 Cr) in decibels: infinity for equal samples, not
    /// a number for other planes.
    public func psnr(plane: Int) -> Double {
        squares.indices.contains(plane) ? psnr(squares[plane], samples[plane]) : .nan
    }
    /// The peak signal-to-noise ratio over all samples of all planes in decibels, as FFmpeg's `average`.
    public var averagePSNR: Double { psnr(squares.reduce(0, +), samples.reduce(0, +)) }

    private func psnr(_ squares: UInt64, _ samples: Int) -> Double {
        if squares == 0 { return .infinity }
        return 10 * log10(Double(peak * peak) * Double(samples) / Double(squares))
    }
}
