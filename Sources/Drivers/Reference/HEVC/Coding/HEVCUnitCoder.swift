/// Chooses how each coding tree unit is coded, and reconstructs it.
///
/// Contains pointers to pictures, tables and scratch memory. The `HEVCPictureEncoder` owns that memory and keeps it
/// while the coder is used. Units are coded in their final position: the samples in the reconstruction, the other data
/// at the end of the tree.
struct HEVCUnitCoder<Sample: HEVCSample> {
    // The picture.
    let grid: HEVCGrid
    let width: Int
    let height: Int
    let minimumColumns: Int
    let blockColumns: Int
    let source: HEVCPlanes<Sample>
    let planes: HEVCPlanes<Sample>
    let tables: HEVCPictureTables
    let tileOfTree: ElementPointer<Int32>
    let preset: HEVCSpeedPreset
    let chooser: (any HEVCChooser)?
    let max_transform_hierarchy_depth_inter: Int
    let max_transform_hierarchy_depth_intra: Int
    let amp_enabled_flag: Bool
    let strongSmoothing: Bool
    let constrainedIntra: Bool
    let hasTransformSkip: Bool
    let sign_data_hiding_enabled_flag: Bool
    let hasQPDelta: Bool
    let log2Group: Int
    let areaQPs: [Int8]?
    /// QpBdOffset.
    let qpOffset: Int
    let refresh: RefreshGuard

    // The slice.
    var sliceNumber: Int32 = 0
    var type = SliceType.i
    var slice: HEVCSliceJob
    /// The number of references in each list.
    var referenceCounts = SIMD2(0, 0)
    var mvd_l1_zero_flag = false
    /// Whether a reference of list 1 follows in output order, so that the picture lies between its references.
    var looksAhead = false
    var motionPredictor: HEVCMotionPredictor
    let motionReferences: HEVCMotionReferences
    /// The planes of each reference by list and index, and the limit of the samples that intra refresh allows refreshed
    /// blocks to use.
    let references: ElementPointer<HEVCPlanes<Sample>>
    let cleanLimits: ElementPointer<Int32>
    let job: HEVCPictureJob
    var group = HEVCQuantizationGroup()
    /// The weights of a bit against squared errors and against sums of differences, in 256ths.
    var squareLambda = 256
    var lambda = 256

    var lumaQuantizer: HEVCQuantizer
    var cbQuantizer: HEVCQuantizer
    var crQuantizer: HEVCQuantizer

    // The tree.
    var treeX = 0
    var treeY = 0
    var address = 0
    var isGuarded = false
    var mustBeIntra = false
    /// The estimated cost of the unit's best inter prediction in 256ths (Hadamard coefficients and bits); `Int.max` if
    /// there is none.
    var motionEstimate = Int.max
    /// The estimated cost of the unit's merged motion (differences and bits); `Int.max` if there is none.
    var mergeEstimate = Int.max
    /// The squared errors of luma, Cb and Cr without levels, if they are known while a unit is coded.
    var plainErrors: SIMD4<Int>?
    /// Log2 of the size of the unit whose samples and levels are in place but not in its slot yet; 0 if there is none.
    var pendingSize = 0
    var unitCount = 0
    var predictionCount = 0
    var nodeCount = 0
    var units: ElementPointer<HEVCCodingUnit>
    var predictions: ElementPointer<HEVCPredictionUnit>
    var nodes: ElementPointer<HEVCTransformNode>
    var levels: ElementPointer<Int16>
    /// The states of the slice's contexts before the tree.
    var states: ElementPointer<UInt8>
    let prices = HEVCBinPrices.shared.prices.elements

    // Scratch memory.
    let scratch: HEVCScratch<Sample>
    let transform: HEVCTransform
    let residualCoder: HEVCResidualCoder
    let residual: ElementPointer<Int16>
    let coefficients: ElementPointer<Int16>
    let scaled: ElementPointer<Int16>

    /// The prediction of the current unit.
    let predictedBlock: HEVCBlockPlanes<Sample>

