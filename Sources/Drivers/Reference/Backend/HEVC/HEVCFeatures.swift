internal import CVA

/// The value of VAConfigAttribEncHEVCFeatures: two bits per feature, 0 if the driver does not support it.
struct HEVCFeatures {
    /// A feature; the raw value is the offset of its bits in the attribute's value.
    enum Feature: Int {
        case asymmetricPartitions = 4
        case sampleAdaptiveOffset = 6
        case temporalVectors = 10
        case strongIntraSmoothing = 12
        case signHiding = 16
        case constrainedIntra = 18
        case transformSkip = 20
        case quantizerDelta = 22
        case deblockingDisable = 28
    }

    private let word: UInt32?
    private let behavior: HEVCBehavior

    /// Reads the attribute. If the driver does not report it, all features are accepted.
    init(_ entry: Capabilities.Entry, _ behavior: HEVCBehavior) {
        word = entry.value(VAConfigAttribEncHEVCFeatures)
        self.behavior = behavior
    }

    /// Returns whether the attribute reports the feature. If the driver does not report the attribute, returns true.
    func has(_ feature: Feature) -> Bool { word.map { $0 >> UInt32(feature.rawValue) & 3 != 0 } ?? true }

    func check(_ feature: Feature, _ isUsed: Bool) throws {
        try require(
            !isUsed || has(feature) || behavior.honorsUnreported.contains(feature) || behavior.ignoresUnreported,
            "\(feature), which this driver's HEVC encoder does not have")
    }

    /// Returns the attribute's value for an encoder with `features`.
    static func word(_ features: [Feature]) -> UInt32 { features.reduce(0) { $0 | 1 << UInt32($1.rawValue) } }
}

/// The value of VAConfigAttribEncHEVCBlockSizes.
struct HEVCBlockSizes {
    private let word: UInt32?

    init(_ entry: Capabilities.Entry) { word = entry.value(VAConfigAttribEncHEVCBlockSizes) }

    private func field(_ index: Int) -> Int { Int((word ?? 0) >> UInt32(2 * index) & 3) }

    /// Throws unless the driver supports the block sizes of `sequence`.
    func check(_ sequence: HEVCSequenceParameterSet, _ behavior: HEVCBehavior) throws {
        try require(sequence.hasValidBlockSizes, "the block sizes are not compatible")
        guard word != nil, !behavior.hasOwnBlocks else { return }
        try require(
            (3 + field(1)...max(3 + field(0), 3 + field(1))).contains(sequence.log2CodingTreeBlock),
            "coding tree blocks of \(1 << sequence.log2CodingTreeBlock)")
        try require(
            sequence.log2MinCodingBlock >= 3 + field(2), "coding blocks of \(1 << sequence.log2MinCodingBlock)")
        try require(
            sequence.log2MaxTransformBlock <= 2 + field(3) && sequence.log2MinTransformBlock >= 2 + field(4),
            "transform blocks from \(1 << sequence.log2MinTransformBlock) to \(1 << sequence.log2MaxTransformBlock)")
        try require(
            sequence.max_transform_hierarchy_depth_inter <= field(5) && sequence.max_transform_hierarchy_depth_inter >= field(6)
                && sequence.max_transform_hierarchy_depth_intra <= field(7) && sequence.max_transform_hierarchy_depth_intra >= field(8),
            "transform trees \(sequence.max_transform_hierarchy_depth_inter) and \(sequence.max_transform_hierarchy_depth_intra) deep")
    }

    /// Returns the attribute's value for coding tree blocks of 16…64, coding blocks from 8, transform blocks of 4…32,
    /// and transform trees of up to `depth`.
    static func word(depth: UInt32) -> UInt32 { 3 | 1 << 2 | 3 << 6 | depth << 10 | depth << 14 }
}
