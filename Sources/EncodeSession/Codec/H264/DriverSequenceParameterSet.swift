import H264Syntax
import NALUnits
import VideoBase

/// A sequence parameter set that a driver wrote. It is parsed far enough to append our cropping and VUI to the driver's
/// coding description (H.264 7.3.2.1.1).
struct DriverSequenceParameterSet {
    private var bits: BitScan
    private var maxNumRefFrames = 0
    private var widthInMacroblocks = 0
    private var heightInMapUnits = 0
    /// The bit positions from the end of level_idc to frame_cropping_flag.
    private var coded = 24..<24

    /// Returns nil if the unit is not an SPS, ends early, or uses features that do not fit our VUI (interlaced coding,
    /// scaling lists, other sample formats).
    init?(unit: [UInt8]) {
        guard NALUnitType(of: unit) == .sequenceParameterSet else { return nil }
        bits = BitScan(unit.dropFirst())
        bits.skip(24)
        _ = bits.ue()  // seq_parameter_set_id
        if [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(bits.byte(at: 0)) {
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
        maxNumRefFrames = bits.ue()
        bits.skip(1)
        widthInMacroblocks = bits.ue() + 1
        heightInMapUnits = bits.ue() + 1
        guard bits.flag() else { return nil }  // frame_mbs_only_flag
        bits.skip(1)
        coded = 24..<bits.position
        if bits.ended || maxNumRefFrames > 16 || widthInMacroblocks > 1024 || heightInMapUnits > 1024 { return nil }
    }

    /// Returns the set with our constraint flags, level, cropping and VUI, or nil if it cannot hold our picture.
    func adopting(_ ours: SequenceParameterSet) -> [UInt8]? {
        var set = ours
        let size = ours.croppedSize
        set.pic_width_in_mbs = widthInMacroblocks
        set.pic_height_in_map_units = heightInMapUnits
        set.frame_crop_right_offset = (widthInMacroblocks * 16 - size.width) / 2
        set.frame_crop_bottom_offset = (heightInMapUnits * 16 - size.height) / 2
        guard set.frame_crop_right_offset >= 0, set.frame_crop_bottom_offset >= 0 else { return nil }
        set.vui?.max_dec_frame_buffering = max(ours.vui?.max_dec_frame_buffering ?? 0, maxNumRefFrames)
        var w = BitWriter()
        w.u(8, bits.byte(at: 0))
        w.u(8, bits.byte(at: 0) == ours.profile_idc ? ours.constraint_flags : bits.byte(at: 1))
        w.u(8, ours.level_idc)
        for index in coded { w.flag(bits.bit(at: index)) }
        set.writeCroppingAndVUI(to: &w)
        w.trailingBits()
        return NALUnit.bytes(.sequenceParameterSet, nal_ref_idc: 3, rbsp: w.bytes)
    }
}