    /// Two blocks with 14-bit values, and the scratch memory of interpolation.
    let wide: ElementPointer<Int16>
    /// Merge candidates.
    let candidates: ElementPointer<HEVCMotion>
    /// The fixed block of a bi-predicted pair with 14-bit values, during the search of the other one.
    let pairBlock: ElementPointer<Int16>
    /// The vector that was found last for each reference, by list and index.
    let latestVectors: ElementPointer<MotionVector>
    /// The prediction of candidates during the search.
    let trialBlock: HEVCBlockPlanes<Sample>
    var rounds = RefreshRounds.hevc
    let intraReferences: HEVCIntraReferences<Sample>

    // Statistics of the picture. Areas are 16×16 samples.
    var intraAreas = 0
    var skippedAreas = 0
    var qpSum = 0

    init(
        _ job: HEVCPictureJob, source: HEVCPlanes<Sample>, tables: HEVCPictureTables, tileOfTree: ElementPointer<Int32>,
        scratch: HEVCScratch<Sample>, transform: HEVCTransform, refresh: RefreshGuard,
        chooser: (any HEVCChooser)?
    ) {
        grid = job.grid
        width = grid.width
        height = grid.height
        minimumColumns = grid.minimumColumns
        blockColumns = grid.blockColumns
        self.source = source
        planes = job.reconstruction.planes()
        self.tables = tables
        self.tileOfTree = tileOfTree
        preset = HEVCSpeedPreset(quality: job.quality, choosesLevels: job.choosesLevels)
        self.chooser = chooser
        max_transform_hierarchy_depth_inter = job.max_transform_hierarchy_depth_inter
        max_transform_hierarchy_depth_intra = job.max_transform_hierarchy_depth_intra
        amp_enabled_flag = job.amp_enabled_flag
        strongSmoothing = job.strong_intra_smoothing_enabled_flag
        constrainedIntra = job.constrained_intra_pred_flag
        hasTransformSkip = job.hasTransformSkip
        sign_data_hiding_enabled_flag = job.sign_data_hiding_enabled_flag
        hasQPDelta = job.qpDeltaDepth != nil
        log2Group = grid.log2CodingTreeBlock - (job.qpDeltaDepth ?? 0)
        areaQPs = job.qpDeltaDepth == nil ? nil : job.areaQPs
        qpOffset = 6 * (Sample.bitDepth - 8)
        self.refresh = refresh
        self.job = job
        slice = job.slices[0]
        motionReferences = scratch.motionReferences
        references = scratch.references.elements
        cleanLimits = scratch.cleanLimits.elements
        wide = scratch.wide.elements
        pairBlock = scratch.pair.elements
        latestVectors = scratch.latestVectors.elements
        trialBlock = HEVCBlockPlanes(scratch.predictions.elements + HEVCScratch<Sample>.samples)
        candidates = scratch.candidates.elements
        motionPredictor = HEVCMotionPredictor(
            job.slices[0], job, tables, tiles: tileOfTree, references: scratch.motionReferences)
        lumaQuantizer = HEVCQuantizer(qp: 26, bitDepth: Sample.bitDepth)
        cbQuantizer = lumaQuantizer
        crQuantizer = lumaQuantizer
        // Placeholders: `code` sets the pointers of each tree.
        units = scratch.noUnits.elements
        predictions = scratch.predictionSnapshots.elements
        nodes = scratch.nodeSnapshots.elements
        levels = scratch.levelSnapshots.elements
        states = scratch.noStates.elements
        self.scratch = scratch
        self.transform = transform
        residualCoder = HEVCResidualCoder(scratch: scratch.residualScratch.elements)
        residual = scratch.residual.elements
        coefficients = scratch.coefficients.elements
        scaled = scratch.scaled.elements
        intraReferences = HEVCIntraReferences(scratch.intra)
        predictedBlock = HEVCBlockPlanes(scratch.predictions.elements)
    }

    @inline(__always) var levelMask: Int { grid.codingTreeSize &- 1 }

    mutating func begin(_ slice: HEVCSliceJob, number: Int, _ rounds: RefreshRounds) {
        sliceNumber = Int32(truncatingIfNeeded: number)
        type = slice.type
        self.slice = slice
        self.rounds = rounds
        latestVectors.fill(.zero, count: 2 * HEVCMotionReferences.perList)
        scratch.lumaTrials.elements[0] = HEVCLumaTrials()
        mvd_l1_zero_flag = slice.mvd_l1_zero_flag
        looksAhead = slice.list1.contains { $0.poc > job.poc }
        referenceCounts = SIMD2(slice.list0.count, slice.list1.count)
        motionPredictor = HEVCMotionPredictor(slice, job, tables, tiles: tileOfTree, references: motionReferences)
        for (start, list) in [(0, slice.list0), (HEVCMotionReferences.perList, slice.list1)] {
            for (index, reference) in list.prefix(HEVCMotionReferences.perList).enumerated() {
                references[start + index] = reference.picture.planes()
                cleanLimits[start + index] = limit(reference.picture.renewal)
            }
        }
        beginTile()
        group.target = slice.qp
        setQP(slice.qp)
    }

