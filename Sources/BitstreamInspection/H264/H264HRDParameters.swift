/// hrd_parameters() (H.264 E.1.2).
package struct H264HRDParameters: Sendable, Hashable {
    package var schedules: [HRDSchedule]
    package var initial_cpb_removal_delay_length: Int
    package var cpb_removal_delay_length: Int
    package var dpb_output_delay_length: Int
    package var time_offset_length: Int

    init(_ reader: inout BitReader) throws(Malformed) {
        let count = try reader.unsigned("cpb_cnt_minus1", in: 0...31) + 1
        let bit_rate_scale = reader.bits(4)
        let cpb_size_scale = reader.bits(4)
        schedules = []
        for _ in 0..<count {
            let rate = try reader.unsigned("bit_rate_value_minus1", in: 0...0xffff_fffe) + 1
            let size = try reader.unsigned("cpb_size_value_minus1", in: 0...0xffff_fffe) + 1
            schedules.append(
                HRDSchedule(
                    bitrate: rate << (6 + bit_rate_scale), cpbSize: size << (4 + cpb_size_scale),
                    cbr_flag: reader.flag()))
        }
        initial_cpb_removal_delay_length = reader.bits(5) + 1
        cpb_removal_delay_length = reader.bits(5) + 1
        dpb_output_delay_length = reader.bits(5) + 1
        time_offset_length = reader.bits(5)
        try reader.checkEnd("hrd_parameters()")
    }
}
