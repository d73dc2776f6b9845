/// Default weighted prediction from two pictures, H.264 (8-273): (a + b + 1) >> 1.
enum BlockAverage {
    /// Averages two blocks, 16 or 8 samples wide, whose rows are `stride` apart.
    @inline(never) static func mix(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, to destination: ElementPointer<UInt8>, _ stride: Int, width: Int, height: Int
    ) {
        if width == 16 {
            for y in 0..<height {
                let row: Bytes = a.load(y &* stride)
                destination.store(y &* stride, row.average(b.load(y &* stride)))
            }
        } else {
            for y in 0..<height {
                let row: HalfBytes = a.load(y &* stride)
                destination.store(y &* stride, row.average(b.load(y &* stride)))
            }
        }
    }

    /// Averages only the first `count` (4 or 8) samples of each row.
    @inline(never) static func mixChroma(
        _ a: ElementPointer<UInt8>, _ b: ElementPointer<UInt8>, to destination: ElementPointer<UInt8>, _ stride: Int, count: Int, height: Int
    ) {
        if count == 8 {
            mix(a, b, to: destination, stride, width: 8, height: height)
            return
        }
        for y in 0..<height {
            let row: HalfBytes = a.load(y &* stride)
            let mixed = row.average(b.load(y &* stride))
            destination.store(y &* stride, mixed.lowHalf)
        }
    }
}
