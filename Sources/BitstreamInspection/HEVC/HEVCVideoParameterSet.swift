/// video_parameter_set_rbsp() (H.265 7.3.2.1), without its extension.
package struct HEVCVideoParameterSet: Sendable, Hashable {
    /// The timing information of a VPS or of vui_parameters(): the fields with the prefix vps_ or vui_.
    package struct Timing: Sendable, Hashable {
        package var num_units_in_tick: Int
        package var time_scale: Int
        /// num_ticks_poc_diff_one_minus1 + 1: the number of ticks for a picture order count difference of 1; nil
        /// without poc_proportional_to_timing_flag.
        package var num_ticks_poc_diff_one: Int?

        /// The duration of a clock tick in seconds.
        package var tick: Double { Double(num_units_in_tick) / Double(max(time_scale, 1)) }

        init(_ reader: inout BitReader) throws(Malformed) {
            num_units_in_tick = reader.bits(32)
            time_scale = reader.bits(32)
            if reader.flag() {
                num_ticks_poc_diff_one = try reader.unsigned("num_ticks_poc_diff_one_minus1", in: 0...0xffff_fffe) + 1
            }
            try reader.checkEnd("timing information")
            guard num_units_in_tick > 0, time_scale > 0 else {
                throw Malformed("num_units_in_tick and time_scale must not be zero")
            }
        }
    }

    package var vps_video_parameter_set_id: Int
    package var vps_base_layer_internal_flag: Bool
    package var vps_base_layer_available_flag: Bool
    package var vps_max_layers: Int
    package var vps_max_sub_layers: Int
    package var vps_temporal_id_nesting_flag: Bool
    package var profileTierLevel: HEVCProfileTierLevel
    /// The ordering information by HighestTid.
    package var subLayers: [HEVCSubLayerOrdering]
    package var vps_max_layer_id: Int
    package var timing: Timing?
    package var vps_num_hrd_parameters = 0
    /// The first HRD parameters. A VPS can have 1024 of them, but only those of the SPS are used.
    package var firstHRD: HEVCHRDParameters?
    package var vps_extension_flag: Bool

    /// Parses a video parameter set.
    ///
    /// - Throws: `Malformed` if the set cannot be read or has a value that is out of range.
    init(rbsp: [UInt8]) throws(Malformed) {
        var reader = BitReader(rbsp)
        vps_video_parameter_set_id = reader.bits(4)
        vps_base_layer_internal_flag = reader.flag()
        vps_base_layer_available_flag = reader.flag()
        vps_max_layers = reader.bits(6) + 1
        vps_max_sub_layers = reader.bits(3) + 1
        guard vps_max_sub_layers <= 7 else { throw Malformed("vps_max_sub_layers_minus1 is 7") }
        vps_temporal_id_nesting_flag = reader.flag()
        if vps_max_sub_layers == 1, !vps_temporal_id_nesting_flag {
            throw Malformed("vps_temporal_id_nesting_flag must be 1 with one sub-layer")
        }
        guard reader.bits(16) == 0xffff else { throw Malformed("vps_reserved_0xffff_16bits is not 0xffff") }
        profileTierLevel = try HEVCProfileTierLevel(&reader, maxSubLayers: vps_max_sub_layers)
        subLayers = try HEVCSubLayerOrdering.read(&reader, maxSubLayers: vps_max_sub_layers)
        vps_max_layer_id = reader.bits(6)
        let vps_num_layer_sets_minus1 = try reader.unsigned("vps_num_layer_sets_minus1", in: 0...1023)
        reader.skip(vps_num_layer_sets_minus1 * (vps_max_layer_id + 1))
        if reader.flag() {
            timing = try Timing(&reader)
            let count = try reader.unsigned("vps_num_hrd_parameters", in: 0...1024)
            vps_num_hrd_parameters = count
            var last: HEVCHRDParameters?
            for index in 0..<count {
                _ = try reader.unsigned("hrd_layer_set_idx", in: 0...vps_num_layer_sets_minus1)
                let cprms_present_flag = index == 0 || reader.flag()
                last = try HEVCHRDParameters(
                    &reader, common: cprms_present_flag ? nil : last, maxSubLayers: vps_max_sub_layers)
                if index == 0 { firstHRD = last }
            }
        }
        vps_extension_flag = reader.flag()
        try reader.checkEnd("the VPS")
        if !vps_extension_flag { try reader.checkTrailing("the VPS") }
    }
}

extension BitReader {
    /// Checks that only rbsp_trailing_bits() remain (7.3.2.11).
    ///
    /// - Throws: `Malformed` if other bits remain.
    mutating func checkTrailing(_ what: String) throws(Malformed) {
        guard flag() else { throw Malformed("\(what) does not end in rbsp_stop_one_bit") }
        while position < bitCount {
            if flag() { throw Malformed("\(what) has bits after its end") }
        }
    }
}
