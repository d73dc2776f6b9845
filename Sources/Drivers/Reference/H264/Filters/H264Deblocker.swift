/// The deblocking filter, H.264 8.7. It filters a picture after all its macroblocks are reconstructed.
struct H264Deblocker {
    let width: Int
    let height: Int
    let stride: Int
    let planes: ReferencePlanes
    let tables: H264PictureTables
    /// The filter parameters, indexed by slice number.
    let slices: ElementPointer<SliceFiltering>
    /// QP_C indexed by QP_Y: 52 entries for Cb, then 52 for Cr.
    let chromaQPs: ElementPointer<Int8>
    let alpha: ElementPointer<Int16>
    let beta: ElementPointer<Int16>
    let clipping: ElementPointer<Int16>
    /// bS of the current macroblock: 4 values for each edge, first 4 vertical edges, then 4 horizontal edges.
    let strengths: ElementPointer<UInt8>
    /// Whether any macroblock predicts from list 1.
    let comparesBothLists: Bool

    /// Filters macroblock row `y`. The rows above must be filtered before.
    func filterRow(_ y: Int) {
        for x in 0..<width { filter(x, y) }
    }

    @inline(__always) private func filter(_ x: Int, _ y: Int) {
        let address = y &* width &+ x
        let slice = slices[Int(tables.slice[address])]
        if slice.mode == 1 { return }
        let filtersLeft = x > 0 && (slice.mode == 0 || tables.slice[address &- 1] == tables.slice[address])
        let filtersTop = y > 0 && (slice.mode == 0 || tables.slice[address &- width] == tables.slice[address])
        decideStrengths(x, y, address, filtersLeft: filtersLeft, filtersTop: filtersTop)
        let qp = Int(tables.qp[address])
        let luma = planes.luma + (y &* 16 &* stride &+ x &* 16)
        let chroma = planes.chroma + (y &* 8 &* stride &+ x &* 16)
        let isIntra = tables.isIntra[address] != 0
        for edge in 0..<8 {
            let packed: UInt32 = strengths.load(edge &* 4)
            if packed == 0 { continue }
            let index = edge & 3
            let vertical = edge < 4
            let other = index > 0 ? address : (vertical ? address &- 1 : address &- width)
            let otherQP = Int(tables.qp[other])
            let strong = index == 0 && (isIntra || tables.isIntra[other] != 0)
            if let limits = limits((qp &+ otherQP &+ 1) &>> 1, slice) {
                let first = EdgeFilter.Strength(
                    alpha: limits.alpha, beta: limits.beta, clipping: clips(packed, limits.index))
                let second = EdgeFilter.Strength(
                    alpha: limits.alpha, beta: limits.beta, clipping: clips(packed &>> 16, limits.index))
                if vertical {
                    let at = luma + index &* 4
                    if strong {
                        EdgeFilter.lumaColumn(at, stride, first, strong: true)
                        EdgeFilter.lumaColumn(at + 8 &* stride, stride, second, strong: true)
                    } else {
                        if packed & 0xFFFF != 0 { EdgeFilter.lumaColumn(at, stride, first, strong: false) }
                        if packed &>> 16 != 0 {
                            EdgeFilter.lumaColumn(at + 8 &* stride, stride, second, strong: false)
                        }
                    }
                } else {
                    let at = luma + index &* 4 &* stride
                    if strong {
                        EdgeFilter.lumaRow(at, stride, first, strong: true)
                        EdgeFilter.lumaRow(at + 8, stride, second, strong: true)
                    } else {
                        if packed & 0xFFFF != 0 { EdgeFilter.lumaRow(at, stride, first, strong: false) }
                        if packed &>> 16 != 0 { EdgeFilter.lumaRow(at + 8, stride, second, strong: false) }
                    }
                }
            }
            if index & 1 == 0 {
                filterChroma(
                    chroma, index: index, vertical: vertical, packed: packed, qp: qp, otherQP: otherQP, slice: slice,
                    strong: strong)
            }
        }
    }

    @inline(never) private func filterChroma(
        _ chroma: ElementPointer<UInt8>, index: Int, vertical: Bool, packed: UInt32, qp: Int, otherQP: Int,
        slice: SliceFiltering, strong: Bool
    ) {
        let cb = limits((Int(chromaQPs[qp]) &+ Int(chromaQPs[otherQP]) &+ 1) &>> 1, slice)
        let cr = limits((Int(chromaQPs[52 &+ qp]) &+ Int(chromaQPs[52 &+ otherQP]) &+ 1) &>> 1, slice)
        if cb == nil && cr == nil { return }
        // Thresholds of 0 disable the filter.
        let off = Limits(index: 0, alpha: Words(repeating: 0), beta: Words(repeating: 0))
        let (u, v) = (cb ?? off, cr ?? off)
        if vertical {
            // Each bS applies to two rows.
            let at = chroma + index &* 4
            EdgeFilter.chromaColumn(
                at, stride,
                cb: EdgeFilter.Strength(alpha: u.alpha, beta: u.beta, clipping: pairClips(packed, u.index)),
                cr: EdgeFilter.Strength(alpha: v.alpha, beta: v.beta, clipping: pairClips(packed, v.index)),
                strong: strong)
            return
        }
        let at = chroma + index &* 2 &* stride
        for half in 0..<2 {
            // Each bS applies to four bytes, that is two Cb/Cr pairs.
            let bits = packed &>> UInt32(half &* 16)
            if bits & 0xFFFF == 0 { continue }
            EdgeFilter.chromaRow(
                at + half &* 8, stride,
                EdgeFilter.Strength(
                    alpha: interleaved(u.alpha, v.alpha), beta: interleaved(u.beta, v.beta),
                    clipping: interleaved(clips(bits, u.index), clips(bits, v.index))),
                strong: strong)
        }
    }

