/// hrd_parameters() (H.265 E.2.2).
package struct HEVCHRDParameters: Sendable, Hashable {
    /// The sub-picture parameters; present with sub_pic_hrd_params_present_flag.
    package struct SubPicture: Sendable, Hashable {
        package var tick_divisor: Int
        package var du_cpb_removal_delay_increment_length: Int
        package var sub_pic_cpb_params_in_pic_timing_sei_flag: Bool
        package var dpb_output_delay_du_length: Int
        package var cpb_size_du_scale: Int
    }

    /// The parameters of one HighestTid.
    package struct SubLayer: Sendable, Hashable {
        package var fixed_pic_rate_general_flag: Bool
        package var fixed_pic_rate_within_cvs_flag: Bool
        /// elemental_duration_in_tc_minus1 + 1; nil without fixed_pic_rate_within_cvs_flag.
        package var elemental_duration_in_tc: Int?
        package var low_delay_hrd_flag = false
        /// The schedules of the NAL HRD parameters (type II), by SchedSelIdx.
        package var nal: [HRDSchedule] = []
        /// The schedules of the VCL HRD parameters (type I), by SchedSelIdx.
        package var vcl: [HRDSchedule] = []
        package var cpb_cnt = 1
    }

    package var nal_hrd_parameters_present_flag = false
    package var vcl_hrd_parameters_present_flag = false
    package var subPicture: SubPicture?
    package var bit_rate_scale = 0
    package var cpb_size_scale = 0
    package var initial_cpb_removal_delay_length = 24
    package var au_cpb_removal_delay_length = 24
    package var dpb_output_delay_length = 24
    package var subLayers: [SubLayer] = []

    /// CpbDpbDelaysPresentFlag, derived from these parameters alone.
    package var hasDelays: Bool { nal_hrd_parameters_present_flag || vcl_hrd_parameters_present_flag }

    /// Reads HRD parameters.
    ///
    /// - Parameter common: The previous parameters, whose common part also applies to these. If nil, the common part is
    ///   read (commonInfPresentFlag).
    /// - Throws: `Malformed` if the parameters cannot be read.
    init(_ reader: inout BitReader, common: HEVCHRDParameters?, maxSubLayers: Int) throws(Malformed) {
        if let common {
            self = common
            subLayers = []
        } else {
            readCommon(&reader)
        }
        for _ in 0..<maxSubLayers {
            let fixed_pic_rate_general_flag = reader.flag()
            var layer = SubLayer(
                fixed_pic_rate_general_flag: fixed_pic_rate_general_flag,
                fixed_pic_rate_within_cvs_flag: fixed_pic_rate_general_flag || reader.flag())
            if layer.fixed_pic_rate_within_cvs_flag {
                layer.elemental_duration_in_tc =
                    try reader.unsigned("elemental_duration_in_tc_minus1", in: 0...2047) + 1
            } else {
                layer.low_delay_hrd_flag = reader.flag()
            }
            if !layer.low_delay_hrd_flag { layer.cpb_cnt = try reader.unsigned("cpb_cnt_minus1", in: 0...31) + 1 }
            if nal_hrd_parameters_present_flag { layer.nal = try schedules(&reader, layer.cpb_cnt) }
            if vcl_hrd_parameters_present_flag { layer.vcl = try schedules(&reader, layer.cpb_cnt) }
            subLayers.append(layer)
        }
        try reader.checkEnd("hrd_parameters()")
    }

    private mutating func readCommon(_ reader: inout BitReader) {
        nal_hrd_parameters_present_flag = reader.flag()
        vcl_hrd_parameters_present_flag = reader.flag()
        guard hasDelays else { return }
        if reader.flag() {
            subPicture = SubPicture(
                tick_divisor: reader.bits(8) + 2, du_cpb_removal_delay_increment_length: reader.bits(5) + 1,
                sub_pic_cpb_params_in_pic_timing_sei_flag: reader.flag(),
                dpb_output_delay_du_length: reader.bits(5) + 1, cpb_size_du_scale: 0)
        }
        bit_rate_scale = reader.bits(4)
        cpb_size_scale = reader.bits(4)
        if subPicture != nil { subPicture?.cpb_size_du_scale = reader.bits(4) }
        initial_cpb_removal_delay_length = reader.bits(5) + 1
        au_cpb_removal_delay_length = reader.bits(5) + 1
        dpb_output_delay_length = reader.bits(5) + 1
    }

    /// Reads sub_layer_hrd_parameters() (E.2.3) and computes BitRate and CpbSize (E.3.3).
    private func schedules(_ reader: inout BitReader, _ count: Int) throws(Malformed) -> [HRDSchedule] {
        var result: [HRDSchedule] = []
        for _ in 0..<count {
            let rate = try reader.unsigned("bit_rate_value_minus1", in: 0...0xffff_fffe) + 1
            let size = try reader.unsigned("cpb_size_value_minus1", in: 0...0xffff_fffe) + 1
            if subPicture != nil {
                _ = try reader.unsigned("cpb_size_du_value_minus1", in: 0...0xffff_fffe)
                _ = try reader.unsigned("bit_rate_du_value_minus1", in: 0...0xffff_fffe)
            }
            result.append(
                HRDSchedule(
                    bitrate: rate << (6 + bit_rate_scale), cpbSize: size << (4 + cpb_size_scale),
                    cbr_flag: reader.flag()))
        }
        return result
    }
}
