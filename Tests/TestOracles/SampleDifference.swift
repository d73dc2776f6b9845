/// The first sample, in the order of coding blocks, in which a picture is not what it should be.
public struct SampleDifference: Sendable, Hashable, CustomStringConvertible {
    /// Y, Cb, Cr: 0, 1, 2.
    public var plane: Int
    /// In samples of the plane.
    public var x: Int
    public var y: Int
    public var value: Int
    public var expected: Int
    /// Of the coding tree block or macroblock that holds the sample, in raster scan, and its side in luma samples.
    public var block: Int
    public var blockSize: Int
    /// Samples that differ in each plane.
    public var counts: [Int]

    public var description: String {
        "\(["luma", "Cb", "Cr"][plane]) at \(x),\(y) (block \(block) of \(blockSize)×\(blockSize)): \(value), not "
            + "\(expected); \(counts[0]) of luma, \(counts[1]) of Cb, \(counts[2]) of Cr differ"
    }
}

extension PlanarFrame {
    /// What a message says of a picture that is not `expected`; nil where it is.
    ///
    /// - Parameter blockSize: 16 for macroblocks, or the side of a coding tree block.
    public func difference(from expected: PlanarFrame, blockSize: Int = 16) -> String? {
        if width != expected.width || height != expected.height || bitDepth != expected.bitDepth {
            return "\(width)×\(height) of \(bitDepth) bits, not \(expected.width)×\(expected.height) of "
                + "\(expected.bitDepth)"
        }
        return firstDifference(from: expected, blockSize: blockSize)?.description
    }

    /// Of two pictures of one size and depth: the difference in the earliest block, there in the earliest plane; nil
    /// where they are equal.
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
            for place in 0..<(columns * rows) {
                let (value, other) = (sample(base + place), expected.sample(base + place))
                if value == other { continue }
                counts[plane] += 1
                let (x, y) = (place % columns, place / columns)
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
