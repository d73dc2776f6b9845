/// Computes predicted samples from blocks with 14-bit values, H.265 8.5.3.3.4.2 (default weighting, no explicit
/// weights).
enum HEVCInterPrediction<Sample: HEVCSample> {
    /// Computes the prediction from one reference.
    @inline(never) static func one(
        _ block: ElementPointer<Int16>, width: Int, height: Int, to samples: ElementPointer<Sample>, stride: Int
    ) {
        let shift = Int16(truncatingIfNeeded: 14 &- Sample.bitDepth)
        let round = Words(repeating: 1 &<< (shift &- 1))
        if width & 7 == 0 {
            for y in 0..<height {
                let from = block + y &* HEVCInterpolation<Sample>.stride
                let to = samples + y &* stride
                var x = 0
                while x < width {
                    // The sum of a 14-bit value, including the filter's overshoot, and the rounding offset is less than
                    // 2^15.
                    to.storeClipped(x, (from.load(x, as: Words.self) &+ round) &>> Words(repeating: shift))
                    x &+= 8
                }
            }
            return
        }
        forRows(width, height: height, samples: samples, stride: stride) { offset in
            // The sum of a 14-bit value, including the filter's overshoot, and the rounding offset is less than 2^15.
            (block.load(offset, as: Words.self) &+ round) &>> Words(repeating: shift)
        }
    }

    /// Computes the prediction from two references.
    @inline(never) static func both(
        _ a: ElementPointer<Int16>, _ b: ElementPointer<Int16>, width: Int, height: Int, to samples: ElementPointer<Sample>, stride: Int
    ) {
        let shift = Int32(truncatingIfNeeded: 15 &- Sample.bitDepth)
        let round = Quads(repeating: 1 &<< (shift &- 1))
        let shifts = Quads(repeating: shift)
        forRows(width, height: height, samples: samples, stride: stride) { offset in
            let (x, y) = (a.load(offset, as: Words.self), b.load(offset, as: Words.self))
            return saturatedWords(
                (x.lowQuads &+ y.lowQuads &+ round) &>> shifts, (x.highQuads &+ y.highQuads &+ round) &>> shifts)
        }
    }

    @inline(__always) private static func forRows(
        _ width: Int, height: Int, samples: ElementPointer<Sample>, stride: Int, words: (Int) -> Words
    ) {
        for y in 0..<height {
            let to = samples + y &* stride
            let from = y &* HEVCInterpolation<Sample>.stride
            var x = 0
            while x &+ 8 <= width {
                to.storeClipped(x, words(from &+ x))
                x &+= 8
            }
            if x == width { continue }
            let rest = words(from &+ x)
            if width &- x >= 4 { to.storeFourClipped(x, rest) }
            if (width &- x) & 2 != 0 {
                let at = (width &- x) & 4
                for i in at..<at &+ 2 {
                    let value = min(max(Int(rest[i]), 0), Sample.largest)
                    to[x &+ i] = Sample(truncatingIfNeeded: value)
                }
            }
        }
    }
}
