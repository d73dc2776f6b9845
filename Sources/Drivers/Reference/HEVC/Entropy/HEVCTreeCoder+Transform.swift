/// The values that are common to a coding unit's whole transform tree.
struct HEVCTransformTree {
    let levels: ElementPointer<Int16>
    let nodes: ElementPointer<HEVCTransformNode>
    let qpDelta: Int
    let isIntra: Bool
    /// IntraSplitFlag.
    let isIntraSplit: Bool
    /// MaxTrafoDepth.
    let maxDepth: Int
    private let predictions: ElementPointer<HEVCPredictionUnit>
    /// IntraPredModeC, 8.4.3.
    let chromaMode: Int
    /// The mask that makes coordinates relative to the coding tree unit.
    let mask: Int

    init(_ tree: borrowing HEVCCodingTree, _ unit: HEVCCodingUnit, _ syntax: HEVCSliceSyntax) {
        levels = tree.levels.elements
        nodes = tree.nodes.elements
        qpDelta = Int(unit.qpDelta)
        isIntra = unit.mode == .intra
        isIntraSplit = isIntra && unit.partition == .partNxN
        maxDepth =
            isIntra
            ? syntax.max_transform_hierarchy_depth_intra + (isIntraSplit ? 1 : 0)
            : syntax.max_transform_hierarchy_depth_inter
        predictions = tree.predictions.elements + Int(unit.firstPrediction)
        chromaMode = HEVCChromaMode.mode(Int(unit.chromaMode), luma: Int(predictions[0].intraMode))
        mask = 1 << syntax.log2CodingTreeBlock - 1
    }

    /// Returns scanIdx of a luma block in quarter `part` of the unit.
    func lumaScan(_ part: Int, log2Size: Int) -> Int {
        guard isIntra else { return 0 }
        let mode = Int(predictions[isIntraSplit ? part : 0].intraMode)
        return HEVCResidualBlock.scan(intraMode: mode, log2Size: log2Size, isChroma: false)
    }

    /// Returns scanIdx of the unit's chroma blocks.
    func chromaScan(log2Size: Int) -> Int {
        isIntra ? HEVCResidualBlock.scan(intraMode: chromaMode, log2Size: log2Size, isChroma: true) : 0
    }
}

/// Derives IntraPredModeC, H.265 8.4.3.
enum HEVCChromaMode {
    /// Returns IntraPredModeC for an intra_chroma_pred_mode. `luma` is IntraPredModeY of the unit's first block.
    @inline(__always) static func mode(_ syntaxElement: Int, luma: Int) -> Int {
        let mode: Int
        switch syntaxElement {
        case 0: mode = 0
        case 1: mode = 26
        case 2: mode = 10
        case 3: mode = 1
        default: return luma
        }
        return mode == luma ? 34 : mode
    }
}

extension HEVCTreeCoder {
    /// Writes transform_tree(), and transform_unit() at its leaves. `part` is the index of the unit's quarter that
    /// contains the block, 0 for the whole unit.
    mutating func writeTransformTree(
        _ tree: HEVCTransformTree, x: Int, y: Int, log2Size: Int, depth: Int, part: Int, parent: HEVCTransformNode?
    ) {
        let entry = tree.nodes[node]
        node += 1
        if log2Size <= syntax.log2MaxTransformBlock && log2Size > syntax.log2MinTransformBlock
            && depth < tree.maxDepth && !(tree.isIntraSplit && depth == 0)
        {
            arithmetic.codeTransformSplit(entry.isSplit, log2Size: log2Size)
        }
        if log2Size > 2 {
            if parent?.cb ?? true { arithmetic.codeChromaFlag(entry.cb, depth: depth) }
            if parent?.cr ?? true { arithmetic.codeChromaFlag(entry.cr, depth: depth) }
        }
        if entry.isSplit {
            let half = 1 << (log2Size - 1)
            for index in 0..<4 {
                writeTransformTree(
                    tree, x: x + (index & 1) * half, y: y + index >> 1 * half, log2Size: log2Size - 1,
                    depth: depth + 1, part: depth == 0 ? index : part, parent: entry)
                // Four 4×4 luma blocks share one 4×4 block of each chroma component.
                if log2Size == 3 && index == 3 { writeChroma(tree, x: x, y: y, log2Size: 2, entry) }
            }
            return
        }
        let hasChroma = log2Size > 2 ? entry.cb || entry.cr : (parent?.cb ?? false) || (parent?.cr ?? false)
        if tree.isIntra || depth != 0 || hasChroma { arithmetic.codeLumaFlag(entry.luma, depth: depth) }
        guard entry.luma || hasChroma else { return }
        if syntax.hasQPDelta && !isQPDeltaCoded {
            arithmetic.codeQPDelta(tree.qpDelta)
            isQPDeltaCoded = true
        }
        if entry.luma {
            if syntax.hasTransformSkip && log2Size == 2 {
                arithmetic.codeTransformSkip(entry.skips & 1 != 0, isChroma: false)
            }
            writeResidual(
                HEVCResidualBlock(
                    levels: tree.levels + HEVCLevels.luma(x: x & tree.mask, y: y & tree.mask), log2Size: log2Size,
                    scan: tree.lumaScan(part, log2Size: log2Size), sign_data_hiding_enabled_flag: syntax.sign_data_hiding_enabled_flag))
        }
        if log2Size > 2 { writeChroma(tree, x: x, y: y, log2Size: log2Size - 1, entry) }
    }

    /// Writes the chroma blocks of size 1 << log2Size for the luma area at (x, y).
    private mutating func writeChroma(
        _ tree: HEVCTransformTree, x: Int, y: Int, log2Size: Int, _ node: HEVCTransformNode
    ) {
        let (x, y) = (x & tree.mask, y & tree.mask)
        if node.cb { writeChroma(tree, HEVCLevels.chroma(HEVCLevels.cb, x: x, y: y), log2Size, node.skips & 2 != 0) }
        if node.cr { writeChroma(tree, HEVCLevels.chroma(HEVCLevels.cr, x: x, y: y), log2Size, node.skips & 4 != 0) }
    }

    private mutating func writeChroma(_ tree: HEVCTransformTree, _ levels: Int, _ log2Size: Int, _ skips: Bool) {
        if syntax.hasTransformSkip && log2Size == 2 { arithmetic.codeTransformSkip(skips, isChroma: true) }
        writeResidual(
            HEVCResidualBlock(
                levels: tree.levels + levels, log2Size: log2Size, isChroma: true,
                scan: tree.chromaScan(log2Size: log2Size), sign_data_hiding_enabled_flag: syntax.sign_data_hiding_enabled_flag))
    }

    @inline(never) private mutating func writeResidual(_ block: HEVCResidualBlock) {
        // The local copy lets the compiler keep the coder in registers.
        var coder = arithmetic
        residual.code(block, &coder)
        arithmetic = coder
    }
}