    @inline(__always) private func interleaved(_ a: Words, _ b: Words) -> Words {
        var both = a
        both.oddHalf = b.oddHalf
        return both
    }

    private struct Limits {
        let index: Int
        let alpha: Words
        let beta: Words
    }

    /// Returns the thresholds for an average QP, or nil if α or β is 0 and nothing is filtered.
    @inline(__always) private func limits(_ qp: Int, _ slice: SliceFiltering) -> Limits? {
        let indexA = max(0, min(51, qp &+ slice.offsetA))
        let indexB = max(0, min(51, qp &+ slice.offsetB))
        let (a, b) = (alpha[indexA], beta[indexB])
        if a == 0 || b == 0 { return nil }
        return Limits(index: indexA, alpha: Words(repeating: a), beta: Words(repeating: b))
    }

    /// Returns t_C0 for two bS with four positions each. It is −1 if bS is 0.
    @inline(__always) private func clips(_ packed: UInt32, _ index: Int) -> Words {
        let a = clip(packed & 0xFF, index)
        let b = clip((packed &>> 8) & 0xFF, index)
        return Words(a, a, a, a, b, b, b, b)
    }

    /// Returns t_C0 for four bS with two positions each.
    @inline(__always) private func pairClips(_ packed: UInt32, _ index: Int) -> Words {
        let a = clip(packed & 0xFF, index)
        let b = clip((packed &>> 8) & 0xFF, index)
        let c = clip((packed &>> 16) & 0xFF, index)
        let d = clip(packed &>> 24, index)
        return Words(a, a, b, b, c, c, d, d)
    }

    @inline(__always) private func clip(_ strength: UInt32, _ index: Int) -> Int16 {
        strength == 0 ? -1 : clipping[index &* 4 &+ (Int(strength) & 3)]
    }

    // MARK: bS

    /// Derives bS, H.264 8.7.2.1, for macroblocks whose smallest partition is 8×8.
    @inline(__always) private func decideStrengths(
        _ x: Int, _ y: Int, _ address: Int, filtersLeft: Bool, filtersTop: Bool
    ) {
        let isIntra = tables.isIntra
        let small = tables.transform8x8[address] == 0
        if isIntra[address] != 0 {
            let inner: UInt32 = 0x0303_0303
            strengths.store(0, filtersLeft ? 0x0404_0404 : 0 as UInt32)
            strengths.store(4, small ? inner : 0)
            strengths.store(8, inner)
            strengths.store(12, small ? inner : 0)
            strengths.store(16, filtersTop ? 0x0404_0404 : 0 as UInt32)
            strengths.store(20, small ? inner : 0)
            strengths.store(24, inner)
            strengths.store(28, small ? inner : 0)
            return
        }
        let row = width &* 2
        let origin = y &* 2 &* row &+ x &* 2
        let bits = UInt32(tables.nonZero[address])
        if bits == 0 && isUniform(origin, row) {
            strengths.store(4, 0 as UInt64)
            strengths.store(12, 0 as UInt32)
            strengths.store(20, 0 as UInt64)
            strengths.store(28, 0 as UInt32)
        } else {
            decideInnerStrengths(bits, origin, row, small: small)
        }
        if !filtersLeft {
            strengths.store(0, 0 as UInt32)
        } else if isIntra[address &- 1] != 0 {
            strengths.store(0, 0x0404_0404 as UInt32)
        } else {
            let left = UInt32(tables.nonZero[address &- 1]) &>> 3
            let moved =
                motionDiffers(origin &- 1, origin)
                | motionDiffers(origin &+ row &- 1, origin &+ row) &<< 16
            strengths.store(0, strongest(column(bits | left, 0), moved))
        }
        if !filtersTop {
            strengths.store(16, 0 as UInt32)
        } else if isIntra[address &- width] != 0 {
            strengths.store(16, 0x0404_0404 as UInt32)
        } else {
            let top = UInt32(tables.nonZero[address &- width]) &>> 12
            let moved =
                motionDiffers(origin &- row, origin)
                | motionDiffers(origin &- row &+ 1, origin &+ 1) &<< 16
            strengths.store(16, strongest(line(bits | top, 0), moved))
        }
    }

