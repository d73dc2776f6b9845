/// buffering_period() (H.264 D.1.2).
package struct H264BufferingPeriod: Sendable, Hashable {
    package var seq_parameter_set_id: Int
    /// The delays for the NAL HRD parameters, by SchedSelIdx; empty if the SPS has no such parameters.
    package var nal: [InitialRemovalDelay] = []
    /// The delays for the VCL HRD parameters, by SchedSelIdx; empty if the SPS has no such parameters.
    package var vcl: [InitialRemovalDelay] = []
}

/// pic_timing() (H.264 D.1.3). Clock time stamps are skipped.
package struct H264PictureTiming: Sendable, Hashable {
    /// The delay in ticks of num_units_in_tick / time_scale; nil without CpbDpbDelaysPresentFlag.
    package var cpb_removal_delay: Int?
    /// The delay in ticks of num_units_in_tick / time_scale; nil without CpbDpbDelaysPresentFlag.
    package var dpb_output_delay: Int?
    /// pic_struct; nil without pic_struct_present_flag.
    package var pic_struct: Int?
}

/// recovery_point() (H.264 D.1.8).
package struct H264RecoveryPoint: Sendable, Hashable {
    package var recovery_frame_cnt: Int
    package var exact_match_flag: Bool
    package var broken_link_flag: Bool
}

/// One SEI message of H.264.
package enum H264SEIMessage: Sendable, Hashable {
    case bufferingPeriod(H264BufferingPeriod)
    case pictureTiming(H264PictureTiming)
    case recoveryPoint(H264RecoveryPoint)
    /// user_data_unregistered(): the UUID (16 bytes) and the bytes after it.
    case userData(uuid: [UInt8], [UInt8])
    /// A/53 caption data (ATSC A/53 part 4, cc_data) in user_data_registered_itu_t_t35().
    case captions([UInt8])
    /// Any other message: its payloadType and its payload.
    case other(type: Int, [UInt8])
}

extension H264SEIMessage {
    /// Interprets a message.
    ///
    /// - Parameters:
    ///   - active: The SPS of the picture that the message belongs to.
    ///   - sequenceSet: Returns an SPS by its id.
    /// - Throws: `Malformed` if the payload cannot be read.
    init(
        _ raw: RawSEIMessage, active: H264SequenceParameterSet?, sequenceSet: (Int) -> H264SequenceParameterSet?
    ) throws(Malformed) {
        var reader = BitReader(raw.payload)
        switch raw.type {
        case 0:
            var period = H264BufferingPeriod(
                seq_parameter_set_id: try reader.unsigned("seq_parameter_set_id of a buffering period", in: 0...31))
            guard let sps = sequenceSet(period.seq_parameter_set_id) else {
                throw Malformed("a buffering period refers to SPS \(period.seq_parameter_set_id), which does not exist")
            }
            period.nal = Self.delays(&reader, sps.vui?.nal_hrd_parameters)
            period.vcl = Self.delays(&reader, sps.vui?.vcl_hrd_parameters)
            try reader.checkEnd("a buffering period")
            self = .bufferingPeriod(period)
        case 1:
            var timing = H264PictureTiming()
            if let hrd = active?.vui?.nal_hrd_parameters ?? active?.vui?.vcl_hrd_parameters {
                timing.cpb_removal_delay = reader.bits(hrd.cpb_removal_delay_length)
                timing.dpb_output_delay = reader.bits(hrd.dpb_output_delay_length)
            }
            if active?.vui?.pic_struct_present_flag == true {
                timing.pic_struct = reader.bits(4)
                if timing.pic_struct ?? 0 > 8 { throw Malformed("pic_struct is \(timing.pic_struct ?? 0)") }
            }
            try reader.checkEnd("a picture timing")
            self = .pictureTiming(timing)
        case 4 where Self.isA53(raw.payload): self = .captions(Array(raw.payload.dropFirst(8)))
        case 5:
            guard raw.payload.count >= 16 else { throw Malformed("user data has no UUID") }
            self = .userData(uuid: Array(raw.payload.prefix(16)), Array(raw.payload.dropFirst(16)))
        case 6:
            let count = try reader.unsigned(
                "recovery_frame_cnt", in: 0...((active?.maxFrameNum ?? 65536) - 1))
            let point = H264RecoveryPoint(
                recovery_frame_cnt: count, exact_match_flag: reader.flag(), broken_link_flag: reader.flag())
            _ = reader.bits(2)
            try reader.checkEnd("a recovery point")
            self = .recoveryPoint(point)
        default: self = .other(type: raw.type, raw.payload)
        }
    }

    /// Whether the payload starts with itu_t_t35_country_code 0xB5, provider 0x0031, "GA94" and user_data_type_code 3.
    private static func isA53(_ payload: [UInt8]) -> Bool {
        payload.starts(with: [0xb5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03])
    }

    private static func delays(_ reader: inout BitReader, _ hrd: H264HRDParameters?) -> [InitialRemovalDelay] {
        guard let hrd else { return [] }
        return hrd.schedules.map { _ in
            InitialRemovalDelay(
                initial_cpb_removal_delay: reader.bits(hrd.initial_cpb_removal_delay_length),
                initial_cpb_removal_delay_offset: reader.bits(hrd.initial_cpb_removal_delay_length))
        }
    }
}
