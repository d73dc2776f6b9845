/// The common names of profiles and levels.
extension H264Stream {
    /// The profile name (H.264 A.2); `profile 99` for an unknown profile. Nil without an SPS.
    package var profileName: String? {
        guard let sps = sequenceSets.first else { return nil }
        // constraint_set0_flag is bit 7 of `constraint_flags`.
        func isSet(_ flag: Int) -> Bool { sps.constraint_flags >> (7 - flag) & 1 == 1 }
        return switch sps.profile_idc {
        case 66: isSet(1) ? "Constrained Baseline" : "Baseline"
        case 77: "Main"
        case 88: "Extended"
        case 100: isSet(4) && isSet(5) ? "Constrained High" : isSet(4) ? "Progressive High" : "High"
        case 110: isSet(3) ? "High 10 Intra" : "High 10"
        case 122: isSet(3) ? "High 4:2:2 Intra" : "High 4:2:2"
        case 244: isSet(3) ? "High 4:4:4 Intra" : "High 4:4:4 Predictive"
        case 44: "CAVLC 4:4:4 Intra"
        default: "profile \(sps.profile_idc)"
        }
    }

    /// The level name, such as `4.1` or `1b`. Nil without an SPS.
    package var levelName: String? {
        guard let sps = sequenceSets.first else { return nil }
        let is1b = sps.level_idc == 11 && sps.constraint_set3_flag && [66, 77, 88].contains(sps.profile_idc)
        return is1b || sps.level_idc == 9 ? "1b" : "\(sps.level_idc / 10).\(sps.level_idc % 10)"
    }
}

extension HEVCStream {
    /// The profile name (H.265 A.3); `profile 99` for an unknown profile. Nil without an SPS.
    package var profileName: String? {
        guard let general = sequenceSets.first?.profileTierLevel.general else { return nil }
        return switch general.profile_idc {
        case 1: "Main"
        case 2: "Main 10"
        case 3: "Main Still Picture"
        case 4: "Range Extensions"
        case 5: "High Throughput"
        case 9: "Screen Content"
        default: "profile \(general.profile_idc)"
        }
    }

    /// The level name, such as `4.1`, or `4.1 High` for the High tier. Nil without an SPS.
    package var levelName: String? {
        guard let set = sequenceSets.first?.profileTierLevel else { return nil }
        let tenths = set.general_level_idc / 3
        return "\(tenths / 10).\(tenths % 10)" + (set.general.tier_flag ? " High" : "")
    }
}
