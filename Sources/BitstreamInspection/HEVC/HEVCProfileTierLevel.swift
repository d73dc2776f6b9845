/// profile_tier_level() (H.265 7.3.3).
package struct HEVCProfileTierLevel: Sendable, Hashable {
    /// The profile and tier of the whole stream or of one sub-layer: the fields with the prefix general_ or sub_layer_.
    package struct Profile: Sendable, Hashable {
        package var profile_space: Int
        package var tier_flag: Bool
        package var profile_idc: Int
        /// profile_compatibility_flag[0] to [31]; the first is bit 31.
        package var profile_compatibility_flags: Int
        package var progressive_source_flag: Bool
        package var interlaced_source_flag: Bool
        package var non_packed_constraint_flag: Bool
        package var frame_only_constraint_flag: Bool
        /// The next 44 bits: 43 bits whose meaning depends on the profile, and the bit after them.
        package var constraints: Int

        init(_ reader: inout BitReader) {
            profile_space = reader.bits(2)
            tier_flag = reader.flag()
            profile_idc = reader.bits(5)
            profile_compatibility_flags = reader.bits(32)
            progressive_source_flag = reader.flag()
            interlaced_source_flag = reader.flag()
            non_packed_constraint_flag = reader.flag()
            frame_only_constraint_flag = reader.flag()
            constraints = reader.bits(22) << 22 | reader.bits(22)
        }

        /// Returns profile_compatibility_flag[index].
        package func isCompatible(with index: Int) -> Bool { profile_compatibility_flags >> (31 - index) & 1 == 1 }
        /// Returns whether profile_idc is `index` or profile_compatibility_flag[index] is set.
        package func includes(_ index: Int) -> Bool { profile_idc == index || isCompatible(with: index) }
    }

    /// The profile and level of one sub-layer; nil for values that are not present.
    package struct SubLayer: Sendable, Hashable {
        package var profile: Profile?
        package var level_idc: Int?
    }

    package var general: Profile
    /// general_level_idc: thirty times the level number.
    package var general_level_idc: Int
    /// The profiles and levels of the sub-layers below the highest.
    package var subLayers: [SubLayer] = []

    init(_ reader: inout BitReader, maxSubLayers: Int) throws(Malformed) {
        general = Profile(&reader)
        general_level_idc = reader.bits(8)
        var present: [(Bool, Bool)] = []
        for _ in 0..<(maxSubLayers - 1) { present.append((reader.flag(), reader.flag())) }
        if maxSubLayers > 1 {
            for _ in (maxSubLayers - 1)..<8 where reader.bits(2) != 0 {
                throw Malformed("reserved_zero_2bits is not 0")
            }
        }
        for (profile, level) in present {
            subLayers.append(
                SubLayer(profile: profile ? Profile(&reader) : nil, level_idc: level ? reader.bits(8) : nil))
        }
        try reader.checkEnd("profile_tier_level()")
    }
}
