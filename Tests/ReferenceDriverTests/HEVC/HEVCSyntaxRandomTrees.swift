import ReferenceDriver
import TestOracles

/// Makes random but legal coding trees of a picture, one after the other in tile scan.
struct HEVCRandomTrees {
    /// The kinds of prediction in the picture.
    enum Content { case intra, forward, bipredictive }

    struct Options {
        /// The largest absolute level; only rare levels are close to it.
        var largestLevel = 60
        /// The largest absolute component of a motion vector difference; only rare ones are close to it.
        var largestDifference = 100
    }

    let headers: HEVCSyntaxHeaders
    let options: Options
    private var generator: SplitMix64
    private var tree = HEVCCodingTree()
    /// The IntraPredModeY by 4×4 block, 1 for units that are not intra.
    private var modes: [UInt8]
    /// The tile and slice of each coding tree, −1 if it is not made yet.
    private var areas: [Int]
    private var content = Content.intra
    private var slice: HEVCSliceJob
    private var levelRange = 1...1

    private var grid: HEVCGrid { headers.grid }

    init(_ headers: HEVCSyntaxHeaders, seed: UInt64, options: Options = Options()) {
        self.headers = headers
        self.options = options
        generator = SplitMix64(state: seed)
        modes = []
        areas = []
        slice = HEVCSliceJob(
            firstCodingTree: 0, codingTreeCount: 0, type: .i, qp: 26,
            header: SliceHeaderBits(prefix: [], payload: [], bitCount: 0))
    }

    mutating func beginPicture(_ content: Content) {
        self.content = content
        modes = [UInt8](repeating: 1, count: grid.blockColumns * grid.blockRows)
        areas = [Int](repeating: -1, count: grid.codingTrees)
    }

    mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }

    /// Makes the coding tree of raster address `address`, in slice `number` of the picture.
    mutating func makeTree(_ address: Int, slice: HEVCSliceJob, number: Int) -> HEVCCodingTree {
        tree = HEVCCodingTree()
        self.slice = slice
        areas[address] = headers.tiles.tileID[address] << 16 | number
        // Values that must not be read are arbitrary.
        for position in 0..<6144 { tree.levels.elements[position] = 77 }
        makeSAO()
        makeQuadtree(
            x: (address % grid.columns) << grid.log2CodingTreeBlock,
            y: (address / grid.columns) << grid.log2CodingTreeBlock, log2Size: grid.log2CodingTreeBlock)
        return tree
    }

    /// Whether the block left of or above (x, y) is available in the same slice and tile.
    private func isAvailable(_ x: Int, _ y: Int, from fromX: Int, _ fromY: Int) -> Bool {
        guard x >= 0, y >= 0 else { return false }
        let shift = grid.log2CodingTreeBlock
        return areas[(y >> shift) * grid.columns + x >> shift]
            == areas[(fromY >> shift) * grid.columns + fromX >> shift]
    }

    private mutating func makeSAO() {
        var sao = HEVCSAOParameters()
        sao.mergesLeft = chance(20)
        sao.mergesUp = chance(20)
        sao.luma = makeOffsets(pick([.off, .band, .edge]))
        let kind: HEVCSAOParameters.Kind = pick([.off, .band, .edge])
        sao.cb = makeOffsets(kind)
        sao.cr = makeOffsets(kind)
        tree.sao.elements[0] = sao
    }

    private mutating func makeOffsets(_ kind: HEVCSAOParameters.Kind) -> HEVCSAOParameters.Component {
        var component = HEVCSAOParameters.Component()
        component.kind = kind
        let largest = Int8(1 << (headers.bitDepth - 5) - 1)
        for index in 0..<4 {
            let value = Int8.random(in: 0...largest, using: &generator)
            component.offsets[index] = kind == .band ? (chance(50) ? -value : value) : index < 2 ? value : -value
        }
        component.band = UInt8.random(in: 0..<32, using: &generator)
        component.edgeClass = UInt8.random(in: 0..<4, using: &generator)
        return component
    }

    private mutating func makeQuadtree(x: Int, y: Int, log2Size: Int) {
        let size = 1 << log2Size
        let isInside = x + size <= grid.width && y + size <= grid.height
        let splits = log2Size > grid.log2MinCodingBlock && (!isInside || chance(log2Size == 6 ? 75 : 50))
        guard splits else {
            makeUnit(x: x, y: y, log2Size: log2Size)
            return
        }
        let half = size / 2
        for part in 0..<4 {
            let (partX, partY) = (x + (part & 1) * half, y + (part >> 1) * half)
            if partX < grid.width && partY < grid.height {
                makeQuadtree(x: partX, y: partY, log2Size: log2Size - 1)
            }
        }
    }

    // MARK: Units

    private mutating func makeUnit(x: Int, y: Int, log2Size: Int) {
        var unit = HEVCCodingUnit()
        unit.x = Int32(x)
        unit.y = Int32(y)
        unit.log2Size = UInt8(log2Size)
        unit.mode = content == .intra ? .intra : pick([.skip, .inter, .inter, .inter, .intra])
        unit.chromaMode = UInt8.random(in: 0...4, using: &generator)
        let bound = chance(20) ? 26 + 3 * (headers.bitDepth - 8) : 3
        unit.qpDelta = Int8.random(in: Int8(-bound)...Int8(bound - 1), using: &generator)
        unit.firstPrediction = UInt16(tree.predictionCount)
        unit.firstNode = UInt16(tree.nodeCount)
        let isSmallest = log2Size == grid.log2MinCodingBlock
        switch unit.mode {
        case .intra:
            if isSmallest && chance(50) { unit.partition = .partNxN }
            let half = 1 << (log2Size - 1)
            for part in 0..<unit.partition.count {
                makeIntraMode(
                    x: x + (part & 1) * half, y: y + (part >> 1) * half,
                    size: unit.partition == .partNxN ? half : 2 * half)
            }
        case .skip:
            setModes(x: x, y: y, size: 1 << log2Size, 1)
            var prediction = HEVCPredictionUnit()
            prediction.mergeIndex = Int8.random(in: 0..<Int8(slice.mergeCandidates), using: &generator)
            append(prediction)
        case .inter:
            setModes(x: x, y: y, size: 1 << log2Size, 1)
            var partitions: [HEVCPartition] = [.part2Nx2N, .part2NxN, .partNx2N]
            if isSmallest && log2Size > 3 { partitions.append(.partNxN) }
            if !isSmallest && headers.amp_enabled_flag {
                partitions += [.part2NxnU, .part2NxnD, .partnLx2N, .partnRx2N]
            }
            unit.partition = pick(partitions)
            for _ in 0..<unit.partition.count {
                makePrediction(isSmall: log2Size == 3 && unit.partition != .part2Nx2N)
            }
            let isMerged = tree.predictions.elements[Int(unit.firstPrediction)].mergeIndex >= 0
            unit.hasTransformTree = chance(60) || unit.partition == .part2Nx2N && isMerged
        }
        tree.units.elements[tree.unitCount] = unit
        tree.unitCount += 1
        if unit.mode == .intra || unit.hasTransformTree {
            levelRange = 1...(chance(10) ? options.largestLevel : pick([1, 2, 4]))
            makeTransformTree(unit, x: x, y: y, log2Size: log2Size, depth: 0, parent: nil)
        }
    }

    private mutating func append(_ prediction: HEVCPredictionUnit) {
        tree.predictions.elements[tree.predictionCount] = prediction
        tree.predictionCount += 1
    }

    /// Chooses a mode, and its syntax by the candidates of 8.4.2.
    private mutating func makeIntraMode(x: Int, y: Int, size: Int) {
        func neighbor(_ atX: Int, _ atY: Int) -> Int {
            isAvailable(atX, atY, from: x, y) ? Int(modes[(atY >> 2) * grid.blockColumns + atX >> 2]) : 1
        }
        let a = neighbor(x - 1, y)
        let b = y % grid.codingTreeSize == 0 ? 1 : neighbor(x, y - 1)
        let candidates: [Int] =
            a == b
            ? (a < 2 ? [0, 1, 26] : [a, 2 + (a + 29) % 32, 2 + (a - 2 + 1) % 32])
            : [a, b, a != 0 && b != 0 ? 0 : a != 1 && b != 1 ? 1 : 26]
        let mode = chance(40) ? pick(candidates) : Int.random(in: 0...34, using: &generator)
        var prediction = HEVCPredictionUnit()
        prediction.intraMode = UInt8(mode)
        if let index = candidates.firstIndex(of: mode) {
            prediction.mpmIndex = Int8(index)
        } else {
            prediction.remainingMode = UInt8(mode - candidates.filter { $0 < mode }.count)
        }
        append(prediction)
        setModes(x: x, y: y, size: size, UInt8(mode))
    }

    private mutating func setModes(x: Int, y: Int, size: Int, _ mode: UInt8) {
        for row in (y >> 2)..<((y + size) >> 2) {
            for column in (x >> 2)..<((x + size) >> 2) { modes[row * grid.blockColumns + column] = mode }
        }
    }

    /// - Parameter isSmall: whether the block is 8×4 or 4×8.
    private mutating func makePrediction(isSmall: Bool) {
        var prediction = HEVCPredictionUnit()
        if chance(30) {
            prediction.mergeIndex = Int8.random(in: 0..<Int8(slice.mergeCandidates), using: &generator)
            append(prediction)
            return
        }
        let lists = content == .forward ? 1 : Int.random(in: 1...(isSmall ? 2 : 3), using: &generator)
        if lists & 1 != 0 {
            prediction.motion.reference0 = Int8.random(in: 0..<Int8(slice.list0.count), using: &generator)
            prediction.difference0 = MotionVector(difference(), difference())
            prediction.predictor0 = UInt8.random(in: 0...1, using: &generator)
        }
        if lists & 2 != 0 {
            prediction.motion.reference1 = Int8.random(in: 0..<Int8(slice.list1.count), using: &generator)
            // Values that must not be read are arbitrary.
            prediction.difference1 = MotionVector(difference(), difference())
            prediction.predictor1 = UInt8.random(in: 0...1, using: &generator)
        }
        append(prediction)
    }

    private mutating func difference() -> Int16 {
        let limit = Int16(chance(10) ? options.largestDifference : 3)
        return Int16.random(in: -limit...limit, using: &generator)
    }

    // MARK: Residual

    private mutating func makeTransformTree(
        _ unit: HEVCCodingUnit, x: Int, y: Int, log2Size: Int, depth: Int, parent: HEVCTransformNode?
    ) {
        let isIntra = unit.mode == .intra
        let isIntraSplit = isIntra && unit.partition == .partNxN
        let deepest =
            isIntra
            ? headers.max_transform_hierarchy_depth_intra + (isIntraSplit ? 1 : 0)
            : headers.max_transform_hierarchy_depth_inter
        let interSplit =
            !isIntra && headers.max_transform_hierarchy_depth_inter == 0 && unit.partition != .part2Nx2N && depth == 0
        var node = HEVCTransformNode()
        if log2Size > grid.log2MaxTransformBlock || isIntraSplit && depth == 0 || interSplit {
            node.isSplit = true
        } else if log2Size > grid.log2MinTransformBlock && depth < deepest {
            node.isSplit = chance(50)
        }
        if log2Size > 2 {
            node.cb = (parent?.cb ?? true) && chance(60)
            node.cr = (parent?.cr ?? true) && chance(60)
        }
        node.luma = isIntra || depth > 0 || node.cb || node.cr ? chance(60) : true
        node.skips = headers.hasTransformSkip ? UInt8.random(in: 0...7, using: &generator) : 0
        let index = tree.nodeCount
        tree.nodes.elements[index] = node
        tree.nodeCount += 1
        let mask = grid.codingTreeSize - 1
        if node.isSplit {
            let half = 1 << (log2Size - 1)
            for part in 0..<4 {
                makeTransformTree(
                    unit, x: x + (part & 1) * half, y: y + (part >> 1) * half, log2Size: log2Size - 1,
                    depth: depth + 1, parent: node)
            }
        } else if node.luma {
            fill(HEVCLevels.luma(x: x & mask, y: y & mask), log2Size: log2Size)
        }
        if log2Size == 3 || log2Size > 3 && !node.isSplit {
            if node.cb { fill(HEVCLevels.chroma(4096, x: x & mask, y: y & mask), log2Size: log2Size - 1) }
            if node.cr { fill(HEVCLevels.chroma(5120, x: x & mask, y: y & mask), log2Size: log2Size - 1) }
        }
    }

    /// Fills the levels of a block, which are not all zero.
    private mutating func fill(_ start: Int, log2Size: Int) {
        let density = pick([1, 5, 20, 50, 90, 100])
        // Half of the blocks have low frequencies only.
        let reach = chance(50) ? 1 << log2Size : Int.random(in: 1...(1 << log2Size), using: &generator)
        var count = 0
        for position in 0..<(1 << (2 * log2Size)) {
            var level = 0
            if position & (1 << log2Size - 1) < reach && position >> log2Size < reach && chance(density) {
                level = Int.random(in: levelRange, using: &generator) * (chance(50) ? 1 : -1)
                count += 1
            }
            tree.levels.elements[start + position] = Int16(level)
        }
        if count == 0 { tree.levels.elements[start + Int.random(in: 0..<(1 << (2 * log2Size)), using: &generator)] = 1 }
    }
}
