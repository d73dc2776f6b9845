import H264Syntax
import NALUnits
import VAAPI

extension H264SequenceParameters {
    /// Creates VAEncSequenceParameterBufferH264 from the sequence parameter set, field by field.
    init(_ headers: H264StreamHeaders, _ settings: EncodeSettings) {
        let sps = headers.sps
        let periods = SequencePeriods(settings.structure)
        self.init(
            levelIDC: sps.level_idc, intraPeriod: periods.intra, intraIDRPeriod: periods.idr, ipPeriod: periods.ip,
            maxNumRefFrames: UInt32(sps.max_num_ref_frames), pictureWidthInMBs: UInt16(sps.pic_width_in_mbs),
            pictureHeightInMBs: UInt16(sps.pic_height_in_map_units),
            log2MaxFrameNumMinus4: UInt32(sps.log2_max_frame_num - 4), picOrderCntType: 0,
            log2MaxPicOrderCntLsbMinus4: UInt32(sps.log2_max_pic_order_cnt_lsb - 4))
        if settings.rate.driverChoosesQP { bitsPerSecond = UInt32(clamping: settings.rate.bitrate) }
        seqParameterSetID = UInt8(sps.seq_parameter_set_id)
        direct8x8Inference = sps.direct_8x8_inference_flag
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
            aspectRatioIDC = aspect.aspect_ratio_idc
            sarWidth = UInt32(aspect.sar_width)
            sarHeight = UInt32(aspect.sar_height)
        }
        if let timing = source.timing {
            self.timing = .init(numUnitsInTick: timing.num_units_in_tick, timeScale: timing.time_scale)
            fixedFrameRate = source.fixed_frame_rate_flag
        }
        if source.max_num_reorder_frames != nil { restriction = .init() }
    }
}
