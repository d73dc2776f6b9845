/// buffering_period() (H.265 D.2.2).
package struct HEVCBufferingPeriod: Sendable, Hashable {
    package var bp_seq_parameter_set_id: Int
    package var irap_cpb_params_present_flag = false
    package var cpb_delay_offset = 0
    package var dpb_delay_offset = 0
    package var concatenation_flag = false
    /// au_cpb_removal_delay_delta_minus1 + 1, in clock ticks.
    package var au_cpb_removal_delay_delta: Int
    /// The delays for the NAL HRD parameters, by SchedSelIdx; empty if the SPS has no such parameters.
    package var nal: [InitialRemovalDelay] = []
    /// The delays for the VCL HRD parameters, by SchedSelIdx; empty if the SPS has no such parameters.
    package var vcl: [InitialRemovalDelay] = []
}

/// pic_timing() (H.265 D.2.3). Parts that the SPS omits are nil.
package struct HEVCPictureTiming: Sendable, Hashable {
    package var pic_struct: Int?
    package var source_scan_type: Int?
    package var duplicate_flag: Bool?
    /// au_cpb_removal_delay_minus1 + 1, in clock ticks.
    package var au_cpb_removal_delay: Int?
    /// The delay in clock ticks.
    package var pic_dpb_output_delay: Int?
}

/// recovery_point() (H.265 D.2.8).
package struct HEVCRecoveryPoint: Sendable, Hashable {
    package var recovery_poc_cnt: Int
    package var exact_match_flag: Bool
    package var broken_link_flag: Bool
}

/// mastering_display_colour_volume() (H.265 D.2.28).
package struct HEVCMasteringDisplay: Sendable, Hashable {
    /// display_primaries_x and display_primaries_y of each primary, usually green, blue and red, in units of 0.00002.
    package var display_primaries: [[Int]]
    /// white_point_x and white_point_y, in units of 0.00002.
    package var white_point: [Int]
    /// The maximum luminance in units of 0.0001 cd/m².
    package var max_display_mastering_luminance: Int
    /// The minimum luminance in units of 0.0001 cd/m².
    package var min_display_mastering_luminance: Int

    package init(
        display_primaries: [[Int]], white_point: [Int], max_display_mastering_luminance: Int,
        min_display_mastering_luminance: Int
    ) {
        self.display_primaries = display_primaries
        self.white_point = white_point
        self.max_display_mastering_luminance = max_display_mastering_luminance
        self.min_display_mastering_luminance = min_display_mastering_luminance
    }
}

/// content_light_level_info() (H.265 D.2.35), in cd/m².
package struct HEVCContentLight: Sendable, Hashable {
    package var max_content_light_level: Int
    package var max_pic_average_light_level: Int

    package init(max_content_light_level: Int, max_pic_average_light_level: Int) {
        self.max_content_light_level = max_content_light_level
        self.max_pic_average_light_level = max_pic_average_light_level
    }
}

/// decoded_picture_hash() (H.265 D.2.19), one hash for each plane.
package enum HEVCPictureHash: Sendable, Hashable {
    case md5([[UInt8]])
    case crc([Int])
    case checksum([Int])
}

/// One SEI message of HEVC.
package enum HEVCSEIMessage: Sendable, Hashable {
    case bufferingPeriod(HEVCBufferingPeriod)
    case pictureTiming(HEVCPictureTiming)
    case recoveryPoint(HEVCRecoveryPoint)
    /// active_parameter_sets().
    case activeParameterSets(
        active_video_parameter_set_id: Int, self_contained_cvs_flag: Bool, no_parameter_set_update_flag: Bool,
        active_seq_parameter_set_id: [Int])
    case masteringDisplay(HEVCMasteringDisplay)
    case contentLight(HEVCContentLight)
    case pictureHash(HEVCPictureHash)
    /// user_data_unregistered(): the UUID (16 bytes) and the bytes after it.
    case userData(uuid: [UInt8], [UInt8])
    /// A/53 caption data (ATSC A/53 part 4, cc_data) in user_data_registered_itu_t_t35().
    case captions([UInt8])
    /// user_data_registered_itu_t_t35() of any other kind, such as HDR10+: the bytes from the country code on.
    case registeredUserData([UInt8])
    /// Any other message: its payloadType and its payload.
    case other(type: Int, [UInt8])
}

