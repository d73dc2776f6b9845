import H264Syntax
import NALUnits
import VAAPI

extension H264SequenceParameters {
    /// Creates VAEncSequenceParameterBufferH264 from the sequence parameter set, field by field.
    init(_ headers: H264StreamHeaders, _ settings: EncodeSettings) {
        let sps = headers.sps
        let periods = SequencePeriods(settings.structure)
        self.init(
            level_idc: sps.level_idc, intra_period: periods.intra, intra_idr_period: periods.idr, ip_period: periods.ip,
            max_num_ref_frames: UInt32(sps.max_num_ref_frames), picture_width_in_mbs: UInt16(sps.pic_width_in_mbs),
            picture_height_in_mbs: UInt16(sps.pic_height_in_map_units),
            log2_max_frame_num_minus4: UInt32(sps.log2_max_frame_num - 4), pic_order_cnt_type: 0,
            log2_max_pic_order_cnt_lsb_minus4: UInt32(sps.log2_max_pic_order_cnt_lsb - 4))
        if settings.rate.driverChoosesQP { bits_per_second = UInt32(clamping: settings.rate.bitrate) }
        seq_parameter_set_id = UInt8(sps.seq_parameter_set_id)
        direct_8x8_inference_flag = sps.direct_8x8_inference_flag
        if sps.frame_cropping_flag {
            crop = Crop(right: UInt32(sps.frame_crop_right_offset), bottom: UInt32(sps.frame_crop_bottom_offset))
        }
        vui = sps.vui.map(VUI.init)
    }
}

extension H264SequenceParameters.VUI {
    init(_ source: VUIParameters) {
        self.init()
        if let aspect = source.display.aspectRatio {
            aspect_ratio_idc = aspect.aspect_ratio_idc
            sar_width = UInt32(aspect.sar_width)
            sar_height = UInt32(aspect.sar_height)
        }
        if let timing = source.timing {
            self.timing = .init(num_units_in_tick: timing.num_units_in_tick, time_scale: timing.time_scale)
            fixed_frame_rate_flag = source.fixed_frame_rate_flag
        }
        if source.max_num_reorder_frames != nil { restriction = .init() }
    }
}
