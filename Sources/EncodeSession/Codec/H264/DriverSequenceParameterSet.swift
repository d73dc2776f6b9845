import H264Syntax
import NALWriting
import VideoBase

/// A sequence parameter set that a driver wrote, read as far as it must be to put our cropping and VUI behind its
/// description of how the pictures are coded (H.264 7.3.2.1.1).
struct DriverSequenceParameterSet {
    private let rbsp: [UInt8]
    private var position = 0
    private var ended = false

    private var maxNumRefFrames = 0
    private var widthInMacroblocks = 0
    private var heightInMapUnits = 0
    /// Bits from level_idc's end to frame_cropping_flag.
    private var coded = 24..<24

    /// nil for a unit that is no SPS, ends early, or uses what our end would not fit (interlaced, scaling lists).
    init?(unit: [UInt8]) {
        guard NALUnitType(of: unit) == .sequenceParameterSet else { return nil }
        rbsp = Self.unescaped(unit.dropFirst())
        position = 24
        _ = ue()  // seq_parameter_set_id
        if let profile = rbsp.first, [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(profile) {
            guard ue() == 1, ue() == 0, ue() == 0 else { return nil }  // 4:2:0, 8 bits
            _ = bit()
            guard bit() == 0 else { return nil }  // scaling lists
        }
        _ = ue()  // log2_max_frame_num_minus4
        switch ue() {
        case 0: _ = ue()
        case 1:
            _ = bit()
            _ = ue()
            _ = ue()
            for _ in 0..<min(ue(), 255) { _ = ue() }
        default: break
        }
        maxNumRefFrames = ue()
        _ = bit()
        widthInMacroblocks = ue() + 1
        heightInMapUnits = ue() + 1
        guard bit() == 1 else { return nil }  // frame_mbs_only_flag
        _ = bit()
        coded = 24..<position
        if ended || maxNumRefFrames > 16 || widthInMacroblocks > 1024 || heightInMapUnits > 1024 { return nil }
    }

    /// The set with our flags, level, cropping and VUI. nil where it does not hold our picture.
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
        w.u(8, rbsp[0])
        w.u(8, rbsp[0] == ours.profile_idc ? ours.constraint_flags : rbsp[1])
        w.u(8, ours.level_idc)
        for index in coded { w.u(1, rbsp[index / 8] >> UInt8(7 - index % 8) & 1) }
        set.writeCroppingAndVUI(to: &w)
        w.trailingBits()
        return NALUnit.bytes(.sequenceParameterSet, refIdc: 3, rbsp: w.bytes)
    }

    private mutating func bit() -> Int {
        guard position < rbsp.count * 8 else {
            ended = true
            return 0
        }
        defer { position += 1 }
        return Int(rbsp[position / 8] >> UInt8(7 - position % 8) & 1)
    }

    /// ue(v), and se(v) where only its length matters.
    private mutating func ue() -> Int {
        var zeros = 0
        while !ended, zeros < 32, bit() == 0 { zeros += 1 }
        var value = 1
        for _ in 0..<zeros { value = value << 1 | bit() }
        return value - 1
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            output.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return output
    }
}
