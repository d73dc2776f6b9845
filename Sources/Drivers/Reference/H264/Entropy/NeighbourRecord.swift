/// What later macroblocks of the slice need to know of one: a row of these, indexed by column, holds the
/// macroblocks above up to the current column and those of the current row before it.
struct NeighbourRecord: BitwiseCopyable, Sendable {
    /// TotalCoeff (CAVLC) or whether there are levels (CABAC) of the bottom and right 4×4 luma blocks.
    var bottomLuma = SIMD4<UInt8>.zero
    var rightLuma = SIMD4<UInt8>.zero
    /// The same of chroma AC blocks: bottom Cb, bottom Cr, right Cb, right Cr, two of each.
    var chroma = SIMD8<UInt8>.zero
    /// Absolute mvd components, at most 64 each, `8·list + 2·quadrant + component`.
    var motion = SIMD16<UInt8>.zero
    /// Bit `4·list + quadrant`: refIdx is above 0.
    var references: UInt8 = 0
    /// As `MacroblockSyntax.codedBlockPattern`.
    var codedBlockPattern: UInt8 = 0
    /// Bit 0: intra 16×16 DC, 1: Cb DC, 2: Cr DC has levels.
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

    /// Outside the slice, for CAVLC: counts of 64 mark blocks that are not available.
    static let unavailableCounts = NeighbourRecord(
        bottomLuma: SIMD4(repeating: 64), rightLuma: SIMD4(repeating: 64), chroma: SIMD8(repeating: 64))
    /// Outside the slice, for CABAC in an intra macroblock: coded_block_flag counts as 1, H.264 9.3.3.1.1.9; luma
    /// blocks count as coded for coded_block_pattern, 9.3.3.1.1.4.
    static let unavailableToIntra = NeighbourRecord(
        bottomLuma: SIMD4(repeating: 1), rightLuma: SIMD4(repeating: 1), chroma: SIMD8(repeating: 1),
        codedBlockPattern: 15, dc: 7)
    /// Outside the slice, for CABAC in an inter macroblock.
    static let unavailableToInter = NeighbourRecord(codedBlockPattern: 15)
}

/// Counts of the current macroblock's blocks with those of its neighbours to the left and above, in a grid of 8
/// bytes a row: luma from row 1, column 1, Cb from row 6, column 1, Cr from row 6, column 5.
struct BlockCountGrid {
    static let size = 64
    private let elements: ElementPointer<UInt8>

    init(_ elements: ElementPointer<UInt8>) { self.elements = elements }

    /// The place of a luma 4×4 block, by luma4x4BlkIdx.
    @inline(__always) static func luma(_ block: Int) -> Int {
        let x = (block & 1) &+ (block &>> 1 & 2)
        let y = (block &>> 1 & 1) &+ (block &>> 2 & 2)
        return 9 &+ 8 &* y &+ x
    }

    /// The place of a chroma AC block: 0…3 Cb, 4…7 Cr.
    @inline(__always) static func chroma(_ block: Int) -> Int {
        49 &+ (block & 4) &+ 8 &* (block &>> 1 & 1) &+ (block & 1)
    }

    @inline(__always) subscript(_ index: Int) -> UInt8 {
        get { elements[index] }
        nonmutating set { elements[index] = newValue }
    }

    /// Sets a luma 8×8 block's four places.
    @inline(__always) func setLuma8x8(_ block: Int, _ value: UInt8) {
        let index = Self.luma(4 * block)
        elements.store(index, SIMD2<UInt8>(repeating: value))
        elements.store(index + 8, SIMD2<UInt8>(repeating: value))
    }

    /// nC of 9.2.1 for a place.
    @inline(__always) func predictedCount(_ index: Int) -> Int {
        let sum = Int(elements[index &- 1]) &+ Int(elements[index &- 8])
        return sum < 64 ? (sum &+ 1) &>> 1 : sum & 63
    }

    /// ctxIdxInc of coded_block_flag for a place.
    @inline(__always) func flagContext(_ index: Int) -> Int {
        (elements[index &- 1] != 0 ? 1 : 0) &+ (elements[index &- 8] != 0 ? 2 : 0)
    }

    /// Puts the neighbours' edges around a macroblock without levels.
    @inline(__always) func start(left: NeighbourRecord, top: NeighbourRecord) {
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

    /// Keeps the macroblock's own edges.
    @inline(__always) func finish(_ record: inout NeighbourRecord) {
        record.bottomLuma = elements.load(33)
        record.rightLuma = SIMD4(elements[12], elements[20], elements[28], elements[36])
        record.chroma = SIMD8(
            elements[57], elements[58], elements[61], elements[62], elements[50], elements[58], elements[54], elements[62])
    }
}
