// Access to samples: the source macroblock, the neighborhood for intra prediction, and the reconstruction.

extension MacroblockCoder {
    /// Copies the macroblock from the client's surface. Outside the surface, its last column and row are repeated.
    mutating func loadSource() {
        let left = x &* 16
        let top = y &* 16
        if left &+ 16 <= source.width && top &+ 16 <= source.height {
            let luma = source.luma + (top &* source.lumaPitch &+ left)
            for row in 0..<16 {
                sourceLuma.store(row &* 16, luma.load(row &* source.lumaPitch, as: Bytes.self))
            }
            let chroma = source.chroma + ((top / 2) &* source.chromaPitch &+ left)
            for row in 0..<8 {
                let pairs: Bytes = chroma.load(row &* source.chromaPitch)
                sourceCb.store(row &* 16, pairs.evenHalf)
                sourceCr.store(row &* 16, pairs.oddHalf)
            }
        } else {
            loadBorderSource(left, top)
        }
    }

    @inline(never) private mutating func loadBorderSource(_ left: Int, _ top: Int) {
        for row in 0..<16 {
            let line = source.luma + min(top + row, source.height - 1) * source.lumaPitch
            for column in 0..<16 { sourceLuma[row * 16 + column] = line[min(left + column, source.width - 1)] }
        }
        let lastColumn = (source.width + 1) / 2 - 1
        let lastRow = (source.height + 1) / 2 - 1
        for row in 0..<8 {
            let line = source.chroma + min(top / 2 + row, lastRow) * source.chromaPitch
            for column in 0..<8 {
                let pair = min(left / 2 + column, lastColumn)
                sourceCb[row * 16 + column] = line[2 * pair]
                sourceCr[row * 16 + column] = line[2 * pair + 1]
            }
        }
    }

    var reconstructedLuma: ElementPointer<UInt8> {
        mutating get { planes.luma + (y &* 16 &* stride &+ x &* 16) }
    }
    var reconstructedChroma: ElementPointer<UInt8> {
        mutating get { planes.chroma + (y &* 8 &* stride &+ x &* 16) }
    }

    /// Copies the neighboring samples of the macroblock to the border of the luma of `candidate`.
    mutating func loadLumaNeighborhood(_ candidate: CandidatePointers) {
        let from = reconstructedLuma
        let to = candidate.luma
        // Unavailable samples are copied too, which is within the margin of the plane, but they are not used.
        to.store(-H264Scratch.workStride &- 1, from.load(0 &- stride &- 1, as: UInt8.self))
        to.store(-H264Scratch.workStride, from.load(0 &- stride, as: Bytes.self))
        to.store(16 &- H264Scratch.workStride, from.load(16 &- stride, as: HalfBytes.self))
        for row in 0..<16 { to[row &* H264Scratch.workStride &- 1] = from[row &* stride &- 1] }
    }

    /// Copies the neighboring samples of the macroblock to the border of the chroma of `candidate`.
    mutating func loadChromaNeighborhood(_ candidate: CandidatePointers) {
        let from = reconstructedChroma
        let (cb, cr) = (candidate.cb, candidate.cr)
        let above: Bytes = from.load(0 &- stride)
        cb.store(-H264Scratch.workStride, above.evenHalf)
        cr.store(-H264Scratch.workStride, above.oddHalf)
        cb[-H264Scratch.workStride &- 1] = from[0 &- stride &- 2]
        cr[-H264Scratch.workStride &- 1] = from[0 &- stride &- 1]
        for row in 0..<8 {
            cb[row &* H264Scratch.workStride &- 1] = from[row &* stride &- 2]
            cr[row &* H264Scratch.workStride &- 1] = from[row &* stride &- 1]
        }
    }

    mutating func storeLuma(_ from: ElementPointer<UInt8>) {
        let to = reconstructedLuma
        for row in 0..<16 { to.store(row &* stride, from.load(row &* H264Scratch.workStride, as: Bytes.self)) }
    }

    mutating func storeChroma(_ cb: ElementPointer<UInt8>, _ cr: ElementPointer<UInt8>) {
        let to = reconstructedChroma
        for row in 0..<8 {
            let u: HalfBytes = cb.load(row &* H264Scratch.workStride)
            let v: HalfBytes = cr.load(row &* H264Scratch.workStride)
            to.store(row &* stride, zip(u, v))
        }
    }
}