    /// Derives bS of the edges inside a macroblock that is not intra.
    @inline(__always) private func decideInnerStrengths(_ bits: UInt32, _ origin: Int, _ row: Int, small: Bool) {
        // Edges with bS 2 because of levels. Bit 4r + c is set if there are levels on either side of the left
        // (`across`) or upper (`down`) edge of block (r, c).
        let across = bits | bits &<< 1
        let down = bits | bits &<< 4
        if small {
            strengths.store(4, column(across, 1))
            strengths.store(12, column(across, 3))
            strengths.store(20, line(down, 1))
            strengths.store(28, line(down, 3))
        } else {
            strengths.store(4, 0 as UInt32)
            strengths.store(12, 0 as UInt32)
            strengths.store(20, 0 as UInt32)
            strengths.store(28, 0 as UInt32)
        }
        let middle = motionDiffers(origin, origin &+ 1) | motionDiffers(origin &+ row, origin &+ row &+ 1) &<< 16
        strengths.store(8, strongest(column(across, 2), middle))
        let center = motionDiffers(origin, origin &+ row) | motionDiffers(origin &+ 1, origin &+ row &+ 1) &<< 16
        strengths.store(24, strongest(line(down, 2), center))
    }

    /// Returns whether the four 8×8 blocks of a macroblock have the same motion. May return false if they do.
    @inline(__always) private func isUniform(_ origin: Int, _ row: Int) -> Bool {
        if comparesBothLists { return false }
        let (first, second) = (tables.motion.load(origin, as: SIMD2<UInt32>.self), tables.motion.load(origin &+ row, as: SIMD2<UInt32>.self))
        let picture = tables.referencePicture
        let (upper, lower) = (picture.load(origin, as: SIMD2<Int8>.self), picture.load(origin &+ row, as: SIMD2<Int8>.self))
        return first == second && upper == lower && first.x == first.y && upper.x == upper.y
    }

    /// Returns four bytes, one per row: 2 if the bit of the row is set in column `index`.
    @inline(__always) private func column(_ bits: UInt32, _ index: UInt32) -> UInt32 {
        let b = bits &>> index
        return (b & 1 | (b & 0x10) &<< 4 | (b & 0x100) &<< 8 | (b & 0x1000) &<< 12) &<< 1
    }

    /// Returns four bytes, one per column: 2 if the bit of the column is set in row `index`.
    @inline(__always) private func line(_ bits: UInt32, _ index: UInt32) -> UInt32 {
        let b = bits &>> (index &* 4)
        return (b & 1 | (b & 2) &<< 7 | (b & 4) &<< 14 | (b & 8) &<< 21) &<< 1
    }

    /// Returns 1 in both low bytes if two 8×8 blocks have different reference pictures, or vectors that differ by a
    /// whole sample or more. Returns 0 otherwise.
    @inline(__always) private func motionDiffers(_ a: Int, _ b: Int) -> UInt32 {
        if comparesBothLists { return pairsDiffer(a, b) }
        if tables.referencePicture[a] != tables.referencePicture[b] { return 0x0101 }
        let p = tables.motion[a]
        let q = tables.motion[b]
        let dx = Int(p.x) &- Int(q.x)
        let dy = Int(p.y) &- Int(q.y)
        return dx > -4 && dx < 4 && dy > -4 && dy < 4 ? 0 : 0x0101
    }

    /// Returns the same as `motionDiffers` for blocks that may predict from two pictures. The sets of pictures are
    /// compared, then the vectors into the same picture. If both references are the same picture, both ways of pairing
    /// the vectors are tried.
    @inline(never) private func pairsDiffer(_ a: Int, _ b: Int) -> UInt32 {
        let picture = tables.referencePicture
        let second = tables.blocks
        let (a0, a1) = (picture[a], picture[a &+ second])
        let (b0, b1) = (picture[b], picture[b &+ second])
        let isStraight = a0 == b0 && a1 == b1
        let isCrossed = a0 == b1 && a1 == b0
        if isStraight && !far(a, b) && !far(a &+ second, b &+ second) { return 0 }
        if isCrossed && !far(a, b &+ second) && !far(a &+ second, b) { return 0 }
        return 0x0101
    }

    @inline(__always) private func far(_ a: Int, _ b: Int) -> Bool {
        let p = tables.motion[a]
        let q = tables.motion[b]
        return abs(Int(p.x) &- Int(q.x)) >= 4 || abs(Int(p.y) &- Int(q.y)) >= 4
    }

    /// Returns the maximum of each byte of `a` (0 or 2) and `b` (0 or 1).
    @inline(__always) private func strongest(_ a: UInt32, _ b: UInt32) -> UInt32 { a | (b & ~(a &>> 1)) }
}
