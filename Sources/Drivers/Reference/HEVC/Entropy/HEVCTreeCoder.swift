/// Writes the slice segment data of a slice, one coding tree unit after the other: H.265 7.3.8.2 to 7.3.8.12.
struct HEVCTreeCoder {
    var arithmetic: ArithmeticEncoder
    let syntax: HEVCSliceSyntax
    let residual: HEVCResidualCoder
    private let records: ElementPointer<HEVCUnitRecord>
    /// Whether a unit of the slice was written, so that its end_of_slice_segment_flag is still due.
    private var begun = false
    /// IsCuQpDeltaCoded.
    var isQPDeltaCoded = false
    private var neighbors = HEVCTreeNeighbors()
    /// The indices of the next unit and of the next transform node in the tree.
    private var unit = 0
    var node = 0

    init(
        arithmetic: ArithmeticEncoder, syntax: HEVCSliceSyntax, records: ElementPointer<HEVCUnitRecord>, scratch: ElementPointer<Int32>
    ) {
        self.arithmetic = arithmetic
        self.syntax = syntax
        self.records = records
        residual = HEVCResidualCoder(scratch: scratch)
    }

    /// Writes end_of_slice_segment_flag of the previous unit, if there is one. `endsTile` is whether the next unit is
    /// in another tile.
    mutating func endUnit(endsTile: Bool) {
        if begun { arithmetic.encodeTerminate(0) }
        begun = true
        if endsTile {
            // end_of_subset_one_bit and byte_alignment().
            arithmetic.encodeTerminate(1)
            arithmetic.finish()
        }
    }

    /// Ends the slice and returns the number of bytes.
    mutating func finish() -> Int {
        if begun { arithmetic.encodeTerminate(1) }
        begun = false
        arithmetic.finish()
        return arithmetic.byteCount
    }

    /// Writes coding_tree_unit(); (x, y) is its first luma sample.
    mutating func write(_ tree: borrowing HEVCCodingTree, x: Int, y: Int, neighbors: HEVCTreeNeighbors) {
        self.neighbors = neighbors
        unit = 0
        if syntax.slice_sao_luma_flag || syntax.slice_sao_chroma_flag { writeSAO(tree.sao.elements[0]) }
        writeQuadtree(tree, x: x, y: y, log2Size: syntax.log2CodingTreeBlock)
    }

    private mutating func writeSAO(_ sao: HEVCSAOParameters) {
        if neighbors.hasLeft {
            arithmetic.codeSAOMerge(sao.mergesLeft)
            if sao.mergesLeft { return }
        }
        if neighbors.hasTop {
            arithmetic.codeSAOMerge(sao.mergesUp)
            if sao.mergesUp { return }
        }
        if syntax.slice_sao_luma_flag {
            arithmetic.codeSAOKind(sao.luma.kind)
            if sao.luma.kind != .off {
                arithmetic.codeSAOOffsets(sao.luma, bitDepth: syntax.bitDepth, codesClass: true)
            }
        }
        if syntax.slice_sao_chroma_flag {
            arithmetic.codeSAOKind(sao.cb.kind)
            if sao.cb.kind != .off {
                arithmetic.codeSAOOffsets(sao.cb, bitDepth: syntax.bitDepth, codesClass: true)
                arithmetic.codeSAOOffsets(sao.cr, bitDepth: syntax.bitDepth, codesClass: false)
            }
        }
    }

    /// Writes coding_quadtree(). A node is split if the next unit is smaller than the node.
    private mutating func writeQuadtree(_ tree: borrowing HEVCCodingTree, x: Int, y: Int, log2Size: Int) {
        let next = tree.units.elements[unit]
        let isSplit = Int(next.log2Size) < log2Size
        let size = 1 << log2Size
        if log2Size > syntax.log2MinCodingBlock && x + size <= syntax.width && y + size <= syntax.height {
            var increment = 0
            if let left = leftRecord(x, y), Int(left & 127) < log2Size { increment += 1 }
            if let top = topRecord(x, y), Int(top & 127) < log2Size { increment += 1 }
            arithmetic.codeSplit(isSplit, increment: increment)
        }
        if log2Size >= syntax.log2QuantizationGroup { isQPDeltaCoded = false }
        guard isSplit else {
            writeUnit(tree, next)
            unit += 1
            return
        }
        let half = size / 2
        for part in 0..<4 {
            let (partX, partY) = (x + (part & 1) * half, y + part >> 1 * half)
            if partX < syntax.width && partY < syntax.height {
                writeQuadtree(tree, x: partX, y: partY, log2Size: log2Size - 1)
            }
        }
    }

    private func recordIndex(_ x: Int, _ y: Int) -> Int {
        (y >> syntax.log2MinCodingBlock) * syntax.minimumColumns + x >> syntax.log2MinCodingBlock
    }