extension HEVCSEIMessage {
    /// Interprets a message.
    ///
    /// - Parameters:
    ///   - isSuffix: Whether the message comes from a suffix SEI NAL unit.
    ///   - active: The SPS of the picture that the message belongs to.
    ///   - sequenceSet: Returns an SPS by its id.
    /// - Throws: `Malformed` if the payload cannot be read.
    init(
        _ raw: RawSEIMessage, isSuffix: Bool, active: HEVCSequenceParameterSet,
        sequenceSet: (Int) -> HEVCSequenceParameterSet?
    ) throws(Malformed) {
        // The first list contains payload types of prefix SEI NAL units only; 132 is allowed in suffix NAL units only
        // (D.2.1).
        if isSuffix ? [0, 1, 6, 129, 137, 144].contains(raw.type) : raw.type == 132 {
            throw Malformed(
                "payload type \(raw.type) is not allowed in a \(isSuffix ? "suffix" : "prefix") SEI NAL unit")
        }
        var reader = BitReader(raw.payload)
        switch raw.type {
        case 0: self = .bufferingPeriod(try Self.bufferingPeriod(&reader, sequenceSet))
        case 1: self = .pictureTiming(try Self.pictureTiming(&reader, active))
        case 4 where raw.payload.starts(with: [0xb5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03]):
            // itu_t_t35_country_code 0xB5, provider 0x0031, "GA94", user_data_type_code 3.
            self = .captions(Array(raw.payload.dropFirst(8)))
            return
        case 4:
            self = .registeredUserData(raw.payload)
            return
        case 5:
            guard raw.payload.count >= 16 else { throw Malformed("user data has no UUID") }
            self = .userData(uuid: Array(raw.payload.prefix(16)), Array(raw.payload.dropFirst(16)))
            return
        case 6:
            let half = active.maxPictureOrderCountLsb / 2
            self = .recoveryPoint(
                HEVCRecoveryPoint(
                    recovery_poc_cnt: try reader.signed("recovery_poc_cnt", in: -half...(half - 1)),
                    exact_match_flag: reader.flag(), broken_link_flag: reader.flag()))
        case 129:
            let active_video_parameter_set_id = reader.bits(4)
            let self_contained_cvs_flag = reader.flag()
            let no_parameter_set_update_flag = reader.flag()
            var sets: [Int] = []
            for _ in 0...(try reader.unsigned("num_sps_ids_minus1", in: 0...15)) {
                sets.append(try reader.unsigned("active_seq_parameter_set_id", in: 0...15))
            }
            self = .activeParameterSets(
                active_video_parameter_set_id: active_video_parameter_set_id,
                self_contained_cvs_flag: self_contained_cvs_flag,
                no_parameter_set_update_flag: no_parameter_set_update_flag, active_seq_parameter_set_id: sets)
        case 132: self = .pictureHash(try Self.pictureHash(&reader, planes: active.chroma_format_idc == 0 ? 1 : 3))
        case 137:
            let points = (0..<4).map { _ in [reader.bits(16), reader.bits(16)] }
            self = .masteringDisplay(
                HEVCMasteringDisplay(
                    display_primaries: Array(points[..<3]), white_point: points[3],
                    max_display_mastering_luminance: reader.bits(32), min_display_mastering_luminance: reader.bits(32)))
        case 144:
            self = .contentLight(
                HEVCContentLight(
                    max_content_light_level: reader.bits(16), max_pic_average_light_level: reader.bits(16)))
        default:
            self = .other(type: raw.type, raw.payload)
            return
        }
        try reader.checkEnd("an SEI message of type \(raw.type)")
        // If the payload does not end at a byte boundary, a one bit and zero bits fill its last byte (D.2.1).
        if reader.isByteAligned, reader.position < reader.bitCount {
            throw Malformed("an SEI message of type \(raw.type) has additional bytes")
        }
        if !reader.isByteAligned {
            guard reader.flag() else { throw Malformed("an SEI message of type \(raw.type) has no stop bit") }
            while !reader.isByteAligned {
                if reader.flag() { throw Malformed("an SEI message's alignment is not zero") }
            }
        }
    }