    /// Returns the limit of the samples of a reference that intra refresh allows refreshed blocks to use.
    func limit(_ reference: Renewal) -> Int32 {
        rounds.limit(
            reference, columns: grid.columns, rows: grid.rows, log2Unit: grid.log2CodingTreeBlock)
    }

    /// Sets qPY_PREV for the first quantization group of a slice or a tile, H.265 8.6.1.
    mutating func beginTile() { group.last = slice.qp }

    /// Sets the multipliers and quantizers for a QP_Y.
    mutating func setQP(_ qp: Int) {
        squareLambda = HEVCLagrange.squareLambda(qp &+ qpOffset)
        // Few or no pictures are predicted from a picture between its references, so its quality matters less.
        if looksAhead { squareLambda = squareLambda &* 5 / 4 }
        lambda = HEVCLagrange.lambda(qp &+ qpOffset)
        lumaQuantizer = HEVCQuantizer(qp: qp, bitDepth: Sample.bitDepth)
        cbQuantizer = HEVCQuantizer(
            qp: HEVCQuantizer.chromaQP(qp, offset: slice.cbQPOffset, bitDepth: Sample.bitDepth),
            bitDepth: Sample.bitDepth)
        crQuantizer = HEVCQuantizer(
            qp: HEVCQuantizer.chromaQP(qp, offset: slice.crQPOffset, bitDepth: Sample.bitDepth),
            bitDepth: Sample.bitDepth)
    }

    /// Returns a number of 1/32768 bits weighted as squared error in 256ths.
    @inline(__always) func weighed(_ bits: Int) -> Int { (bits &* squareLambda) &>> 15 }

    @inline(__always) var counter: HEVCBinCount { HEVCBinCount(states: states, prices: prices) }

    /// Chooses the modes of a coding tree unit, codes it and reconstructs it, without the loop filters.
    mutating func code(_ address: Int, into tree: HEVCCodingTree, states: ElementPointer<UInt8>) {
        self.address = address
        let column = address % grid.columns
        let row = address / grid.columns
        treeX = column &<< grid.log2CodingTreeBlock
        treeY = row &<< grid.log2CodingTreeBlock
        tables.slice[address] = sliceNumber
        let line = refresh.isRows ? row : column
        isGuarded = line < refresh.renewed
        mustBeIntra = refresh.forced.contains(line)
        units = tree.units.elements
        predictions = tree.predictions.elements
        nodes = tree.nodes.elements
        levels = tree.levels.elements
        self.states = states
        unitCount = 0
        predictionCount = 0
        nodeCount = 0
        if chooser != nil {
            codeChosen(treeX, treeY, log2Size: grid.log2CodingTreeBlock)
        } else {
            _ = decide(treeX, treeY, log2Size: grid.log2CodingTreeBlock, limit: Int.max)
        }
        tree.unitCount = unitCount
        tree.predictionCount = predictionCount
        tree.nodeCount = nodeCount
        tree.sao.elements[0] = HEVCSAOParameters()
        count()
    }

    /// Updates the statistics for the tree's 16×16 areas. The unit at an area's first sample determines the area's mode
    /// and QP.
    private mutating func count() {
        let right = min(treeX &+ grid.codingTreeSize, width)
        let bottom = min(treeY &+ grid.codingTreeSize, height)
        var y = treeY
        while y < bottom {
            var x = treeX
            while x < right {
                let unit = (y >> grid.log2MinCodingBlock) &* minimumColumns &+ x >> grid.log2MinCodingBlock
                switch tables.mode[unit] {
                case .intra: intraAreas &+= 1
                case .skip: skippedAreas &+= 1
                case .inter: break
                }
                qpSum &+= Int(tables.qp[unit])
                x &+= 16
            }
            y &+= 16
        }
    }
}