    private func leftRecord(_ x: Int, _ y: Int) -> HEVCUnitRecord? {
        x & (1 << syntax.log2CodingTreeBlock - 1) == 0 && !neighbors.hasLeft ? nil : records[recordIndex(x - 1, y)]
    }

    private func topRecord(_ x: Int, _ y: Int) -> HEVCUnitRecord? {
        y & (1 << syntax.log2CodingTreeBlock - 1) == 0 && !neighbors.hasTop ? nil : records[recordIndex(x, y - 1)]
    }

    // MARK: Coding unit

    /// Writes coding_unit().
    private mutating func writeUnit(_ tree: borrowing HEVCCodingTree, _ unit: HEVCCodingUnit) {
        let x = Int(unit.x)
        let y = Int(unit.y)
        let log2Size = Int(unit.log2Size)
        if syntax.type != .i {
            var increment = 0
            if let left = leftRecord(x, y), left & 128 != 0 { increment += 1 }
            if let top = topRecord(x, y), top & 128 != 0 { increment += 1 }
            arithmetic.codeSkip(unit.mode == .skip, increment: increment)
        }
        record(unit)
        let predictions = tree.predictions.elements + Int(unit.firstPrediction)
        if unit.mode == .skip {
            arithmetic.codeMergeIndex(Int(predictions[0].mergeIndex), count: syntax.mergeCandidates)
            return
        }
        let isIntra = unit.mode == .intra
        if syntax.type != .i { arithmetic.codeMode(isIntra: isIntra) }
        let isSmallest = log2Size == syntax.log2MinCodingBlock
        if isIntra {
            if isSmallest { arithmetic.codeIntraPartition(unit.partition) }
            writeIntraModes(predictions, count: unit.partition.count, chroma: Int(unit.chromaMode))
        } else {
            arithmetic.codeInterPartition(
                unit.partition, log2Size: log2Size, isSmallest: isSmallest,
                amp_enabled_flag: syntax.amp_enabled_flag)
            for part in 0..<unit.partition.count {
                writePrediction(predictions[part], unit)
            }
            if unit.partition != .part2Nx2N || predictions[0].mergeIndex < 0 {
                arithmetic.codeRootFlag(unit.hasTransformTree)
                if !unit.hasTransformTree { return }
            }
        }
        node = Int(unit.firstNode)
        writeTransformTree(
            HEVCTransformTree(tree, unit, syntax), x: x, y: y, log2Size: log2Size, depth: 0, part: 0, parent: nil)
    }

    private func record(_ unit: HEVCCodingUnit) {
        let side = 1 << (Int(unit.log2Size) - syntax.log2MinCodingBlock)
        var row = records + recordIndex(Int(unit.x), Int(unit.y))
        let value = unit.record
        for _ in 0..<side {
            row.fill(value, count: side)
            row = row + syntax.minimumColumns
        }
    }

    private mutating func writeIntraModes(_ predictions: ElementPointer<HEVCPredictionUnit>, count: Int, chroma: Int) {
        for part in 0..<count { arithmetic.codePreviousMode(predictions[part].mpmIndex >= 0) }
        for part in 0..<count {
            let prediction = predictions[part]
            if prediction.mpmIndex >= 0 {
                arithmetic.codeMPMIndex(Int(prediction.mpmIndex))
            } else {
                arithmetic.codeRemainingMode(Int(prediction.remainingMode))
            }
        }
        arithmetic.codeChromaMode(chroma)
    }

    /// Writes prediction_unit() of a unit that is not skipped.
    private mutating func writePrediction(_ prediction: HEVCPredictionUnit, _ unit: HEVCCodingUnit) {
        arithmetic.codeMergeFlag(prediction.mergeIndex >= 0)
        if prediction.mergeIndex >= 0 {
            arithmetic.codeMergeIndex(Int(prediction.mergeIndex), count: syntax.mergeCandidates)
            return
        }
        let motion = prediction.motion
        if syntax.type == .b {
            // nPbW + nPbH is 12 for 8×4 and 4×8 blocks only.
            arithmetic.codeDirection(
                uses0: motion.reference0 >= 0, uses1: motion.reference1 >= 0,
                depth: syntax.log2CodingTreeBlock - Int(unit.log2Size),
                hasBoth: unit.log2Size > 3 || unit.partition == .part2Nx2N)
        }
        if motion.reference0 >= 0 {
            arithmetic.codeReference(Int(motion.reference0), count: syntax.referenceCount0)
            arithmetic.codeDifference(prediction.difference0)
            arithmetic.codePredictor(Int(prediction.predictor0))
        }
        if motion.reference1 >= 0 {
            arithmetic.codeReference(Int(motion.reference1), count: syntax.referenceCount1)
            if !(syntax.mvd_l1_zero_flag && motion.reference0 >= 0) {
                arithmetic.codeDifference(prediction.difference1)
            }
            arithmetic.codePredictor(Int(prediction.predictor1))
        }
    }
}
