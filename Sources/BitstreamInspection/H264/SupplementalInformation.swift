/// buffering_period() (H.264 D.1.2).
package struct BufferingPeriod: Sendable, Hashable {
    /// The delays of one SchedSelIdx, in ticks of 90 kHz.
    package struct Delay: Sendable, Hashable {
        package var initial_cpb_removal_delay: Int
        package var initial_cpb_removal_delay_offset: Int
    }

    package var seq_parameter_set_id: Int
    /// The delays for the NAL HRD parameters, by SchedSelIdx; empty if the SPS has no such parameters.
    package var nal: [Delay] = []
    /// The delays for the VCL HRD parameters, by SchedSelIdx; empty if the SPS has no such parameters.
    package var vcl: [Delay] = []
}

/// pic_timing() (H.264 D.1.3). Clock time stamps are skipped.
package struct PictureTiming: Sendable, Hashable {
    /// The delay in ticks of num_units_in_tick / time_scale; nil without CpbDpbDelaysPresentFlag.
    package var cpb_removal_delay: Int?
    /// The delay in ticks of num_units_in_tick / time_scale; nil without CpbDpbDelaysPresentFlag.
    package var dpb_output_delay: Int?
    /// pic_struct; nil without pic_struct_present_flag.
    package var pic_struct: Int?
}

/// recovery_point() (H.264 D.1.8).
package struct RecoveryPoint: Sendable, Hashable {
    package var recovery_frame_cnt: Int
    package var exact_match_flag: Bool
    package var broken_link_flag: Bool
}

/// One SEI message of H.264.
package enum SupplementalInformation: Sendable, Hashable {
    case bufferingPeriod(BufferingPeriod)
    case pictureTiming(PictureTiming)
    case recoveryPoint(RecoveryPoint)
    /// user_data_unregistered(): the UUID (16 bytes) and the bytes after it.
    case userData(uuid: [UInt8], [UInt8])
    /// A/53 caption data (ATSC A/53 part 4, cc_data) in user_data_registered_itu_t_t35().
    case captions([UInt8])
    /// Any other message: its payloadType and its payload.
    case other(type: Int, [UInt8])
}

/// The type and payload of an sei_message(), not yet interpreted.
struct RawInformation {
    var type: Int
    var payload: [UInt8]

    /// The maximum number of messages in a NAL unit; far more than any real stream has.
    private static let limit = 1000

    /// Returns the messages of an SEI NAL unit's payload (7.3.2.3.1).
    ///
    /// - Throws: `Malformed` if the payload cannot be read.
    static func messages(rbsp: [UInt8]) throws(Malformed) -> [RawInformation] {
        var result: [RawInformation] = []
        var index = 0
        func number() throws(Malformed) -> Int {
            var value = 0
            while index < rbsp.count, rbsp[index] == 255 {
                value += 255
                index += 1
            }
            guard index < rbsp.count else { throw Malformed("an SEI message ends in its header") }
            value += Int(rbsp[index])
            index += 1
            return value
        }
        while index < rbsp.count, !(rbsp[index] == 0x80 && rbsp[(index + 1)...].allSatisfy { $0 == 0 }) {
            guard result.count < limit else { throw Malformed("one SEI NAL unit has more than \(limit) messages") }
            let type = try number()
            let size = try number()
            guard size <= rbsp.count - index else {
                throw Malformed("an SEI message states \(size) bytes, but \(rbsp.count - index) are left")
            }
            result.append(RawInformation(type: type, payload: Array(rbsp[index..<(index + size)])))
            index += size
        }
        if index == rbsp.count { throw Malformed("an SEI NAL unit has no trailing bits") }
        return result
    }
}

extension SupplementalInformation {
    /// Interprets a message.
    ///
    /// - Parameters:
    ///   - active: The SPS of the picture that the message belongs to.
    ///   - sequenceSet: Returns an SPS by its id.
    /// - Throws: `Malformed` if the payload cannot be read.
    init(
        _ raw: RawInformation, active: SequenceParameterSet?, sequenceSet: (Int) -> SequenceParameterSet?
    ) throws(Malformed) {
        var reader = BitReader(raw.payload)
        switch raw.type {
        case 0:
            var period = BufferingPeriod(
                seq_parameter_set_id: try reader.unsigned("seq_parameter_set_id of a buffering period", in: 0...31))
            guard let sps = sequenceSet(period.seq_parameter_set_id) else {
                throw Malformed("a buffering period refers to SPS \(period.seq_parameter_set_id), which does not exist")
            }
            period.nal = Self.delays(&reader, sps.vui?.nal_hrd_parameters)
            period.vcl = Self.delays(&reader, sps.vui?.vcl_hrd_parameters)
            try reader.checkEnd("a buffering period")
            self = .bufferingPeriod(period)
        case 1:
            var timing = PictureTiming()
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
            let point = RecoveryPoint(
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

    private static func delays(_ reader: inout BitReader, _ hrd: HRDParameters?) -> [BufferingPeriod.Delay] {
        guard let hrd else { return [] }
        return hrd.schedules.map { _ in
            BufferingPeriod.Delay(
                initial_cpb_removal_delay: reader.bits(hrd.initial_cpb_removal_delay_length),
                initial_cpb_removal_delay_offset: reader.bits(hrd.initial_cpb_removal_delay_length))
        }
    }
}