    private static func bufferingPeriod(
        _ reader: inout BitReader, _ sequenceSet: (Int) -> HEVCSequenceParameterSet?
    ) throws(Malformed) -> HEVCBufferingPeriod {
        let id = try reader.unsigned("bp_seq_parameter_set_id", in: 0...15)
        guard let hrd = sequenceSet(id)?.vui?.hrd else {
            throw Malformed("a buffering period refers to SPS \(id), which does not exist or has no HRD parameters")
        }
        var period = HEVCBufferingPeriod(bp_seq_parameter_set_id: id, au_cpb_removal_delay_delta: 0)
        if hrd.subPicture == nil { period.irap_cpb_params_present_flag = reader.flag() }
        if period.irap_cpb_params_present_flag {
            period.cpb_delay_offset = reader.bits(hrd.au_cpb_removal_delay_length)
            period.dpb_delay_offset = reader.bits(hrd.dpb_output_delay_length)
        }
        period.concatenation_flag = reader.flag()
        period.au_cpb_removal_delay_delta = reader.bits(hrd.au_cpb_removal_delay_length) + 1
        let hasAlternative = hrd.subPicture != nil || period.irap_cpb_params_present_flag
        func delays() -> [InitialRemovalDelay] {
            // CpbCnt of the highest sub-layer.
            (0..<(hrd.subLayers.last?.cpb_cnt ?? 0)).map { _ in
                let length = hrd.initial_cpb_removal_delay_length
                let delay = InitialRemovalDelay(
                    initial_cpb_removal_delay: reader.bits(length),
                    initial_cpb_removal_delay_offset: reader.bits(length))
                if hasAlternative { _ = (reader.bits(length), reader.bits(length)) }
                return delay
            }
        }
        if hrd.nal_hrd_parameters_present_flag { period.nal = delays() }
        if hrd.vcl_hrd_parameters_present_flag { period.vcl = delays() }
        return period
    }

    private static func pictureTiming(
        _ reader: inout BitReader, _ active: HEVCSequenceParameterSet
    ) throws(Malformed) -> HEVCPictureTiming {
        var timing = HEVCPictureTiming()
        if active.vui?.frame_field_info_present_flag == true {
            let pic_struct = reader.bits(4)
            guard pic_struct <= 12 else { throw Malformed("pic_struct is \(pic_struct)") }
            timing.pic_struct = pic_struct
            let source_scan_type = reader.bits(2)
            guard source_scan_type < 3 else { throw Malformed("source_scan_type is 3") }
            timing.source_scan_type = source_scan_type
            timing.duplicate_flag = reader.flag()
        }
        guard let hrd = active.vui?.hrd, hrd.hasDelays else { return timing }
        timing.au_cpb_removal_delay = reader.bits(hrd.au_cpb_removal_delay_length) + 1
        timing.pic_dpb_output_delay = reader.bits(hrd.dpb_output_delay_length)
        if let units = hrd.subPicture {
            _ = reader.bits(units.dpb_output_delay_du_length)
            if units.sub_pic_cpb_params_in_pic_timing_sei_flag {
                let count = try reader.unsigned("num_decoding_units_minus1", in: 0...(active.sizeInCtbs - 1))
                let du_common_cpb_removal_delay_flag = reader.flag()
                if du_common_cpb_removal_delay_flag { _ = reader.bits(units.du_cpb_removal_delay_increment_length) }
                for index in 0...count {
                    _ = reader.unsigned()
                    if !du_common_cpb_removal_delay_flag, index < count {
                        _ = reader.bits(units.du_cpb_removal_delay_increment_length)
                    }
                    if reader.isExhausted { break }
                }
            }
        }
        return timing
    }

    private static func pictureHash(_ reader: inout BitReader, planes: Int) throws(Malformed) -> HEVCPictureHash {
        let hash_type = reader.bits(8)
        switch hash_type {
        case 0: return .md5((0..<planes).map { _ in (0..<16).map { _ in UInt8(reader.bits(8)) } })
        case 1: return .crc((0..<planes).map { _ in reader.bits(16) })
        case 2: return .checksum((0..<planes).map { _ in reader.bits(32) })
        default: throw Malformed("hash_type is \(hash_type)")
        }
    }
}
