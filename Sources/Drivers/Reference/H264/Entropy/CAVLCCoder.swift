/// Writes slice data with CAVLC: H.264 7.3.4 and 7.3.5 with Exp-Golomb codes.
struct CAVLCCoder {
    var sink: SliceBitSink
    /// mb_skip_run: the number of skipped macroblocks since the last coded one.
    private var skipRun = 0
    let levelScratch: ElementPointer<Int16>
    let positionScratch: ElementPointer<Int16>
    let blockScratch: ElementPointer<Int16>
    let coeffToken: ElementPointer<UInt16>
    let coeffTokenStart: ElementPointer<UInt16>
    let totalZeros: ElementPointer<UInt16>
    let totalZerosChromaDC: ElementPointer<UInt16>
    let runBefore: ElementPointer<UInt16>
    let patternCodes: ElementPointer<UInt8>

    /// The number of elements that `scratch` must have.
    static let scratchCount = 16 + 16 + 64

    init(sink: SliceBitSink, scratch: ElementPointer<Int16>, tables: EntropyTables) {
        self.sink = sink
        levelScratch = scratch
        positionScratch = scratch + 16
        blockScratch = scratch + 32
        coeffToken = tables.coeffToken.elements
        coeffTokenStart = tables.coeffTokenStart.elements
        totalZeros = tables.totalZeros.elements
        totalZerosChromaDC = tables.totalZerosChromaDC.elements
        runBefore = tables.runBefore.elements
        patternCodes = tables.patternCodes.elements
    }

    /// Writes a macroblock. `grid` contains the neighbors' counts and receives those of this macroblock.
    /// `transform8x8` is transform_size_8x8_flag.
    mutating func write(
        _ macroblock: borrowing MacroblockSyntax, slice: EntropySlice, grid: BlockCountGrid, transform8x8: Bool
    ) {
        if macroblock.kind == .skip {
            skipRun += 1
            return
        }
        if slice.type != .i {
            sink.putUnsigned(skipRun)
            skipRun = 0
        }
        writeType(macroblock, slice: slice)
        if slice.transform8x8 && (macroblock.kind == .intra4x4 || macroblock.kind == .intra8x8) {
            sink.put(transform8x8 ? 1 : 0, 1)
        }
        if macroblock.kind.isIntra {
            writeIntraModes(macroblock)
        } else {
            writeMotion(macroblock, slice: slice)
        }
        let pattern = macroblock.codedBlockPattern
        if macroblock.kind != .intra16x16 {
            sink.putUnsigned(Int(patternCodes[pattern + (macroblock.kind.isIntra ? 48 : 0)]))
            if !macroblock.kind.isIntra && macroblock.codesTransformSize(slice) {
                sink.put(transform8x8 ? 1 : 0, 1)
            }
        }
        if pattern != 0 || macroblock.kind == .intra16x16 {
            sink.putSigned(macroblock.qpDelta)
            writeResidual(macroblock, grid: grid, transform8x8: transform8x8)
        }
    }

    /// Ends the slice. Returns the number of bytes.
    mutating func finish() -> Int {
        if skipRun > 0 { sink.putUnsigned(skipRun) }
        skipRun = 0
        sink.put(1, 1)
        sink.align(with: 0)
        sink.flush()
        return sink.byteCount
    }

    /// Writes mb_type, tables 7-11, 7-13 and 7-14, and the four sub_mb_type of P_8x8 and B_8x8.
    private mutating func writeType(_ macroblock: borrowing MacroblockSyntax, slice: EntropySlice) {
        let intraStart = slice.type == .i ? 0 : slice.type == .p ? 5 : 23
        if slice.type == .b && !macroblock.kind.isIntra {
            sink.putUnsigned(macroblock.bipredictiveType)
            if macroblock.kind == .inter8x8 {
                for quadrant in 0..<4 { sink.putUnsigned(macroblock.bipredictiveSubType(quadrant)) }
            }
            return
        }
        switch macroblock.kind {
        case .skip, .direct: break
        case .intra4x4, .intra8x8: sink.putUnsigned(intraStart)
        case .intra16x16:
            let pattern = macroblock.codedBlockPattern
            sink.putUnsigned(
                intraStart + 1 + macroblock.intra16x16Mode + 4 * (pattern >> 4) + (pattern & 15 != 0 ? 12 : 0))
        case .inter16x16: sink.putUnsigned(0)
        case .inter16x8: sink.putUnsigned(1)
        case .inter8x16: sink.putUnsigned(2)
        case .inter8x8:
            sink.putUnsigned(3)
            // ue(0) four times: P_L0_8x8.
            sink.put(0b1111, 4)
        }
    }

    private mutating func writeIntraModes(_ macroblock: borrowing MacroblockSyntax) {
        if macroblock.kind != .intra16x16 {
            let modes = macroblock.intraModes
            for block in stride(from: 0, to: 16, by: macroblock.kind == .intra8x8 ? 4 : 1) {
                let mode = modes[block]
                if mode < 0 { sink.put(1, 1) } else { sink.put(UInt32(mode), 4) }
            }
        }
        sink.putUnsigned(macroblock.intraChromaMode)
    }

    private mutating func writeMotion(_ macroblock: borrowing MacroblockSyntax, slice: EntropySlice) {
        if macroblock.kind == .direct { return }
        let lists = slice.type == .b ? 2 : 1
        for list in 0..<lists {
            let range = (list == 0 ? slice.referenceCounts.0 : slice.referenceCounts.1) - 1
            if range == 0 { continue }
            let quadrants = macroblock.codedQuadrants(slice, list: list)
            for quadrant in 0..<4 where quadrants & 1 << quadrant != 0 {
                sink.putTruncated(Int(macroblock.referenceIndices[4 * list + quadrant]), range: range)
            }
        }
        for list in 0..<lists {
            let quadrants = macroblock.codedQuadrants(slice, list: list)
            for quadrant in 0..<4 where quadrants & 1 << quadrant != 0 {
                let difference = macroblock.motionDifferences[4 * list + quadrant]
                sink.putSigned(Int(difference.x))
                sink.putSigned(Int(difference.y))
            }
        }
    }
}
