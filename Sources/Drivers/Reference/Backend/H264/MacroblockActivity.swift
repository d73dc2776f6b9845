internal import Glibc

/// The luma samples of a picture to encode.
struct SourceLuma {
    var bytes: ElementPointer<UInt8>
    /// The bytes from one row to the next.
    var pitch: Int
    var width: Int
    var height: Int
    /// Whether samples are little-endian 16-bit words with the value in the upper 10 bits (P010). Otherwise they are
    /// bytes.
    var isWide: Bool
}

/// Computes QP deltas for macroblock rate control from the variance of each 16×16 area. Errors are less visible in
/// areas with a high variance.
enum MacroblockActivity {
    /// Returns the QP deltas in raster order, -6…6 and about 0 on average. Areas with a high variance get a higher QP,
    /// flat areas a lower one: +1 for twice the variance.
    static func deltas(_ source: SourceLuma, columns: Int, rows: Int) -> [Int] {
        var logarithms = [Double](repeating: 0, count: columns * rows)
        for y in 0..<rows {
            for x in 0..<columns { logarithms[y * columns + x] = log2(variance(source, x, y) + 4) }
        }
        let mean = logarithms.reduce(0, +) / Double(max(logarithms.count, 1))
        return logarithms.map { min(max(Int(($0 - mean).rounded()), -most), most) }
    }

    private static let most = 6

    /// Returns the variance of an area's samples inside the picture, in units of 8-bit samples; 0 if there are none.
    private static func variance(_ source: SourceLuma, _ x: Int, _ y: Int) -> Double {
        let columns = 16 * x..<max(16 * x, min(16 * x + 16, source.width))
        let rows = 16 * y..<max(16 * y, min(16 * y + 16, source.height))
        let count = columns.count * rows.count
        if count == 0 { return 0 }
        var (sum, squares) = (0, 0)
        for row in rows {
            let line = source.bytes + row * source.pitch
            for column in columns {
                let sample =
                    source.isWide
                    ? Int(line.load(2 * column, as: UInt16.self).littleEndian >> 6) : Int(line[column])
                sum &+= sample
                squares &+= sample &* sample
            }
        }
        let mean = Double(sum) / Double(count)
        let variance = Double(squares) / Double(count) - mean * mean
        return source.isWide ? variance / 16 : variance
    }
}
