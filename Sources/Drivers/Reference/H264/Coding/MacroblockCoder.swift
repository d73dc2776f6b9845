/// Chooses how each macroblock is coded, and reconstructs it.
///
/// The value consists of pointers and numbers. `H264PictureEncoder` owns the pictures, tables and scratch memory, and
/// keeps them alive while the coder is used.
struct MacroblockCoder {
    // The picture.
    let geometry: PlaneGeometry
    let width: Int
    let height: Int
    let stride: Int
    let source: SourcePicture
    let planes: ReferencePlanes
    let tables: H264PictureTables
    let preset: H264SpeedPreset
    let allowsTransform8x8: Bool
    let constrainedIntra: Bool
    let chromaOffsets: SIMD2<Int>
    /// The limit of vertical motion vectors (±), in quarter samples.
    let verticalRange: Int
    let quantizers: ElementPointer<H264Quantizer>
    /// Whether any slice of the picture is a B slice.
    let hasBipredictiveSlices: Bool
    let macroblockQPs: [UInt8]?
    /// `H264ReconstructedPicture.stillBlocks` of this picture.
    let stillBlocks: ElementPointer<UInt8>
    let refresh: RefreshGuard

    // The slice.
    var sliceNumber: Int32 = 0
    var sliceType = SliceType.i
    var referenceCounts = SIMD2(0, 0)
    /// `stillBlocks` of the first picture of list 1, or nil if that picture is a long-term reference.
    var colocatedStillBlocks: ElementPointer<UInt8>?
    var direct_8x8_inference_flag = true
    /// The planes of the pictures in the lists, with `listLength` entries for each list, and a number that identifies
    /// each distinct picture.
    var referencesOfLists: ElementPointer<ReferencePlanes>
    var referenceIdentities: ElementPointer<Int8>
    /// The limits of the samples that intra refresh permits, with the same indices as `referencesOfLists`.
    var cleanLimits: ElementPointer<Int32>
    static let listLength = 32
    var qp = 26
    var lambda = 4
    /// The weight of a bit against squared errors, in 256ths.
    var squareLambda = 0
    var quantizer: H264Quantizer
    var cbQuantizer: H264Quantizer
    var crQuantizer: H264Quantizer

    // The macroblock.
    var x = 0
    var y = 0
    var address = 0
    /// Whether intra refresh limits the macroblock to prediction from refreshed samples.
    var isGuarded = false
    /// Whether intra refresh requires that the macroblock is intra.
    var mustBeIntra = false
    var hasLeft = false
    var hasTop = false
    var hasTopLeft = false
    var hasTopRight = false
    /// The availability of the neighbors for intra prediction. With constrained intra prediction, inter macroblocks
    /// are not available.
    var intraLeft = false
    var intraTop = false
    var intraTopLeft = false
    var intraTopRight = false

    // Scratch memory.
    let sourceLuma: ElementPointer<UInt8>
    let sourceCb: ElementPointer<UInt8>
    let sourceCr: ElementPointer<UInt8>
    let coefficients: ElementPointer<Int16>
    let trial: ElementPointer<UInt8>
    let edges: IntraEdges
    let rawEdges: IntraEdges
    let rows: ElementPointer<UInt8>
    let scan8x8: ElementPointer<UInt8>
    let scan4x4: ElementPointer<UInt8>
    let chooser: LevelChooser
    let motionBits: ElementPointer<UInt16>
    /// The selected list, to which the next four properties belong.
    var list = 0
    var references: ElementPointer<ReferencePlanes>
    var referenceCount = 0
    /// Vectors and reference indices of the macroblock and its neighbors; see `MotionCache`.
    var motionCache: ElementPointer<MotionVector>
    var referenceCache: ElementPointer<Int8>
    let motionCaches: ElementPointer<MotionVector>
    let referenceCaches: ElementPointer<Int8>
    /// Blocks for bi-prediction, `H264Scratch.pairBytes` each: the average, one block for each list, and a trial block.
    let pairs: ElementPointer<UInt8>
    var inter: CandidatePointers
    let intra16: CandidatePointers
    let intra4: CandidatePointers
    let intra8: CandidatePointers
    /// Memory for the samples and levels of other inter candidates.
    var spare: CandidatePointers
    var other: CandidatePointers

