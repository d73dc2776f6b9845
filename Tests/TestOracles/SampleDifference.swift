/// The first sample, in the order of coding blocks, in which a picture differs from the expected one.
public struct SampleDifference: Sendable, Hashable, CustomStringConvertible {
    /// The plane: 0 for Y, 1 for Cb, 2 for Cr.
    public var plane: Int
    /// The column in samples of the plane.
    public var x: Int
    /// The row in samples of the plane.
    public var y: Int
    /// The sample of the picture.
    public var value: Int
    /// The sample of the expected picture.
    public var expected: Int
    /// The index in raster scan of the coding tree block or macroblock that contains the sample.
    public var block: Int
    /// The side of that block in luma samples.
    public var blockSize: Int
    /// The number of differing samples in each plane.
    public var counts: [Int]

    public var description: String {
        "\(["luma", "Cb", "Cr"][plane]) at \(x),\(y) (block \(block) of \(blockSize)×\(blockSize)): \(value), not "
            + "\(expected); \(counts[0]) of luma, \(counts[1]) of Cb, \(counts[2]) of Cr differ"
    }
}

extension PlanarFrame {
    /// Describes how a picture differs from `expected`; nil if it does not.
    ///
    /// - Parameter blockSize: 16 for macroblocks, or the side of a coding tree block.
    public func difference(from expected: PlanarFrame, blockSize: Int = 16) -> String? {
        if width != expected.width || height != expected.height || bitDepth != expected.bitDepth {
            return "\(width)×\(height) of \(bitDepth) bits, not \(expected.width)×\(expected.height) of "
                + "\(expected.bitDepth)"
        }
        return firstDifference(from: expected, blockSize: blockSize)?.description
    }

    /// Returns the first difference from a picture of the same size and depth: that in the first block, and there in
    /// the first plane. Returns nil if the pictures are equal.
    public func firstDifference(from expected: PlanarFrame, blockSize: Int = 16) -> SampleDifference? {
        precondition(bytes.count == expected.bytes.count, "pictures of one size and depth are compared")
        if bytes == expected.bytes { return nil }
        var first: SampleDifference?
        var counts = [0, 0, 0]
        let blocksPerRow = (width + blockSize - 1) / blockSize
        var base = 0
        for plane in 0..<3 {
            let (columns, rows) = plane == 0 ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
            let side = plane == 0 ? blockSize : blockSize / 2
            for offset in 0..<(columns * rows) {
                let (value, other) = (sample(base + offset), expected.sample(base + offset))
                if value == other { continue }
                counts[plane] += 1
                let (x, y) = (offset % columns, offset / columns)
                let block = y / side * blocksPerRow + x / side
                if let first, (first.block, first.plane) <= (block, plane) { continue }
                first = SampleDifference(
                    plane: plane, x: x, y: y, value: value, expected: other, block: block, blockSize: blockSize,
                    counts: counts)
            }
            base += columns * rows
        }
        first?.counts = counts
        return first
    }

    private func sample(_ index: Int) -> Int {
        bitDepth == 8 ? Int(bytes[index]) : Int(bytes[2 * index]) | Int(bytes[2 * index + 1]) << 8
    }
}
