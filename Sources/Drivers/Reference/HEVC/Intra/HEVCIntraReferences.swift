/// Which of the samples around a block its prediction may use, by units: 4×4 luma samples and what goes with them of
/// chroma, so 4 samples of luma and 2 of chroma. Those of units that are not intra count as missing under
/// constrained_intra_pred_flag, H.265 8.4.4.2.2.
package struct HEVCIntraNeighbours: Equatable, BitwiseCopyable, Sendable {
    /// Bit i: the i-th unit down the left side, as far as twice the block's height.
    package var left: UInt32
    /// Bit i: the i-th unit along the top, as far as twice the block's width.
    package var above: UInt32
    /// The sample above left.
    package var corner: Bool

    package init(left: UInt32, above: UInt32, corner: Bool) {
        self.left = left
        self.above = above
        self.corner = corner
    }
}

/// Memory for the samples around one block.
package final class HEVCIntraStorage<Sample: HEVCSample>: Sendable {
    let samples = ElementStorage<Sample>(count: 5 * HEVCIntraReferences<Sample>.pitch, repeating: 0)

    package init() {}
}

/// The samples around a block of N×N as intra prediction takes them, substituted and filtered: H.265 8.4.4.2.2 and
/// 8.4.4.2.3.
///
/// Each row of samples goes from the last at the bottom left to the last at the top right: entry 0 stands above left,
/// entries −1…−2N go down the left side, entries 1…2N along the top. Mirrored rows go the other way.
package struct HEVCIntraReferences<Sample: HEVCSample>: BitwiseCopyable {
    /// From row to row: 64 samples on either side of the corner, and what vectors read beyond.
    static var pitch: Int { 176 }
    private static var corner: Int { 80 }

    let plain: ElementPointer<Sample>
    let mirrored: ElementPointer<Sample>
    let filtered: ElementPointer<Sample>
    let filteredMirrored: ElementPointer<Sample>
    /// References of negative angles, by H.265 (8-53) and (8-61).
    let projected: ElementPointer<Sample>

    package init(_ storage: HEVCIntraStorage<Sample>) {
        let first = storage.samples.elements + Self.corner
        plain = first
        mirrored = first + Self.pitch
        filtered = first + 2 * Self.pitch
        filteredMirrored = first + 3 * Self.pitch
        projected = first + 4 * Self.pitch
    }

    /// Takes the samples around the block whose first sample is at `block` in the reconstruction.
    @inline(never)
    @_specialize(where Sample == UInt8)
    @_specialize(where Sample == UInt16)
    package func load(
        _ block: ElementPointer<Sample>, stride: Int, log2Size: Int, isLuma: Bool, _ neighbours: HEVCIntraNeighbours,
        strongSmoothing: Bool
    ) {
        let size = 1 &<< log2Size
        gather(block, stride, size, unit: isLuma ? 4 : 2, neighbours)
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
        _ block: ElementPointer<Sample>, _ stride: Int, _ size: Int, unit: Int, _ neighbours: HEVCIntraNeighbours
    ) {
        let e = plain
        let units = 2 &* size / unit
        let all = UInt32(truncatingIfNeeded: (1 as UInt64) &<< UInt64(truncatingIfNeeded: units) &- 1)
        let hasLeft = neighbours.left & all
        let hasAbove = neighbours.above & all
        if hasLeft == 0 && hasAbove == 0 && !neighbours.corner {
            let middle = Sample(truncatingIfNeeded: 1 &<< (Sample.bitDepth &- 1))
            (e - 2 &* size).fill(middle, count: 4 &* size &+ 1)
            return
        }
        // What is there, first; then what is missing repeats what comes before it from the bottom left on.
        let left = block - 1
        for i in 0..<units where hasLeft & (1 &<< UInt32(truncatingIfNeeded: i)) != 0 {
            for y in i &* unit..<(i &+ 1) &* unit { e[-1 &- y] = left[y &* stride] }
        }
        let above = block - stride
        if neighbours.corner { e[0] = above[-1] }
        if hasAbove == all {
            (e + 1).copy(from: above, count: 2 &* size)
        } else {
            for i in 0..<units where hasAbove & (1 &<< UInt32(truncatingIfNeeded: i)) != 0 {
                (e + (1 &+ i &* unit)).copy(from: above + i &* unit, count: unit)
            }
        }
        if hasLeft == all && hasAbove == all && neighbours.corner { return }
        var last: Sample
        if hasLeft != 0 {
            last = e[-1 &- ((31 &- hasLeft.leadingZeroBitCount) &* unit &+ unit &- 1)]
        } else if neighbours.corner {
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
        if neighbours.corner { last = e[0] } else { e[0] = last }
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

    /// Both sides of a 32×32 block are nearly straight: biIntFlag.
    private var isSmooth: Bool {
        @inline(__always) func isStraight(_ way: Int) -> Bool {
            let bend = Int(plain[0]) &+ Int(plain[64 &* way]) &- 2 &* Int(plain[32 &* way])
            return abs(bend) < 1 &<< (Sample.bitDepth &- 5)
        }
        return isStraight(1) && isStraight(-1)
    }

    private func smoothStrongly() {
        let corner = Int(plain[0])
        for way in [-1, 1] {
            let end = Int(plain[64 &* way])
            for i in 1...63 {
                filtered[i &* way] = Sample(truncatingIfNeeded: ((64 &- i) &* corner &+ i &* end &+ 32) &>> 6)
            }
            filtered[64 &* way] = plain[64 &* way]
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
