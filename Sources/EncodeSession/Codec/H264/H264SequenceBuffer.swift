import EncodePlanning
import H264Syntax
import VAAPI

extension H264SequenceParameters {
    /// VAEncSequenceParameterBufferH264, field by field what the sequence parameter set says.
    init(_ headers: H264StreamHeaders, _ settings: EncodeSettings) {
        let sps = headers.sps
        let structure = settings.structure
        let period = UInt32(clamping: structure.keyInterval ?? Int(Int32.max))
        let idrPeriod = period.multipliedReportingOverflow(by: UInt32(clamping: structure.idrInterval))
        self.init(
            levelIDC: sps.level_idc, intraPeriod: period, intraIDRPeriod: idrPeriod.overflow ? UInt32(Int32.max) : idrPeriod.partialValue,
            ipPeriod: period == 1 ? 0 : UInt32(structure.bFrames + 1),
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
        if let aspect = source.aspectRatio {
            aspectRatioIDC = aspect.idc
            sarWidth = UInt32(aspect.width)
            sarHeight = UInt32(aspect.height)
        }
        if let timing = source.timing {
            self.timing = .init(numUnitsInTick: timing.num_units_in_tick, timeScale: timing.time_scale)
            fixedFrameRate = source.fixed_frame_rate_flag
        }
        if source.max_num_reorder_frames != nil { restriction = .init() }
    }
}
