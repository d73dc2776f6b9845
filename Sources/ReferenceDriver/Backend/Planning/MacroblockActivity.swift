internal import Glibc

/// How much each macroblock of a picture hides errors: what macroblock rate control goes by.
enum MacroblockActivity {
    /// QP differences in raster order, about 0 on average: coarser where the picture is busy, finer where it is flat. A
    /// macroblock of twice the variance gets a QP one higher.
    static func deltas(_ job: PictureJob) -> [Int] {
        let (width, height) = (job.widthInMacroblocks, job.heightInMacroblocks)
        var logarithms = [Double](repeating: 0, count: width * height)
        for y in 0..<height {
            for x in 0..<width { logarithms[y * width + x] = log2(variance(job.source, x, y) + 4) }
        }
        let mean = logarithms.reduce(0, +) / Double(max(logarithms.count, 1))
        return logarithms.map { min(max(Int(($0 - mean).rounded()), -most), most) }
    }

    private static let most = 6

    /// Of the luma samples inside the picture; 0 where there are none.
    private static func variance(_ source: SourcePicture, _ x: Int, _ y: Int) -> Double {
        let columns = 16 * x..<max(16 * x, min(16 * x + 16, source.width))
        let rows = 16 * y..<max(16 * y, min(16 * y + 16, source.height))
        let count = columns.count * rows.count
        if count == 0 { return 0 }
        var (sum, squares) = (0, 0)
        for row in rows {
            let line = source.luma + row * source.lumaPitch
            for column in columns {
                let sample = Int(line[column])
                sum &+= sample
                squares &+= sample &* sample
            }
        }
        let mean = Double(sum) / Double(count)
        return Double(squares) / Double(count) - mean * mean
    }
}
