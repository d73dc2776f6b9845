package import NALUnits
package import VideoBase

extension CodecProfile {
    /// general_profile_idc, H.265 A.3, or 0 for a profile of another standard.
    package var general_profile_idc: UInt8 {
        switch self {
        case .hevcMain: 1
        case .hevcMain10: 2
        case .h264ConstrainedBaseline, .h264Main, .h264High: 0
        }
    }
}

/// The profile, tier and level, profile_tier_level(1, …), H.265 7.3.3, for progressive frames in Main or Main 10. The
/// fields have the names and values of the standard.
package struct ProfileTierLevel: Sendable, Hashable {
    /// The tier.
    package var general_tier_flag: Tier
    /// The profile: 1 (Main) or 2 (Main 10).
    package var general_profile_idc: UInt8
    /// The level times thirty.
    package var general_level_idc: UInt8
    /// sub_layer_level_idc of the sub-layers below the highest, from the lowest on. nil and missing elements are not
    /// written, which means the level of the next higher sub-layer.
    package var sub_layer_level_idc: [UInt8?] = []

    /// Creates a value without levels for sub-layers.
    package init(profile: CodecProfile, tier: Tier, level: Level) {
        general_tier_flag = tier
        general_profile_idc = profile.general_profile_idc
        general_level_idc = level.level_idc
    }

    /// general_profile_compatibility_flag[0…31], with the first in the highest bit. A Main stream is also a Main 10
    /// stream (A.3.2, A.3.3).
    package var general_profile_compatibility_flags: UInt32 {
        (general_profile_idc...max(general_profile_idc, 2)).reduce(0) { $0 | 1 << (31 - UInt32($1)) }
    }

    /// The first 12 bytes, from general_profile_space to general_level_idc, which an hvcC record repeats.
    package var generalBytes: [UInt8] {
        var w = BitWriter()
        w.u(2, 0)  // general_profile_space
        w.flag(general_tier_flag == .high)
        w.u(5, general_profile_idc)
        w.u(32, general_profile_compatibility_flags)
        w.flag(true)  // general_progressive_source_flag
        w.flag(false)  // general_interlaced_source_flag
        w.flag(true)  // general_non_packed_constraint_flag
        w.flag(true)  // general_frame_only_constraint_flag
        w.u(32, 0)  // general_reserved_zero_43bits, general_inbld_flag or general_reserved_zero_bit
        w.u(12, 0)
        w.u(8, general_level_idc)
        return w.bytes
    }

    /// Writes the structure.
    ///
    /// - Parameter subLayers: sps_max_sub_layers_minus1 + 1, 1…7.
    package func write(to w: inout BitWriter, subLayers: Int) {
        w.append(generalBytes)
        guard subLayers > 1 else { return }
        let levels = (0..<subLayers - 1).map { $0 < sub_layer_level_idc.count ? sub_layer_level_idc[$0] : nil }
        for level in levels {
            w.flag(false)  // sub_layer_profile_present_flag
            w.flag(level != nil)  // sub_layer_level_present_flag
        }
        for _ in subLayers - 1..<8 { w.u(2, 0) }  // reserved_zero_2bits
        for level in levels { if let level { w.u(8, level) } }
    }
}
