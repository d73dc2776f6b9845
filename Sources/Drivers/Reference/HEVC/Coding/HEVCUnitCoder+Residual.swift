// Transform trees: coding of residuals as levels, and reconstruction.

enum HEVCComponent: Int { case luma, cb, cr }

/// The result of coding a block or a tree of blocks.
struct HEVCCoded: BitwiseCopyable {
    /// The squared error in 256ths, plus weighted bits.
    var cost = 0
    var hasLevels = false
}

/// The values that are common to a coding unit's whole transform tree.
struct HEVCTransformTask<Sample: HEVCSample> {
    let unit: HEVCCodingUnit
    let isIntra: Bool
    /// IntraSplitFlag and interSplitFlag.
    let isIntraSplit: Bool
    let isInterSplit: Bool
    /// MaxTrafoDepth.
    let maxDepth: Int
    /// The prediction of an inter unit.
    let prediction: HEVCBlockPlanes<Sample>
    /// IntraPredModeC.
    let chromaMode: Int
    /// Whether only luma is coded and counted, as for the comparison of modes.
    var isLumaAlone = false
    /// The number of tree depths at which a split is tried.
    var splits = 0
}

extension HEVCUnitCoder {
    func transformTask(_ unit: HEVCCodingUnit, _ prediction: HEVCBlockPlanes<Sample>) -> HEVCTransformTask<Sample> {
        let isIntra = unit.mode == .intra
        let isIntraSplit = isIntra && unit.partition == .partNxN
        return HEVCTransformTask(
            unit: unit, isIntra: isIntra, isIntraSplit: isIntraSplit,
            isInterSplit: !isIntra && max_transform_hierarchy_depth_inter == 0 && unit.partition != .part2Nx2N,
            maxDepth: isIntra
                ? max_transform_hierarchy_depth_intra &+ (isIntraSplit ? 1 : 0) : max_transform_hierarchy_depth_inter,
            prediction: prediction,
            chromaMode: HEVCChromaMode.mode(
                Int(unit.chromaMode), luma: Int(predictions[Int(unit.firstPrediction)].intraMode)),
            splits: preset.transformSplits)
    }

    /// Codes the transform tree of a unit. Its nodes are appended to the coding tree unit's nodes.
    mutating func codeTransformTree(_ task: HEVCTransformTask<Sample>) -> HEVCCoded {
        completeSnapshot()
        let unit = task.unit
        return codeNode(task, Int(unit.x), Int(unit.y), log2Size: Int(unit.log2Size), depth: 0, part: 0)
    }

    /// Codes a node of a transform tree, as a leaf or split, whichever is cheaper. `part` is the index of the unit's
    /// quarter that contains the node.
    mutating func codeNode(
        _ task: HEVCTransformTask<Sample>, _ x: Int, _ y: Int, log2Size: Int, depth: Int, part: Int
    ) -> HEVCCoded {
        let fits = log2Size <= grid.log2MaxTransformBlock
        let isFree =
            fits && log2Size > grid.log2MinTransformBlock && depth < task.maxDepth && !(task.isIntraSplit && depth == 0)
        if !isFree {
            let splits = !fits || depth == 0 && (task.isIntraSplit || task.isInterSplit)
            return splits
                ? codeSplitNode(task, x, y, log2Size: log2Size, depth: depth, part: part)
                : codeLeaf(task, x, y, log2Size: log2Size, depth: depth, part: part)
        }
        if let chooser {
            return chooser.choose(.transformSplit, 2) == 1
                ? codeSplitNode(task, x, y, log2Size: log2Size, depth: depth, part: part)
                : codeLeaf(task, x, y, log2Size: log2Size, depth: depth, part: part)
        }
        var count = counter
        count.codeTransformSplit(false, log2Size: log2Size)
        let first = nodeCount
        var whole = codeLeaf(task, x, y, log2Size: log2Size, depth: depth, part: part)
        whole.cost &+= weighed(count.cost)
        if depth >= task.splits || !whole.hasLevels || task.isLumaAlone { return whole }
        let slot = SnapshotSlot.transform(log2Size)
        snapshotSamples(x, y, log2Size: log2Size, slot: slot)
        snapshotLevels(x, y, log2Size: log2Size, slot: slot)
        let node = nodes[first]
        nodeCount = first
        count = counter
        count.codeTransformSplit(true, log2Size: log2Size)
        var split = codeSplitNode(task, x, y, log2Size: log2Size, depth: depth, part: part)
        split.cost &+= weighed(count.cost)
        if split.cost < whole.cost { return split }
        restoreSamples(x, y, log2Size: log2Size, slot: slot)
        restoreLevels(x, y, log2Size: log2Size, slot: slot)
        nodes[first] = node
        nodeCount = first &+ 1
        return whole
    }

