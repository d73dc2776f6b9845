public import VideoBase

/// The structural similarity of pictures (Wang et al. 2004), computed as by FFmpeg's `ssim` filter: unweighted windows
/// of 8×8 samples, four apart; the mean over a plane, and over the pictures that are added.
public struct PictureSimilarity: Sendable, Hashable {
    private var sums: [Double] = [0, 0, 0]
    private var samples: [Int] = [0, 0, 0]
    private var count = 0

    /// Creates the similarity of no pictures.
    public init() {}

    /// Returns the mean similarity of a plane (0 Y, 1 Cb, 2 Cr) over the added pictures: 1 for equal samples, not a
    /// number for other planes.
    public func ssim(plane: Int) -> Double {
        guard sums.indices.contains(plane) else { return .nan }
        return count == 0 ? 1 : sums[plane] / Double(count)
    }

    /// The mean of the planes' similarities, weighted by their numbers of samples.
    public var ssimOfAll: Double {
        let total = samples.reduce(0, +)
        return total == 0 ? 1 : (0..<3).reduce(0) { $0 + ssim(plane: $1) * Double(samples[$1]) / Double(total) }
    }

    /// Adds a pair of pictures of equal size and depth, in any layout of 4:2:0. A plane smaller than 8×8 samples counts
    /// as equal, so chroma needs pictures of 16×16 or more.
    /// - Throws: `usage` for other formats, for different sizes or depths, and for planes without memory.
    public mutating func add(_ a: PixelPlanes, _ b: PixelPlanes) throws {
        let known: Set<PixelFormat> = [.nv12, .i420, .yv12, .p010, .i420p10]
        let size = unsafe a.size
        guard unsafe size == b.size && a.format.bitDepth == b.format.bitDepth, known.contains(unsafe a.format),
            known.contains(unsafe b.format)
        else {
            throw VaencError(
                .usage, "pictures of different sizes, depths or layouts cannot be compared",
                remedy: "convert both to 4:2:0 with 8 or 10 bits")
        }
        try unsafe a.check()
        try unsafe b.check()
        let isDeep = unsafe a.format.bitDepth > 8
        let chroma = VideoSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        for plane in 0..<3 {
            let planeSize = plane == 0 ? size : chroma
            samples[plane] = planeSize.width * planeSize.height
            sums[plane] +=
                unsafe isDeep
                ? Self.mean(Samples<UInt16>(a, plane), against: Samples<UInt16>(b, plane), size: planeSize, peak: 1023)
                : Self.mean(Samples<UInt8>(a, plane), against: Samples<UInt8>(b, plane), size: planeSize, peak: 255)
        }
        count += 1
    }

    /// Adds the pictures of `other`. All pictures have the same size.
    public static func += (sum: inout PictureSimilarity, other: PictureSimilarity) {
        if other.count == 0 { return }
        for plane in 0..<3 { sum.sums[plane] += other.sums[plane] }
        sum.samples = other.samples
        sum.count += other.count
    }

    /// The samples of a plane: the first sample, and the steps to the next sample and to the next row.
    @safe private struct Samples<Sample: FixedWidthInteger & BitwiseCopyable> {
        let base: UnsafePointer<Sample>
        let step: Int
        /// The distance of two rows, in samples.
        let pitch: Int
        /// The number of zero bits below the sample's bits.
        let shift: Int32

        // SAFETY: the picture is valid during the call that uses this value.
        init(_ planes: PixelPlanes, _ plane: Int) {
            let isInterleaved = unsafe (planes.format == .nv12 || planes.format == .p010) && plane > 0
            let planeIndex = unsafe isInterleaved ? 1 : planes.format == .yv12 && plane > 0 ? 3 - plane : plane
            let start = unsafe planes.base(planeIndex).assumingMemoryBound(to: Sample.self)
            unsafe base = UnsafePointer(start) + (isInterleaved ? plane - 1 : 0)
            step = isInterleaved ? 2 : 1
            pitch = unsafe planes.pitch(planeIndex) / MemoryLayout<Sample>.size
            shift = unsafe planes.format == .p010 ? 6 : 0
        }
    }

    /// Sums over a block of 4×4 samples: of each picture, of all squares, and of the products.
    private struct Block {
        // The type has room for twice the squares of 64 samples of 10 bits.
        var a: Int32 = 0
        var b: Int32 = 0
        var squares: Int32 = 0
        var products: Int32 = 0

        static func + (x: Block, y: Block) -> Block {
            Block(a: x.a &+ y.a, b: x.b &+ y.b, squares: x.squares &+ y.squares, products: x.products &+ y.products)
        }

        /// Returns the similarity of 64 samples. The constants are (0.01·peak)²·64 and (0.03·peak)²·64·63, rounded: 416
        /// and 235963 for peak 255.
        func similarity(_ first: Double, _ second: Double) -> Double {
            let a = Double(self.a), b = Double(self.b)
            let variances = Double(squares) * 64 - a * a - b * b
            let covariance = Double(products) * 64 - a * b
            return (2 * a * b + first) * (2 * covariance + second) / ((a * a + b * b + first) * (variances + second))
        }
    }

    private static func mean<Sample>(
        _ a: Samples<Sample>, against b: Samples<Sample>, size: VideoSize, peak: Double
    ) -> Double {
        let first = (0.0001 * peak * peak * 64).rounded(), second = (0.0009 * peak * peak * 64 * 63).rounded()
        let columns = size.width / 4
        let rows = size.height / 4
        guard columns >= 2, rows >= 2 else { return 1 }
        var above = [Block](repeating: Block(), count: columns)
        var current = above
        var sum = 0.0
        for row in 0..<rows {
            swap(&above, &current)
            for column in 0..<columns { unsafe current[column] = block(a, against: b, row: row * 4, column: column * 4) }
            if row == 0 { continue }
            for column in 0..<columns - 1 {
                sum += (above[column] + above[column + 1] + current[column] + current[column + 1]).similarity(
                    first, second)
            }
        }
        return sum / Double((columns - 1) * (rows - 1))
    }

    // SAFETY: four rows and columns from (row, column) on are inside the plane.
    @unsafe private static func block<Sample>(
        _ a: Samples<Sample>, against b: Samples<Sample>, row: Int, column: Int
    ) -> Block {
        var block = Block()
        for y in row..<row + 4 {
            let left = unsafe a.base + y * a.pitch + column * a.step
            let right = unsafe b.base + y * b.pitch + column * b.step
            for x in 0..<4 {
                let p = unsafe Int32(truncatingIfNeeded: left[x * a.step]) &>> a.shift
                let q = unsafe Int32(truncatingIfNeeded: right[x * b.step]) &>> b.shift
                block.a &+= p
                block.b &+= q
                block.squares &+= p &* p &+ q &* q
                block.products &+= p &* q
            }
        }
        return block
    }
}