    // The decision.
    var kind = MacroblockKind.skip
    var transform8x8 = false
    var intra16x16Mode = 0
    var intraChromaMode = 0
    var codedBlockPattern = 0
    var skipVector = MotionVector.zero
    var direct = DirectMotion()
    /// The bits of the 8×8 blocks that use direct prediction, if `kind` is inter 8×8 in a B slice.
    var directQuadrants = 0
    var squaredError: UInt64 = 0
    var intraCount = 0
    var skipCount = 0

    /// - Parameters:
    ///   - scratch: The memory that only this coder uses.
    ///   - levels: The model that all coders of the picture share if they use it.
    init(
        job: H264PictureJob, geometry: PlaneGeometry, tables: H264PictureTables, scratch: H264Scratch,
        levels: LevelModel, quantizers: ElementPointer<H264Quantizer>, references: H264SliceReferences,
        refresh: RefreshGuard
    ) {
        self.geometry = geometry
        width = job.widthInMacroblocks
        height = job.heightInMacroblocks
        stride = geometry.stride
        source = job.source
        planes = job.reconstruction.planes
        self.tables = tables
        preset = H264SpeedPreset(quality: job.quality, choosesLevels: job.choosesLevels)
        allowsTransform8x8 = job.transform8x8
        constrainedIntra = job.constrained_intra_pred_flag
        chromaOffsets = SIMD2(job.chroma_qp_index_offset, job.second_chroma_qp_index_offset)
        verticalRange = MotionLimits.verticalRange(macroblocks: width * height)
        self.quantizers = quantizers
        hasBipredictiveSlices = job.slices.contains { $0.type == .b }
        macroblockQPs = job.macroblockQPs
        stillBlocks = job.reconstruction.stillBlocks
        self.refresh = refresh
        cleanLimits = references.cleanLimits
        self.references = references.planes
        referencesOfLists = references.planes
        referenceIdentities = references.identities
        quantizer = quantizers[26]
        cbQuantizer = quantizers[26]
        crQuantizer = quantizers[26]
        sourceLuma = scratch.source.elements
        sourceCb = scratch.source.elements + H264Scratch.sourceChroma
        sourceCr = scratch.source.elements + (H264Scratch.sourceChroma + 8)
        coefficients = scratch.coefficients.elements
        trial = scratch.trial.elements
        edges = IntraEdges(scratch.edges.elements)
        rawEdges = IntraEdges(scratch.edges.elements + IntraEdges.byteCount)
        rows = scratch.rows.elements
        scan8x8 = scratch.scan8x8.elements
        scan4x4 = scratch.scan4x4.elements
        chooser = LevelChooser(
            model: levels, sizes: scratch.sizes.elements, choices: scratch.choices.elements,
            costs: scratch.choiceCosts.elements)
        motionBits = scratch.motionBits.elements
        motionCache = scratch.motion.elements
        referenceCache = scratch.references.elements
        motionCaches = scratch.motion.elements
        referenceCaches = scratch.references.elements
        pairs = scratch.pairs.elements
        inter = CandidatePointers(scratch, 0)
        intra16 = CandidatePointers(scratch, 1)
        intra4 = CandidatePointers(scratch, 2)
        intra8 = CandidatePointers(scratch, 3)
        spare = CandidatePointers(scratch, 4)
        other = CandidatePointers(scratch, 5)
    }

    mutating func begin(_ slice: H264SliceJob, number: Int, _ references: H264SliceReferences) {
        sliceNumber = Int32(number)
        sliceType = slice.type
        referenceCounts = SIMD2(slice.list0.count, slice.list1.count)
        colocatedStillBlocks = slice.isFirstOfList1LongTerm ? nil : slice.list1.first?.stillBlocks
        direct_8x8_inference_flag = slice.direct_8x8_inference_flag
        referencesOfLists = references.planes
        referenceIdentities = references.identities
        cleanLimits = references.cleanLimits
        select(0)
        setQP(slice.qp)
    }

