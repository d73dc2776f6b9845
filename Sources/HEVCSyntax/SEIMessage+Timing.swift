public import NALUnits

/// The messages of the hypothetical reference decoder and of random access, H.265 D.2.
extension SEIMessage {
    /// buffering_period, D.2.2: goes with IRAP pictures and recovery points, of TemporalId 0, where the VUI has HRD
    /// parameters; nil where it has none.
    ///
    /// - Parameters:
    ///   - nal: written where the VUI has parameters of all NAL units.
    ///   - vcl: written where it has those of slices; nil takes `nal`.
    ///   - removalDelayDelta: au_cpb_removal_delay_delta_minus1 + 1, ticks from the removal of the picture before.
    public static func bufferingPeriod(
        _ sps: SequenceParameterSet, nal: InitialRemovalDelay, vcl: InitialRemovalDelay? = nil,
        removalDelayDelta: Int = 1
    ) -> SEIMessage? {
        guard let hrd = sps.vui?.presentHRD else { return nil }
        var w = BitWriter()
        w.ue(sps.sps_seq_parameter_set_id)
        w.flag(false)  // irap_cpb_params_present_flag
        w.flag(false)  // concatenation_flag
        w.u(hrd.au_cpb_removal_delay_length, wrapped(removalDelayDelta - 1, bits: hrd.au_cpb_removal_delay_length))
        let initials = [
            (hrd.nal_hrd_parameters_present_flag, nal), (hrd.vcl_hrd_parameters_present_flag, vcl ?? nal),
        ]
        for (isPresent, initial) in initials where isPresent {
            initial.write(length: hrd.initial_cpb_removal_delay_length, to: &w)
        }
        return SEIMessage(payloadType: 0, bits: w)
    }

    /// pic_timing, D.2.3, of a progressive frame: the delays where the VUI has HRD parameters, pic_struct 0 where it
    /// says that it is present.
    ///
    /// - Parameters:
    ///   - removalDelay: au_cpb_removal_delay_minus1 + 1, ticks from the latest buffering period's picture, at least 1;
    ///     taken modulo what the field holds.
    ///   - outputDelay: pic_dpb_output_delay, ticks from the picture's removal to its output.
    public static func pictureTiming(
        _ sps: SequenceParameterSet, removalDelay: Int, outputDelay: Int
    ) -> SEIMessage {
        var w = BitWriter()
        if sps.vui?.frame_field_info_present_flag == true {
            w.u(4, 0)  // pic_struct: a frame
            w.u(2, 1)  // source_scan_type: progressive
            w.flag(false)  // duplicate_flag
        }
        if let hrd = sps.vui?.presentHRD {
            w.u(hrd.au_cpb_removal_delay_length, wrapped(removalDelay - 1, bits: hrd.au_cpb_removal_delay_length))
            w.u(hrd.dpb_output_delay_length, wrapped(outputDelay, bits: hrd.dpb_output_delay_length))
        }
        return SEIMessage(payloadType: 1, bits: w)
    }

    /// recovery_point, D.2.8: decoding may start here and is right from the picture whose order count is higher by
    /// `pocCount` on.
    ///
    /// - Parameters:
    ///   - pocCount: recovery_poc_cnt, may be below 0.
    ///   - isExact: what is shown from then on is what a decoder shows that began at the start.
    public static func recoveryPoint(pocCount: Int, isExact: Bool = true, isBroken: Bool = false) -> SEIMessage {
        var w = BitWriter()
        w.se(pocCount)
        w.flag(isExact)  // exact_match_flag
        w.flag(isBroken)  // broken_link_flag
        return SEIMessage(payloadType: 6, bits: w)
    }

    private static func wrapped(_ value: Int, bits: Int) -> Int { value & (1 << bits - 1) }
}
