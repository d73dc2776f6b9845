internal import Glibc

/// A client's luma samples.
struct SourceLuma {
    var bytes: ElementPointer<UInt8>
    /// Bytes from row to row.
    var pitch: Int
    var width: Int
    var height: Int
    /// Little-endian words with the value in the high bits.
    var isWide: Bool
}

/// How much each 16×16 area of a picture hides errors: what macroblock rate control goes by.
enum MacroblockActivity {
    /// QP differences in raster order, about 0 on average: coarser where the picture is busy, finer where it is flat. An
    /// area of twice the variance gets a QP one higher.
    static func deltas(_ source: SourceLuma, columns: Int, rows: Int) -> [Int] {
        var logarithms = [Double](repeating: 0, count: columns * rows)
        for y in 0..<rows {
            for x in 0..<columns { logarithms[y * columns + x] = log2(variance(source, x, y) + 4) }
        }
        let mean = logarithms.reduce(0, +) / Double(max(logarithms.count, 1))
        return logarithms.map { min(max(Int(($0 - mean).rounded()), -most), most) }
    }

    private static let most = 6

    /// Of the samples inside the picture, in squares of steps of 8 bits; 0 where there are none.
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
