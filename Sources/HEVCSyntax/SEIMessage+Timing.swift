package import NALUnits

/// The messages of the hypothetical reference decoder and for random access, H.265 D.2.
extension SEIMessage {
    /// Creates buffering_period, D.2.2, for IRAP pictures and recovery points with TemporalId 0. Returns nil if the VUI
    /// has no HRD parameters.
    ///
    /// - Parameters:
    ///   - nal: The delays for the parameters of all NAL units, written if the VUI has them.
    ///   - vcl: The delays for the parameters of slices, written if the VUI has them. nil uses `nal`.
    ///   - removalDelayDelta: au_cpb_removal_delay_delta_minus1 + 1: the number of ticks since the removal of the
    ///     previous picture.
    package static func bufferingPeriod(
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

    /// Creates pic_timing, D.2.3, for a progressive frame. It contains the delays if the VUI has HRD parameters, and
    /// pic_struct 0 if frame_field_info_present_flag is set.
    ///
    /// - Parameters:
    ///   - removalDelay: au_cpb_removal_delay_minus1 + 1: the number of ticks since the picture of the latest buffering
    ///     period, at least 1. It is written modulo the size of the field.
    ///   - outputDelay: pic_dpb_output_delay: the number of ticks from the picture's removal to its output.
    package static func pictureTiming(
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

    /// Creates recovery_point, D.2.8: decoding may start here. Its output is correct from the picture on that has a
    /// picture order count higher by `pocCount`.
    ///
    /// - Parameters:
    ///   - pocCount: recovery_poc_cnt, which may be negative.
    ///   - isExact: Whether the output after the recovery is identical to that of a decoder that started at the
    ///     beginning.
    ///   - isBroken: broken_link_flag.
    package static func recoveryPoint(pocCount: Int, isExact: Bool = true, isBroken: Bool = false) -> SEIMessage {
        var w = BitWriter()
        w.se(pocCount)
        w.flag(isExact)  // exact_match_flag
        w.flag(isBroken)  // broken_link_flag
        return SEIMessage(payloadType: 6, bits: w)
    }

    /// Returns a value modulo the size of a field.
    private static func wrapped(_ value: Int, bits: Int) -> Int { value & (1 << bits - 1) }
}
