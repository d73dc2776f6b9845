import H264Syntax
import NALUnits
import VideoBase

/// A sequence parameter set that a driver wrote. It is parsed far enough to append our cropping and VUI to the driver's
/// coding description (H.264 7.3.2.1.1).
struct DriverSequenceParameterSet {
    private var bits: UnescapedBits
    private var profile_idc = 0
    private var constraint_flags = 0
    private var max_num_ref_frames = 0
    private var pic_width_in_mbs = 0
    private var pic_height_in_map_units = 0
    /// The bit positions from the end of level_idc to frame_cropping_flag.
    private var coded = 24..<24

    /// Reads a NAL unit. Returns nil if the unit is not an SPS, ends early, or uses features that do not fit our VUI
    /// (interlaced coding, scaling lists, other sample formats).
    init?(unit: [UInt8]) {
        guard NALUnitType(of: unit) == .sequenceParameterSet else { return nil }
        bits = UnescapedBits(unit.dropFirst())
        profile_idc = bits.u(8)
        constraint_flags = bits.u(8)
        bits.skip(8)  // level_idc
        _ = bits.ue()  // seq_parameter_set_id
        if [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(profile_idc) {
            guard bits.ue() == 1, bits.ue() == 0, bits.ue() == 0 else { return nil }  // 4:2:0, 8 bits
            bits.skip(1)
            guard !bits.flag() else { return nil }  // scaling lists
        }
        _ = bits.ue()  // log2_max_frame_num_minus4
        switch bits.ue() {
        case 0: _ = bits.ue()
        case 1:
            bits.skip(1)
            _ = bits.ue()
            _ = bits.ue()
            for _ in 0..<min(bits.ue(), 255) { _ = bits.ue() }
        default: break
        }
        max_num_ref_frames = bits.ue()
        bits.skip(1)
        pic_width_in_mbs = bits.ue() + 1
        pic_height_in_map_units = bits.ue() + 1
        guard bits.flag() else { return nil }  // frame_mbs_only_flag
        bits.skip(1)
        coded = 24..<bits.position
        if bits.isExhausted || max_num_ref_frames > 16 || pic_width_in_mbs > 1024 || pic_height_in_map_units > 1024 { return nil }
    }

    /// Returns the set with our constraint flags, level, cropping and VUI, or nil if it cannot hold our picture.
    func adopting(_ ours: SequenceParameterSet) -> [UInt8]? {
        var set = ours
        let size = ours.croppedSize
        set.pic_width_in_mbs = pic_width_in_mbs
        set.pic_height_in_map_units = pic_height_in_map_units
        set.frame_crop_right_offset = (pic_width_in_mbs * 16 - size.width) / 2
        set.frame_crop_bottom_offset = (pic_height_in_map_units * 16 - size.height) / 2
        guard set.frame_crop_right_offset >= 0, set.frame_crop_bottom_offset >= 0 else { return nil }
        set.vui?.max_dec_frame_buffering = max(ours.vui?.max_dec_frame_buffering ?? 0, max_num_ref_frames)
        var w = BitWriter()
        w.u(8, profile_idc)
        w.u(8, profile_idc == ours.profile_idc ? Int(ours.constraint_flags) : constraint_flags)
        w.u(8, ours.level_idc)
        bits.copy(coded, to: &w)
        set.writeCroppingAndVUI(to: &w)
        w.trailingBits()
        return NALUnit.bytes(.sequenceParameterSet, nal_ref_idc: 3, rbsp: w.bytes)
    }
}
