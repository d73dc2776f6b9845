import NALUnits
package import VideoBase

/// The limits that a decoder needs to output pictures in order, H.265 7.4.3.1 and 7.4.3.2.1, for one temporal sub-layer
/// and those below it.
package struct SubLayerOrdering: Sendable, Hashable {
    /// max_dec_pic_buffering_minus1 + 1: the number of pictures in the buffer including the current one, 1…16.
    package var max_dec_pic_buffering: Int
    /// The maximum number of pictures that precede any picture in decoding order and follow it in output order.
    package var max_num_reorder_pics: Int
    /// The maximum latency increase plus 1, or 0 for no limit.
    package var max_latency_increase_plus1: Int

    /// Creates limits for a sub-layer.
    package init(max_dec_pic_buffering: Int, max_num_reorder_pics: Int, max_latency_increase_plus1: Int = 0) {
        self.max_dec_pic_buffering = max_dec_pic_buffering
        self.max_num_reorder_pics = max_num_reorder_pics
        self.max_latency_increase_plus1 = max_latency_increase_plus1
    }

    func write(to w: inout BitWriter) {
        w.ue(max_dec_pic_buffering - 1)
        w.ue(max_num_reorder_pics)
        w.ue(max_latency_increase_plus1)
    }
}

/// The video parameter set, video_parameter_set_rbsp(), H.265 7.3.2.1, for one layer. The fields have the names and
/// values of the standard.
package struct VideoParameterSet: Sendable, Hashable {
    /// The ID of the video parameter set, 0…15.
    package var vps_video_parameter_set_id = 0
    /// Whether temporal sub-layers are nested. Always written as 1 if there is one sub-layer.
    package var vps_temporal_id_nesting_flag = true
    /// The profile, tier and level.
    package var profileTierLevel: ProfileTierLevel
    /// The ordering information of each temporal sub-layer, from the lowest on; 1…7 elements.
    package var subLayers: [SubLayerOrdering]
    /// vps_num_units_in_tick and vps_time_scale, with one tick per frame, or nil if they are not present.
    package var timing: TickTiming?
    /// vps_num_ticks_poc_diff_one_minus1 + 1: the number of ticks per increment of the picture order count, or nil if
    /// it is not specified.
    package var vps_num_ticks_poc_diff_one: Int?

    /// Creates a parameter set.
    package init(profileTierLevel: ProfileTierLevel, subLayers: [SubLayerOrdering], frameRate: Rational? = nil) {
        self.profileTierLevel = profileTierLevel
        self.subLayers = subLayers
        timing = frameRate.flatMap(TickTiming.init)
    }

    /// The NAL unit without a start code.
    package var unit: [UInt8] {
        var w = BitWriter()
        w.u(4, vps_video_parameter_set_id)
        w.flag(true)  // vps_base_layer_internal_flag
        w.flag(true)  // vps_base_layer_available_flag
        w.u(6, 0)  // vps_max_layers_minus1
        w.u(3, subLayers.count - 1)
        // H.265 7.4.3.1: the flag is 1 if there is one sub-layer.
        w.flag(vps_temporal_id_nesting_flag || subLayers.count == 1)
        w.u(16, 0xFFFF)  // vps_reserved_0xffff_16bits
        profileTierLevel.write(to: &w, subLayers: subLayers.count)
        w.flag(true)  // vps_sub_layer_ordering_info_present_flag
        for subLayer in subLayers { subLayer.write(to: &w) }
        w.u(6, 0)  // vps_max_layer_id
        w.ue(0)  // vps_num_layer_sets_minus1
        w.flag(timing != nil)
        if let timing {
            timing.write(to: &w)
            w.flag(vps_num_ticks_poc_diff_one != nil)
            if let vps_num_ticks_poc_diff_one { w.ue(vps_num_ticks_poc_diff_one - 1) }
            w.ue(0)  // vps_num_hrd_parameters: the sequence parameter set contains them
        }
        w.flag(false)  // vps_extension_flag
        return w.unit(.videoParameterSet)
    }
}

/// num_units_in_tick and time_scale, H.265 E.3.1, with one tick per frame.
package struct TickTiming: Sendable, Hashable {
    /// The number of time units in a tick.
    package var num_units_in_tick: UInt32
    /// The number of time units in a second.
    package var time_scale: UInt32

    /// Creates a timing, or returns nil if the rate is not positive or does not fit 32 bits.
    package init?(frameRate: Rational) {
        let rate = frameRate.reduced
        guard rate.numerator > 0, let units = UInt32(exactly: rate.denominator),
            let scale = UInt32(exactly: rate.numerator)
        else { return nil }
        num_units_in_tick = units
        time_scale = scale
    }

    func write(to w: inout BitWriter) {
        w.u(32, num_units_in_tick)
        w.u(32, time_scale)
    }
}