    /// Selects a list. From then on, vectors, references and their prediction belong to it.
    @inline(__always) mutating func select(_ list: Int) {
        self.list = list
        references = referencesOfLists + Self.listLength &* list
        referenceCount = referenceCounts[list]
        motionCache = motionCaches + H264Scratch.motionCacheCount &* list
        referenceCache = referenceCaches + H264Scratch.motionCacheCount &* list
    }

    mutating func setQP(_ qp: Int) {
        self.qp = qp
        quantizer = quantizers[qp]
        cbQuantizer = quantizers[H264TransformTables.chromaQP(qp, offset: chromaOffsets.x)]
        crQuantizer = quantizers[H264TransformTables.chromaQP(qp, offset: chromaOffsets.y)]
        lambda = H264Lagrange.lambda(qp)
        squareLambda = H264Lagrange.squareLambda(qp)
    }

    /// Chooses, codes and reconstructs the macroblock at column `x` and row `y`, and stores its syntax elements in
    /// `syntax`.
    mutating func code(x: Int, y: Int, into syntax: inout MacroblockSyntax) {
        start(x, y)
        loadSource()
        switch sliceType {
        case .i: decideIntra()
        case .p, .b:
            if mustBeIntra {
                decideIntraAlone()
            } else if sliceType == .p {
                decideInter()
            } else {
                decideBipredictive()
            }
        }
        finish(&syntax)
    }

    private mutating func start(_ x: Int, _ y: Int) {
        (self.x, self.y) = (x, y)
        address = y &* width &+ x
        let slice = tables.slice
        hasLeft = x > 0 && slice[address &- 1] == sliceNumber
        hasTop = y > 0 && slice[address &- width] == sliceNumber
        hasTopLeft = x > 0 && y > 0 && slice[address &- width &- 1] == sliceNumber
        hasTopRight = y > 0 && x &+ 1 < width && slice[address &- width &+ 1] == sliceNumber
        intraLeft = hasLeft
        intraTop = hasTop
        intraTopLeft = hasTopLeft
        intraTopRight = hasTopRight
        if constrainedIntra && sliceType != .i {
            let isIntra = tables.isIntra
            intraLeft = hasLeft && isIntra[address &- 1] != 0
            intraTop = hasTop && isIntra[address &- width] != 0
            intraTopLeft = hasTopLeft && isIntra[address &- width &- 1] != 0
            intraTopRight = hasTopRight && isIntra[address &- width &+ 1] != 0
        }
        let position = refresh.isRows ? y : x
        isGuarded = position < refresh.renewed
        mustBeIntra = refresh.forced.contains(position)
        tables.slice[address] = sliceNumber
        transform8x8 = false
        codedBlockPattern = 0
        if let macroblockQPs {
            let macroblockQP = Int(macroblockQPs[address])
            if macroblockQP != qp { setQP(macroblockQP) }
        }
    }
}

/// Lagrange multipliers.
enum H264Lagrange {
    /// Returns the weight of a bit in sums of absolute (transformed) differences: 2^(QP / 6 − 2), at least 1.
    static func lambda(_ qp: Int) -> Int {
        let sixths = [16, 18, 20, 23, 25, 29]
        return max(1, (sixths[qp % 6] << (qp / 6)) >> 6)
    }

    /// Returns the weight of a bit against squared errors, in 256ths: 0.85 · 2^((QP − 12) / 3), reduced because later
    /// pictures predict from this one.
    static func squareLambda(_ qp: Int) -> Int {
        let thirds = [256, 323, 406]
        return ((thirds[qp % 3] << (qp / 3)) * 17 * squarePart / (20 * 64)) >> 4
    }

    /// The reduction of `squareLambda`, in 64ths.
    private static let squarePart = 40
}

/// Limits of motion vectors.
enum MotionLimits {
    /// Returns the vertical range in quarter samples. It is the limit of table A-1 at the lowest level that permits
    /// this picture size.
    static func verticalRange(macroblocks: Int) -> Int {
        switch macroblocks {
        case ...99: 64 * 4
        case ...396: 128 * 4
        case ...1620: 256 * 4
        default: 512 * 4
        }
    }
}
