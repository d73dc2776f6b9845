public import NALUnits

/// The messages of the hypothetical reference decoder and of random access, H.264 D.1.
extension SEIMessage {
    /// buffering_period, D.1.2: goes with key frames and recovery points where the VUI has HRD parameters. Each of
    /// `nal` and `vcl` is written where the VUI has the parameters of its kind.
    public static func bufferingPeriod(
        _ sps: SequenceParameterSet, nal: InitialRemovalDelay?, vcl: InitialRemovalDelay? = nil
    ) -> SEIMessage {
        var w = BitWriter()
        w.ue(sps.seq_parameter_set_id)
        for (hrd, initial) in [(sps.vui?.nal_hrd_parameters, nal), (sps.vui?.vcl_hrd_parameters, vcl ?? nal)] {
            guard let hrd, let initial else { continue }
            initial.write(length: hrd.initial_cpb_removal_delay_length, to: &w)
        }
        return SEIMessage(payloadType: 0, bits: w)
    }

    /// pic_timing, D.1.3, of a progressive frame: the delays where the VUI has HRD parameters, pic_struct 0 where it
    /// says that it is present.
    ///
    /// - Parameters:
    ///   - removalDelay: cpb_removal_delay, ticks from the latest buffering period's picture; taken modulo what the
    ///     field holds.
    ///   - outputDelay: dpb_output_delay, ticks from the picture's removal to its output.
    public static func pictureTiming(
        _ sps: SequenceParameterSet, removalDelay: Int, outputDelay: Int
    ) -> SEIMessage {
        var w = BitWriter()
        if let hrd = sps.vui?.nal_hrd_parameters ?? sps.vui?.vcl_hrd_parameters {
            w.u(hrd.cpb_removal_delay_length, removalDelay & (1 << hrd.cpb_removal_delay_length - 1))
            w.u(hrd.dpb_output_delay_length, outputDelay & (1 << hrd.dpb_output_delay_length - 1))
        }
        if sps.vui?.pic_struct_present_flag == true {
            w.u(4, 0)  // pic_struct: a frame
            w.flag(false)  // clock_timestamp_flag[0]
        }
        return SEIMessage(payloadType: 1, bits: w)
    }

    /// recovery_point, D.1.8: decoding may start here and is right after `frameCount` frames.
    ///
    /// - Parameters:
    ///   - frameCount: recovery_frame_cnt, in steps of frame_num.
    ///   - isExact: what is shown from then on is what a decoder shows that began at the start.
    public static func recoveryPoint(frameCount: Int, isExact: Bool = true, isBroken: Bool = false) -> SEIMessage {
        var w = BitWriter()
        w.ue(frameCount)
        w.flag(isExact)  // exact_match_flag
        w.flag(isBroken)  // broken_link_flag
        w.u(2, 0)  // changing_slice_group_idc
        return SEIMessage(payloadType: 6, bits: w)
    }
}
