/// The support for a coding tool, as encoded in VAConfigAttribValEncHEVCFeatures.
package enum FeatureSupport: UInt32, Sendable, Hashable {
    case notSupported = 0, supported = 1, required = 2, reserved = 3
}

/// The support for each HEVC coding tool: VAConfigAttribValEncHEVCFeatures, two bits per tool, from bit 0 upwards.
package struct HEVCFeatures: Sendable, Hashable {
    package let rawValue: UInt32
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    private func field(_ index: UInt32) -> FeatureSupport {
        FeatureSupport(rawValue: rawValue >> (index * 2) & 3) ?? .notSupported
    }

    package var amp: FeatureSupport { field(2) }
    package var sao: FeatureSupport { field(3) }
    package var pcm: FeatureSupport { field(4) }
    package var temporalMVP: FeatureSupport { field(5) }
    package var strongIntraSmoothing: FeatureSupport { field(6) }
    package var signDataHiding: FeatureSupport { field(8) }
    package var constrainedIntraPrediction: FeatureSupport { field(9) }
    package var transformSkip: FeatureSupport { field(10) }
    package var cuQPDelta: FeatureSupport { field(11) }
    package var deblockingFilterDisable: FeatureSupport { field(14) }

    static let names = [
        "separate_colour_planes", "scaling_lists", "amp", "sao", "pcm", "temporal_mvp", "strong_intra_smoothing",
        "dependent_slices", "sign_data_hiding", "constrained_intra_pred", "transform_skip", "cu_qp_delta",
        "weighted_prediction", "transquant_bypass", "deblocking_filter_disable",
    ]
}

/// The limits of HEVC block sizes: VAConfigAttribValEncHEVCBlockSizes, with each size as a log2 value.
package struct HEVCBlockSizes: Sendable, Hashable {
    package let rawValue: UInt32
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    private func field(_ shift: UInt32, _ bits: UInt32) -> Int { Int(rawValue >> shift & (1 << bits - 1)) }

    package var log2MaxCodingTreeBlock: Int { field(0, 2) + 3 }
    package var log2MinCodingTreeBlock: Int { field(2, 2) + 3 }
    package var log2MinCodingBlock: Int { field(4, 2) + 3 }
    package var log2MaxTransformBlock: Int { field(6, 2) + 2 }
    package var log2MinTransformBlock: Int { field(8, 2) + 2 }
    package var maxTransformHierarchyDepthInter: Int { field(10, 2) }
    package var maxTransformHierarchyDepthIntra: Int { field(14, 2) }
}
