internal import CVA

/// The sequence parameters of H.264, which are valid from one IDR picture to the next:
/// VAEncSequenceParameterBufferH264.
///
/// The names are those of H.264 7.4.2.1 and `va_enc_h264.h`, in Swift spelling.
package struct H264SequenceParameters: ParameterBuffer, Sendable, Hashable {
    package var seqParameterSetID: UInt8 = 0
    package var levelIDC: UInt8
    /// The distance between I pictures, in pictures.
    package var intraPeriod: UInt32
    /// The distance between IDR pictures, in pictures.
    package var intraIDRPeriod: UInt32
    /// The number of B pictures between I or P pictures, plus 1; 0 if all pictures are I.
    package var ipPeriod: UInt32
    /// The bit rate in bits per second, or 0 if the rate control mode has none.
    package var bitsPerSecond: UInt32 = 0
    package var maxNumRefFrames: UInt32
    package var pictureWidthInMBs: UInt16
    package var pictureHeightInMBs: UInt16
    package var chromaFormatIDC: UInt32 = 1
    package var frameMBsOnly = true
    package var mbAdaptiveFrameField = false
    package var scalingMatrixPresent = false
    package var direct8x8Inference = true
    package var log2MaxFrameNumMinus4: UInt32
    package var picOrderCntType: UInt32
    package var log2MaxPicOrderCntLsbMinus4: UInt32
    package var deltaPicOrderAlwaysZero = false
    package var bitDepthLumaMinus8: UInt8 = 0
    package var bitDepthChromaMinus8: UInt8 = 0
    /// The cropping in crop units (H.264 7.4.2.1.1), or nil for none.
    package var crop: Crop?
    package var vui: VUI?

    package struct Crop: Sendable, Hashable {
        package var left: UInt32
        package var right: UInt32
        package var top: UInt32
        package var bottom: UInt32
        package init(left: UInt32 = 0, right: UInt32 = 0, top: UInt32 = 0, bottom: UInt32 = 0) {
            self.left = left
            self.right = right
            self.top = top
            self.bottom = bottom
        }
    }

    /// The part of the VUI that the driver receives.
    package struct VUI: Sendable, Hashable {
        /// The aspect_ratio_idc, or nil if the aspect ratio is not written.
        package var aspectRatioIDC: UInt8?
        package var sarWidth: UInt32 = 0
        package var sarHeight: UInt32 = 0
        /// The values of num_units_in_tick and time_scale, or nil if they are not written.
        package var timing: Timing?
        package var fixedFrameRate = false
        package var lowDelayHRD = false
        /// The bitstream restrictions, or nil if they are not written.
        package var restriction: Restriction?
        package init() {}
    }

    package struct Timing: Sendable, Hashable {
        package var numUnitsInTick: UInt32
        package var timeScale: UInt32
        package init(numUnitsInTick: UInt32, timeScale: UInt32) {
            self.numUnitsInTick = numUnitsInTick
            self.timeScale = timeScale
        }
    }

    package struct Restriction: Sendable, Hashable {
        package var log2MaxMVLengthHorizontal: UInt32 = 15
        package var log2MaxMVLengthVertical: UInt32 = 15
        package var motionVectorsOverPicBoundaries = true
        package init() {}
    }

    package init(
        levelIDC: UInt8, intraPeriod: UInt32, intraIDRPeriod: UInt32, ipPeriod: UInt32, maxNumRefFrames: UInt32,
        pictureWidthInMBs: UInt16, pictureHeightInMBs: UInt16, log2MaxFrameNumMinus4: UInt32, picOrderCntType: UInt32,
        log2MaxPicOrderCntLsbMinus4: UInt32
    ) {
        self.levelIDC = levelIDC
        self.intraPeriod = intraPeriod
        self.intraIDRPeriod = intraIDRPeriod
        self.ipPeriod = ipPeriod
        self.maxNumRefFrames = maxNumRefFrames
        self.pictureWidthInMBs = pictureWidthInMBs
        self.pictureHeightInMBs = pictureHeightInMBs
        self.log2MaxFrameNumMinus4 = log2MaxFrameNumMinus4
        self.picOrderCntType = picOrderCntType
        self.log2MaxPicOrderCntLsbMinus4 = log2MaxPicOrderCntLsbMinus4
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe lend(lowered, as: .sequence, to: body)
    }

    var lowered: VAEncSequenceParameterBufferH264 {
        var c = VAEncSequenceParameterBufferH264()
        c.seq_parameter_set_id = seqParameterSetID
        c.level_idc = levelIDC
        c.intra_period = intraPeriod
        c.intra_idr_period = intraIDRPeriod
        c.ip_period = ipPeriod
        c.bits_per_second = bitsPerSecond
        c.max_num_ref_frames = maxNumRefFrames
        c.picture_width_in_mbs = pictureWidthInMBs
        c.picture_height_in_mbs = pictureHeightInMBs
        unsafe c.seq_fields.bits.chroma_format_idc = chromaFormatIDC
        unsafe c.seq_fields.bits.frame_mbs_only_flag = frameMBsOnly ? 1 : 0
        unsafe c.seq_fields.bits.mb_adaptive_frame_field_flag = mbAdaptiveFrameField ? 1 : 0
        unsafe c.seq_fields.bits.seq_scaling_matrix_present_flag = scalingMatrixPresent ? 1 : 0
        unsafe c.seq_fields.bits.direct_8x8_inference_flag = direct8x8Inference ? 1 : 0
        unsafe c.seq_fields.bits.log2_max_frame_num_minus4 = log2MaxFrameNumMinus4
        unsafe c.seq_fields.bits.pic_order_cnt_type = picOrderCntType
        unsafe c.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = log2MaxPicOrderCntLsbMinus4
        unsafe c.seq_fields.bits.delta_pic_order_always_zero_flag = deltaPicOrderAlwaysZero ? 1 : 0
        c.bit_depth_luma_minus8 = bitDepthLumaMinus8
        c.bit_depth_chroma_minus8 = bitDepthChromaMinus8
        if let crop {
            c.frame_cropping_flag = 1
            c.frame_crop_left_offset = crop.left
            c.frame_crop_right_offset = crop.right
            c.frame_crop_top_offset = crop.top
            c.frame_crop_bottom_offset = crop.bottom
        }
        if let vui { lower(vui, into: &c) }
        return c
    }

    private func lower(_ vui: VUI, into c: inout VAEncSequenceParameterBufferH264) {
        c.vui_parameters_present_flag = 1
        if let idc = vui.aspectRatioIDC {
            unsafe c.vui_fields.bits.aspect_ratio_info_present_flag = 1
            c.aspect_ratio_idc = idc
            c.sar_width = vui.sarWidth
            c.sar_height = vui.sarHeight
        }
        if let timing = vui.timing {
            unsafe c.vui_fields.bits.timing_info_present_flag = 1
            c.num_units_in_tick = timing.numUnitsInTick
            c.time_scale = timing.timeScale
        }
        unsafe c.vui_fields.bits.fixed_frame_rate_flag = vui.fixedFrameRate ? 1 : 0
        unsafe c.vui_fields.bits.low_delay_hrd_flag = vui.lowDelayHRD ? 1 : 0
        if let restriction = vui.restriction {
            unsafe c.vui_fields.bits.bitstream_restriction_flag = 1
            unsafe c.vui_fields.bits.log2_max_mv_length_horizontal = restriction.log2MaxMVLengthHorizontal
            unsafe c.vui_fields.bits.log2_max_mv_length_vertical = restriction.log2MaxMVLengthVertical
            unsafe c.vui_fields.bits.motion_vectors_over_pic_boundaries_flag =
                restriction.motionVectorsOverPicBoundaries ? 1 : 0
        }
    }
}
