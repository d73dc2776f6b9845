import HEVCSyntax
import NALUnits
import VideoBase

/// A sequence parameter set that a driver wrote. It is parsed far enough to put our window, level and VUI around the
/// driver's coding description (H.265 7.3.2.2.1, `DriverQuirk.ownHEVCParameterSets`).
struct DriverHEVCSequenceParameterSet {
    private var bits: UnescapedBits
    private var subLayers = 1
    private var sps_seq_parameter_set_id = 0
    private var coded = VideoSize(width: 0, height: 0)
    /// The bit positions from sps_video_parameter_set_id up to profile_tier_level().
    private var beginning = 0..<0
    /// The bit positions from bit_depth_luma_minus8 up to vui_parameters_present_flag.
    private var coding = 0..<0
    /// The part of `coding` from sps_sub_layer_ordering_info_present_flag up to the block sizes.
    private var ordering = 0..<0

    /// Reads a NAL unit. Returns nil if the unit is not an SPS, ends early, or uses features that do not fit our VUI
    /// (scaling lists, other chroma formats).
    init?(unit: [UInt8]) {
        guard HEVCSyntax.NALUnitType(of: unit) == .sequenceParameterSet, unit.count > 2 else { return nil }
        bits = UnescapedBits(unit.dropFirst(2))
        bits.skip(4)
        subLayers = bits.u(3) + 1
        bits.skip(1)
        beginning = 0..<bits.position
        skipProfileTierLevel()
        sps_seq_parameter_set_id = bits.ue()
        guard subLayers <= 7, bits.ue() == 1 else { return nil }  // chroma_format_idc
        coded = VideoSize(width: bits.ue(), height: bits.ue())
        if bits.flag() { for _ in 0..<4 { _ = bits.ue() } }
        let start = bits.position
        guard readCoding() else { return nil }
        coding = start..<bits.position
        if bits.isExhausted || coded.width > 16384 || coded.height > 16384 { return nil }
    }

    /// Returns the set with our level, window and VUI, or nil if it cannot hold our picture.
    func adopting(_ ours: SequenceParameterSet) -> [UInt8]? {
        var set = ours
        let size = ours.croppedSize
        set.pic_width_in_luma_samples = coded.width
        set.pic_height_in_luma_samples = coded.height
        set.conf_win_right_offset = (coded.width - size.width) / 2
        set.conf_win_bottom_offset = (coded.height - size.height) / 2
        guard set.conf_win_right_offset >= 0, set.conf_win_bottom_offset >= 0 else { return nil }
        var w = BitWriter()
        bits.copy(beginning, to: &w)
        set.profileTierLevel.write(to: &w, subLayers: subLayers)
        set.sps_seq_parameter_set_id = sps_seq_parameter_set_id
        set.writeSize(to: &w)
        // The decoded picture buffer sizes follow from our plan and match our VPS.
        let hasOurLayers = subLayers == ours.subLayers.count
        bits.copy(coding.lowerBound..<ordering.lowerBound, to: &w)
        if hasOurLayers { ours.writeOrdering(to: &w) }
        bits.copy((hasOurLayers ? ordering.upperBound : ordering.lowerBound)..<coding.upperBound, to: &w)
        set.writeEnd(to: &w, subLayers: subLayers)
        w.trailingBits()
        return NALUnit.bytes(.sequenceParameterSet, rbsp: w.bytes)
    }

    /// Skips profile_tier_level(), 7.3.3.
    private mutating func skipProfileTierLevel() {
        bits.skip(96)
        guard subLayers > 1 else { return }
        let present = (0..<subLayers - 1).map { _ in (bits.flag(), bits.flag()) }
        bits.skip(2 * (9 - subLayers))
        for (profile, level) in present { bits.skip((profile ? 88 : 0) + (level ? 8 : 0)) }
    }

    /// Reads from bit_depth_luma_minus8 to strong_intra_smoothing_enabled_flag. Returns `false` for unsupported syntax.
    private mutating func readCoding() -> Bool {
        _ = bits.ue()
        _ = bits.ue()
        let log2MaxLsb = bits.ue() + 4
        let start = bits.position
        let orderings = bits.flag() ? subLayers : 1
        for _ in 0..<orderings * 3 { _ = bits.ue() }
        ordering = start..<bits.position
        for _ in 0..<6 { _ = bits.ue() }  // block sizes and transform depths
        guard !bits.flag() else { return false }  // scaling_list_enabled_flag
        bits.skip(2)
        if bits.flag() {  // pcm_enabled_flag
            bits.skip(8)
            _ = bits.ue()
            _ = bits.ue()
            bits.skip(1)
        }
        let sets = bits.ue()
        guard sets <= 64, log2MaxLsb <= 16 else { return false }
        var counts: [Int] = []
        for index in 0..<sets {
            guard let count = skipShortTermSet(index, counts) else { return false }
            counts.append(count)
        }
        if bits.flag() {  // long_term_ref_pics_present_flag
            let lasting = bits.ue()
            guard lasting <= 32 else { return false }
            bits.skip(lasting * (log2MaxLsb + 1))
        }
        bits.skip(2)
        return !bits.isExhausted
    }

    /// Skips st_ref_pic_set(), 7.3.7.
    ///
    /// - Returns: NumDeltaPocs, or nil if it is out of range.
    private mutating func skipShortTermSet(_ index: Int, _ counts: [Int]) -> Int? {
        if index > 0, bits.flag() {  // inter_ref_pic_set_prediction_flag
            bits.skip(1)
            _ = bits.ue()
            var count = 0
            for _ in 0...counts[index - 1] {
                let isUsed = bits.flag()
                if isUsed || bits.flag() { count += 1 }
            }
            return count
        }
        let count = bits.ue() + bits.ue()
        guard count <= 32 else { return nil }
        for _ in 0..<count {
            _ = bits.ue()
            bits.skip(1)
        }
        return count
    }
}
