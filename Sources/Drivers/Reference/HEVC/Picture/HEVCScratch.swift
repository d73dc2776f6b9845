/// The working memory for coding a picture; reused for the next picture.
final class HEVCScratch<Sample: HEVCSample>: Sendable {
    /// The distance between rows of a predicted block's luma and chroma in samples.
    static var stride: Int { 64 }
    static var chromaStride: Int { 32 }
    /// The number of coding block sizes, 8…64. Each has a slot for its best coded unit.
    static var depths: Int { 4 }
    static var lumaSamples: Int { 64 * 64 }
    static var samples: Int { 64 * 64 * 3 / 2 }

    /// Three predicted blocks, each with luma, then Cb, then Cr.
    let predictions = ElementStorage<Sample>(count: 3 * 64 * 64 * 3 / 2 + 64, repeating: 0)
    let residual = ElementStorage<Int16>(count: 32 * 32, repeating: 0)
    let coefficients = ElementStorage<Int16>(count: 32 * 32, repeating: 0)
    let scaled = ElementStorage<Int16>(count: 32 * 32, repeating: 0)
    let levelCosts = ElementStorage<Float>(count: HEVCLevelCosts.memoryCount, repeating: 0)
    /// The slots for the best results: first by size of the coding block, then by size of the transform block.
    let sampleSnapshots = ElementStorage<Sample>(count: 2 * 4 * 64 * 64 * 3 / 2, repeating: 0)
    let levelSnapshots = ElementStorage<Int16>(count: 2 * 4 * HEVCLevels.count, repeating: 0)
    let nodeSnapshots = ElementStorage<HEVCTransformNode>(
        count: 2 * 4 * HEVCCodingTree.nodeLimit, repeating: HEVCTransformNode())
    let predictionSnapshots = ElementStorage<HEVCPredictionUnit>(count: 4 * 4, repeating: HEVCPredictionUnit())
    let unitSnapshots = ElementStorage<HEVCUnitSnapshot>(count: 4, repeating: HEVCUnitSnapshot())
    let motionReferences = HEVCMotionReferences()
    let references: ElementStorage<HEVCPlanes<Sample>>
    let cleanLimits = ElementStorage<Int32>(count: 2 * HEVCMotionReferences.perList, repeating: 0)
    /// Two blocks with 14-bit values, and the scratch memory of interpolation.
    let wide = ElementStorage<Int16>(
        count: 2 * HEVCInterpolation<Sample>.count + HEVCInterpolation<Sample>.scratchCount, repeating: 0)
    let pair = ElementStorage<Int16>(count: HEVCInterpolation<Sample>.count, repeating: 0)
    /// The predictions of `HEVCLumaTrials`, and rows that were filtered horizontally for them, with the scratch memory
    /// of the vertical filter.
    let lumaTrials = ElementStorage<HEVCLumaTrials>(count: 1, repeating: HEVCLumaTrials())
    let lumaTrialSamples = ElementStorage<Sample>(count: HEVCLumaTrials.slots * 64 * 64, repeating: 0)
    let lumaTrialRows = ElementStorage<Int16>(
        count: 3 * HEVCInterpolation<Sample>.stride + HEVCInterpolation<Sample>.scratchCount, repeating: 0)
    let latestVectors = ElementStorage<MotionVector>(count: 2 * HEVCMotionReferences.perList, repeating: .zero)
    let candidates = ElementStorage<HEVCMotion>(count: 8, repeating: HEVCMotion())
    let intra = HEVCIntraStorage<Sample>()
    let noUnits = ElementStorage<HEVCCodingUnit>(count: 1, repeating: HEVCCodingUnit())
    let noStates = ElementStorage<UInt8>(count: 1, repeating: 0)
    let residualScratch = ElementStorage<Int32>(count: HEVCResidualCoder.scratchCount, repeating: 0)

    /// Allocates the memory. `planes` is a placeholder for references until a slice sets them.
    init(_ planes: HEVCPlanes<Sample>) {
        references = ElementStorage(count: 2 * HEVCMotionReferences.perList, repeating: planes)
    }
}

/// A slot's coding unit and its counts. Its samples, levels, prediction units and nodes are stored separately.
struct HEVCUnitSnapshot: BitwiseCopyable, Sendable {
    var unit = HEVCCodingUnit()
    var nodeCount = 0
    var predictionCount = 0
    var hasLevels = false
    var group = HEVCQuantizationGroup()
    var cost = Int.max
}
