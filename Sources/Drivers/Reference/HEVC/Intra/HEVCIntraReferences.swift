/// The neighboring samples that a block's prediction may use, one bit for each unit. A unit is 4×4 luma samples with
/// their chroma, so it spans 4 luma or 2 chroma samples. With constrained_intra_pred_flag, units that are not intra
/// count as unavailable, H.265 8.4.4.2.2.
package struct HEVCIntraNeighbors: Equatable, BitwiseCopyable, Sendable {
    /// Bit i: the i-th unit down the left side is available. Covers twice the block's height.
    package var left: UInt32
    /// Bit i: the i-th unit along the top is available. Covers twice the block's width.
    package var above: UInt32
    /// Whether the sample above and to the left is available.
    package var corner: Bool

    package init(left: UInt32, above: UInt32, corner: Bool) {
        self.left = left
        self.above = above
        self.corner = corner
    }
}

/// Owns the memory for one block's neighboring samples.
package final class HEVCIntraStorage<Sample: HEVCSample>: Sendable {
    let samples = ElementStorage<Sample>(count: 5 * HEVCIntraReferences<Sample>.pitch, repeating: 0)

    package init() {}
}

/// The neighboring samples of an N×N block for intra prediction, after substitution and filtering: H.265 8.4.4.2.2 and
/// 8.4.4.2.3.
///
/// Each array runs from the lowest sample on the left to the rightmost sample above. Index 0 is the corner sample,
/// −1…−2N run down the left side, and 1…2N run along the top. Mirrored arrays run in the opposite direction.
package struct HEVCIntraReferences<Sample: HEVCSample>: BitwiseCopyable {
    /// The distance between two arrays in samples: 64 on both sides of the corner, and what vector accesses touch
    /// beyond them.
    static var pitch: Int { 176 }
    private static var corner: Int { 80 }

    let plain: ElementPointer<Sample>
    let mirrored: ElementPointer<Sample>
    let filtered: ElementPointer<Sample>
    let filteredMirrored: ElementPointer<Sample>
    /// The reference array ref of a negative angle, H.265 (8-53) and (8-61).
    let projected: ElementPointer<Sample>

    package init(_ storage: HEVCIntraStorage<Sample>) {
        let first = storage.samples.elements + Self.corner
        plain = first
        mirrored = first + Self.pitch
        filtered = first + 2 * Self.pitch
        filteredMirrored = first + 3 * Self.pitch
        projected = first + 4 * Self.pitch
    }

    /// Loads the neighboring samples of a block; `block` points to its first sample in the reconstruction.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package func load(
        _ block: ElementPointer<Sample>, stride: Int, log2Size: Int, isLuma: Bool, _ neighbors: HEVCIntraNeighbors,
        strongSmoothing: Bool
    ) {
        let size = 1 &<< log2Size
        gather(block, stride, size, unit: isLuma ? 4 : 2, neighbors)
        mirror(plain, mirrored, size)
        guard isLuma && size > 4 else { return }
        if strongSmoothing && size == 32 && isSmooth {
            smoothStrongly()
        } else {
            filter(size)
        }
        mirror(filtered, filteredMirrored, size)
    }

    @inline(__always) private func gather(
        _ block: ElementPointer<Sample>, _ stride: Int, _ size: Int, unit: Int, _ neighbors: HEVCIntraNeighbors
    ) {
        let e = plain
        let units = 2 &* size / unit
        let all = UInt32(truncatingIfNeeded: (1 as UInt64) &<< UInt64(truncatingIfNeeded: units) &- 1)
        let hasLeft = neighbors.left & all
        let hasAbove = neighbors.above & all
        if hasLeft == 0 && hasAbove == 0 && !neighbors.corner {
            let middle = Sample(truncatingIfNeeded: 1 &<< (Sample.bitDepth &- 1))
            (e - 2 &* size).fill(middle, count: 4 &* size &+ 1)
            return
        }
        // Copies the available samples first. Then, from the bottom left on, each unavailable sample repeats the sample
        // before it (8.4.4.2.2).
        let left = block - 1
        for i in 0..<units where hasLeft & (1 &<< UInt32(truncatingIfNeeded: i)) != 0 {
            for y in i &* unit..<(i &+ 1) &* unit { e[-1 &- y] = left[y &* stride] }
        }
        let above = block - stride
        if neighbors.corner { e[0] = above[-1] }
        if hasAbove == all {
            (e + 1).copy(from: above, count: 2 &* size)
        } else {
            for i in 0..<units where hasAbove & (1 &<< UInt32(truncatingIfNeeded: i)) != 0 {
                (e + (1 &+ i &* unit)).copy(from: above + i &* unit, count: unit)
            }
        }
        if hasLeft == all && hasAbove == all && neighbors.corner { return }
        var last: Sample
        if hasLeft != 0 {
            last = e[-1 &- ((31 &- hasLeft.leadingZeroBitCount) &* unit &+ unit &- 1)]
        } else if neighbors.corner {
            last = e[0]
        } else {
            last = e[1 &+ hasAbove.trailingZeroBitCount &* unit]
        }
        var i = units &- 1
        while i >= 0 {
            let end = -1 &- i &* unit
            if hasLeft & (1 &<< UInt32(truncatingIfNeeded: i)) != 0 {
                last = e[end]
            } else {
                (e + (end &- unit &+ 1)).fill(last, count: unit)
            }
            i &-= 1
        }
        if neighbors.corner { last = e[0] } else { e[0] = last }
        for i in 0..<units {
            if hasAbove & (1 &<< UInt32(truncatingIfNeeded: i)) != 0 {
                last = e[i &* unit &+ unit]
            } else {
                (e + (1 &+ i &* unit)).fill(last, count: unit)
            }
        }
    }

    @inline(__always) private func mirror(_ from: ElementPointer<Sample>, _ to: ElementPointer<Sample>, _ size: Int) {
        let end = 2 &* size
        for i in 0...end {
            to[i] = from[0 &- i]
            to[0 &- i] = from[i]
        }
    }

    /// biIntFlag of 8.4.4.2.3: whether the samples on both sides of a 32×32 block are close to a straight line.
    private var isSmooth: Bool {
        @inline(__always) func isStraight(_ direction: Int) -> Bool {
            let bend = Int(plain[0]) &+ Int(plain[64 &* direction]) &- 2 &* Int(plain[32 &* direction])
            return abs(bend) < 1 &<< (Sample.bitDepth &- 5)
        }
        return isStraight(1) && isStraight(-1)
    }

    private func smoothStrongly() {
        let corner = Int(plain[0])
        for direction in [-1, 1] {
            let end = Int(plain[64 &* direction])
            for i in 1...63 {
                filtered[i &* direction] = Sample(truncatingIfNeeded: ((64 &- i) &* corner &+ i &* end &+ 32) &>> 6)
            }
            filtered[64 &* direction] = plain[64 &* direction]
        }
        filtered[0] = plain[0]
    }

    @inline(__always) private func filter(_ size: Int) {
        let end = 2 &* size
        var i = 0 &- end
        while i < end {
            let a = plain.words(i &- 1)
            let b = plain.words(i)
            let c = plain.words(i &+ 1)
            filtered.storeWords(i, (a &+ b &+ b &+ c &+ 2) &>> 2)
            i &+= 8
        }
        filtered[0 &- end] = plain[0 &- end]
        filtered[end] = plain[end]
    }
}
