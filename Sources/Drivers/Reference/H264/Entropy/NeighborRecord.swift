/// The values of a macroblock that later macroblocks of the slice depend on. A row of records, indexed by column,
/// contains the macroblocks of the current row that are already coded, and the row above from the current column on.
struct NeighborRecord: BitwiseCopyable, Sendable {
    /// The bottom and right 4×4 luma blocks: TotalCoeff (CAVLC), or whether there are levels (CABAC).
    var bottomLuma = SIMD4<UInt8>.zero
    var rightLuma = SIMD4<UInt8>.zero
    /// The same for chroma AC blocks: bottom Cb, bottom Cr, right Cb, right Cr, with two entries each.
    var chroma = SIMD8<UInt8>.zero
    /// Absolute mvd components, limited to 64. The index is `8·list + 2·quadrant + component`.
    var motion = SIMD16<UInt8>.zero
    /// Bit `4·list + quadrant` is set if refIdx is larger than 0.
    var references: UInt8 = 0
    /// `MacroblockSyntax.codedBlockPattern`.
    var codedBlockPattern: UInt8 = 0
    /// Bits of the DC blocks that have levels: bit 0 intra 16×16 luma, bit 1 Cb, bit 2 Cr.
    var dc: UInt8 = 0
    var traits: Traits = []

    struct Traits: OptionSet, BitwiseCopyable, Sendable {
        var rawValue: UInt8
        static let coded = Traits(rawValue: 1)
        static let intra16x16 = Traits(rawValue: 2)
        static let transform8x8 = Traits(rawValue: 4)
        static let chromaMode = Traits(rawValue: 8)
        static let direct = Traits(rawValue: 16)
    }

    /// The record of a macroblock outside the slice, for CAVLC. A count of 64 marks a block as not available.
    static let unavailableCounts = NeighborRecord(
        bottomLuma: SIMD4(repeating: 64), rightLuma: SIMD4(repeating: 64), chroma: SIMD8(repeating: 64))
    /// The record of a macroblock outside the slice, for an intra macroblock with CABAC. coded_block_flag counts as 1,
    /// H.264 9.3.3.1.1.9. For coded_block_pattern, luma blocks count as coded, 9.3.3.1.1.4.
    static let unavailableToIntra = NeighborRecord(
        bottomLuma: SIMD4(repeating: 1), rightLuma: SIMD4(repeating: 1), chroma: SIMD8(repeating: 1),
        codedBlockPattern: 15, dc: 7)
    /// The record of a macroblock outside the slice, for an inter macroblock with CABAC.
    static let unavailableToInter = NeighborRecord(codedBlockPattern: 15)
}

/// The counts of the current macroblock's blocks and of the neighboring blocks to the left and above. The grid has 8
/// bytes a row: luma from row 1, column 1, Cb from row 6, column 1, Cr from row 6, column 5.
struct BlockCountGrid {
    static let size = 64
    private let elements: ElementPointer<UInt8>

    init(_ elements: ElementPointer<UInt8>) { self.elements = elements }

    /// Returns the index of a luma 4×4 block, by luma4x4BlkIdx.
    @inline(__always) static func luma(_ block: Int) -> Int {
        let x = (block & 1) &+ (block &>> 1 & 2)
        let y = (block &>> 1 & 1) &+ (block &>> 2 & 2)
        return 9 &+ 8 &* y &+ x
    }

    /// Returns the index of a chroma AC block: 0…3 Cb, 4…7 Cr.
    @inline(__always) static func chroma(_ block: Int) -> Int {
        49 &+ (block & 4) &+ 8 &* (block &>> 1 & 1) &+ (block & 1)
    }

    @inline(__always) subscript(_ index: Int) -> UInt8 {
        get { elements[index] }
        nonmutating set { elements[index] = newValue }
    }

    /// Sets the four entries of a luma 8×8 block.
    @inline(__always) func setLuma8x8(_ block: Int, _ value: UInt8) {
        let index = Self.luma(4 * block)
        elements.store(index, SIMD2<UInt8>(repeating: value))
        elements.store(index + 8, SIMD2<UInt8>(repeating: value))
    }

    /// Returns nC, 9.2.1, of the block at `index`.
    @inline(__always) func predictedCount(_ index: Int) -> Int {
        let sum = Int(elements[index &- 1]) &+ Int(elements[index &- 8])
        return sum < 64 ? (sum &+ 1) &>> 1 : sum & 63
    }

    /// Returns ctxIdxInc of coded_block_flag of the block at `index`.
    @inline(__always) func flagContext(_ index: Int) -> Int {
        (elements[index &- 1] != 0 ? 1 : 0) &+ (elements[index &- 8] != 0 ? 2 : 0)
    }

    /// Loads the neighbors' counts and sets the counts of the macroblock to 0.
    @inline(__always) func start(left: NeighborRecord, top: NeighborRecord) {
        elements.store(1, top.bottomLuma)
        elements.store(41, SIMD2(top.chroma[0], top.chroma[1]))
        elements.store(45, SIMD2(top.chroma[2], top.chroma[3]))
        for y in 0..<4 {
            elements[8 + 8 * y] = left.rightLuma[y]
            elements.store(9 + 8 * y, SIMD4<UInt8>.zero)
        }
        for y in 0..<2 {
            elements[48 + 8 * y] = left.chroma[4 + y]
            elements.store(49 + 8 * y, SIMD2<UInt8>.zero)
            elements[52 + 8 * y] = left.chroma[6 + y]
            elements.store(53 + 8 * y, SIMD2<UInt8>.zero)
        }
    }

    /// Stores the counts of the macroblock's bottom and right blocks in `record`.
    @inline(__always) func finish(_ record: inout NeighborRecord) {
        record.bottomLuma = elements.load(33)
        record.rightLuma = SIMD4(elements[12], elements[20], elements[28], elements[36])
        record.chroma = SIMD8(
            elements[57], elements[58], elements[61], elements[62], elements[50], elements[58], elements[54], elements[62])
    }
}