    private mutating func codeSplitNode(
        _ task: HEVCTransformTask<Sample>, _ x: Int, _ y: Int, log2Size: Int, depth: Int, part: Int
    ) -> HEVCCoded {
        let index = nodeCount
        nodeCount &+= 1
        var node = HEVCTransformNode()
        node.isSplit = true
        let half = 1 &<< (log2Size &- 1)
        var sum = HEVCCoded()
        for quarter in 0..<4 {
            let child = nodeCount
            let coded = codeNode(
                task, x &+ (quarter & 1) &* half, y &+ (quarter >> 1) &* half, log2Size: log2Size &- 1,
                depth: depth &+ 1, part: depth == 0 ? quarter : part)
            sum.cost &+= coded.cost
            if coded.hasLevels { sum.hasLevels = true }
            if log2Size > 3 {
                if nodes[child].cb { node.cb = true }
                if nodes[child].cr { node.cr = true }
            }
        }
        if log2Size == 3 && !task.isLumaAlone {
            codeChroma(task, x: x, y: y, log2Size: 2, depth: depth, node: &node, sum: &sum)
        }
        nodes[index] = node
        return sum
    }

    private mutating func codeLeaf(
        _ task: HEVCTransformTask<Sample>, _ x: Int, _ y: Int, log2Size: Int, depth: Int, part: Int
    ) -> HEVCCoded {
        let index = nodeCount
        nodeCount &+= 1
        var node = HEVCTransformNode()
        var sum = HEVCCoded()
        let target = planes.luma + (y &* planes.stride &+ x)
        var from = target
        var stride = planes.stride
        var scan = 0
        if task.isIntra {
            let first = Int(task.unit.firstPrediction)
            let mode = Int(predictions[task.isIntraSplit ? first &+ part : first].intraMode)
            predictIntra(.luma, x, y, log2Size: log2Size, mode: mode, to: target, planes.stride)
            scan = HEVCResidualBlock.scan(intraMode: mode, log2Size: log2Size, isChroma: false)
        } else {
            let (px, py) = (x &- Int(task.unit.x), y &- Int(task.unit.y))
            from = task.prediction.luma + (py &* task.prediction.stride &+ px)
            stride = task.prediction.stride
        }
        let block = HEVCBlockTask(
            component: .luma, source: source.luma + (y &* source.stride &+ x), sourceStride: source.stride,
            prediction: from, predictionStride: stride, target: target, targetStride: planes.stride,
            levels: levels + HEVCLevels.luma(x: x & levelMask, y: y & levelMask), log2Size: log2Size,
            isSine: task.isIntra && log2Size == 2, isIntra: task.isIntra, scan: scan)
        let luma = codeBlock(block, depth: depth)
        node.luma = luma.hasLevels
        if luma.skips { node.skips |= 1 }
        sum.hasLevels = luma.hasLevels
        sum.cost = luma.cost
        if log2Size > 2 && !task.isLumaAlone {
            codeChroma(task, x: x, y: y, log2Size: log2Size &- 1, depth: depth, node: &node, sum: &sum)
        }
        nodes[index] = node
        return sum
    }

    /// Codes the chroma blocks of size 1 << log2Size for the luma area at (x, y).
    private mutating func codeChroma(
        _ task: HEVCTransformTask<Sample>, x: Int, y: Int, log2Size: Int, depth: Int,
        node: inout HEVCTransformNode, sum: inout HEVCCoded
    ) {
        let (halfX, halfY) = (x >> 1, y >> 1)
        let scan =
            task.isIntra
            ? HEVCResidualBlock.scan(intraMode: task.chromaMode, log2Size: log2Size, isChroma: true) : 0
        for component in [HEVCComponent.cb, .cr] {
            let isCb = component == .cb
            let plane = isCb ? planes.cb : planes.cr
            let original = isCb ? source.cb : source.cr
            let target = plane + (halfY &* planes.chromaStride &+ halfX)
            var from = target
            var stride = planes.chromaStride
            if task.isIntra {
                predictIntra(
                    component, halfX, halfY, log2Size: log2Size, mode: task.chromaMode, to: target, planes.chromaStride)
            } else {
                let (px, py) = (halfX &- Int(task.unit.x) >> 1, halfY &- Int(task.unit.y) >> 1)
                stride = task.prediction.chromaStride
                from = (isCb ? task.prediction.cb : task.prediction.cr) + (py &* stride &+ px)
            }
            let block = HEVCBlockTask(
                component: component, source: original + (halfY &* source.chromaStride &+ halfX),
                sourceStride: source.chromaStride, prediction: from, predictionStride: stride, target: target,
                targetStride: planes.chromaStride,
                levels: levels
                    + HEVCLevels.chroma(
                        isCb ? HEVCLevels.cb : HEVCLevels.cr, x: x & levelMask, y: y & levelMask),
                log2Size: log2Size, isSine: false, isIntra: task.isIntra, scan: scan)
            let coded = codeBlock(block, depth: depth)
            if isCb { node.cb = coded.hasLevels } else { node.cr = coded.hasLevels }
            if coded.skips { node.skips |= isCb ? 2 : 4 }
            if coded.hasLevels { sum.hasLevels = true }
            sum.cost &+= coded.cost
        }
    }
}
