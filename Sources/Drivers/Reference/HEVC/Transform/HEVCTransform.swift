/// The numbers of leading columns and rows of a block that may contain values other than 0.
package struct HEVCExtent: Equatable, BitwiseCopyable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// Transforms residual blocks, H.265 8.6.4.2. Owns the tables and the working memory, so one thread at a time may use
/// it. Residuals and coefficients are 16-bit words. Coefficients are in raster order (row: vertical frequency) without
/// padding.
package final class HEVCTransform: Sendable {
    let bitDepth: Int
    let tables = HEVCTransformTables()
    /// The pairs of interleaved rows: up to 8, of 16 words each.
    let pairs = ElementStorage<Int16>(count: 128, repeating: 0)
    /// The intermediate outputs of eight columns: up to 32 for each.
    let outputs = ElementStorage<Int32>(count: 256, repeating: 0)
    /// The sums of one level of the butterfly for eight columns: up to 16 for each.
    let sums = ElementStorage<Int32>(count: 128, repeating: 0)
    /// The sums of inputs for eight columns: up to 16 for each.
    let folded = ElementStorage<Int16>(count: 128, repeating: 0)
    /// A block between the horizontal and the vertical pass.
    let first = ElementStorage<Int16>(count: 1024, repeating: 0)
    /// Another block between the horizontal and the vertical pass.
    let second = ElementStorage<Int16>(count: 1024, repeating: 0)

    /// Initializes the tables for a `bitDepth` of 8 or 10.
    package init(bitDepth: Int) { self.bitDepth = bitDepth }

    /// Transposes a block; `columns` and `rows` are multiples of 8.
    func transpose(
        _ source: ElementPointer<Int16>, _ stride: Int, columns: Int, rows: Int, to destination: ElementPointer<Int16>,
        _ destinationStride: Int
    ) {
        var y = 0
        while y < rows {
            var x = 0
            while x < columns {
                let s = source + (y &* stride &+ x)
                let t = Block8x8(
                    s.load(0), s.load(stride), s.load(2 &* stride), s.load(3 &* stride), s.load(4 &* stride),
                    s.load(5 &* stride), s.load(6 &* stride), s.load(7 &* stride)
                ).transposed
                let d = destination + (x &* destinationStride &+ y)
                d.store(0, t.r0)
                d.store(destinationStride, t.r1)
                d.store(2 &* destinationStride, t.r2)
                d.store(3 &* destinationStride, t.r3)
                d.store(4 &* destinationStride, t.r4)
                d.store(5 &* destinationStride, t.r5)
                d.store(6 &* destinationStride, t.r6)
                d.store(7 &* destinationStride, t.r7)
                x &+= 8
            }
            y &+= 8
        }
    }

    /// Interleaves two rows of eight values and stores them as pair `index`.
    @inline(__always) func setPair(_ index: Int, _ a: Words, _ b: Words) {
        let (low, high) = zip(a, b)
        pairs.elements.store(16 &* index, low)
        pairs.elements.store(16 &* index &+ 8, high)
    }
}

/// A 4×4 block in two vectors of eight values.
struct HEVCBlock4x4 {
    /// Rows 0 and 1, and rows 2 and 3.
    var upper: Words
    var lower: Words

    @inline(__always) init(upper: Words, lower: Words) {
        self.upper = upper
        self.lower = lower
    }

    @inline(__always) var transposed: HEVCBlock4x4 {
        let (a, b) = zip(upper, lower)
        let (c, d) = zip(a, b)
        return HEVCBlock4x4(upper: c, lower: d)
    }

    /// Multiplies the 4×4 matrix in `table` by this block; each value is rounded by 1 << (shift − 1) and shifted right.
    @inline(__always) func multiplied(_ table: ElementPointer<Int16>, shift: Int32) -> HEVCBlock4x4 {
        var pairs = SIMD16<Int16>()
        pairs.evenHalf = Words(lowHalf: upper.lowHalf, highHalf: lower.lowHalf)
        pairs.oddHalf = Words(lowHalf: upper.highHalf, highHalf: lower.highHalf)
        let round = Quads(repeating: 1 &<< (shift &- 1))
        let shifts = Quads(repeating: shift)
        let a = Self.row(pairs, table) &+ round
        let b = Self.row(pairs, table + 16) &+ round
        let c = Self.row(pairs, table + 32) &+ round
        let d = Self.row(pairs, table + 48) &+ round
        return HEVCBlock4x4(
            upper: saturatedWords(a &>> shifts, b &>> shifts), lower: saturatedWords(c &>> shifts, d &>> shifts))
    }

    @inline(__always) private static func row(_ pairs: SIMD16<Int16>, _ table: ElementPointer<Int16>) -> Quads {
        pairProducts(pairs.lowHalf, table.load(0)) &+ pairProducts(pairs.highHalf, table.load(8))
    }
}
