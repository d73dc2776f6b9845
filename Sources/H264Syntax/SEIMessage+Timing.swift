package import NALUnits

/// The messages of the hypothetical reference decoder and for random access, H.264 D.1.
extension SEIMessage {
    /// Creates buffering_period, D.1.2, for key frames and recovery points if the VUI has HRD parameters.
    ///
    /// - Parameters:
    ///   - nal: The delays for the NAL HRD parameters, written if the VUI has them.
    ///   - vcl: The delays for the VCL HRD parameters, written if the VUI has them. nil uses `nal`.
    package static func bufferingPeriod(
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

    /// Creates pic_timing, D.1.3, for a progressive frame. It contains the delays if the VUI has HRD parameters, and
    /// pic_struct 0 if pic_struct_present_flag is set.
    ///
    /// - Parameters:
    ///   - removalDelay: cpb_removal_delay: the number of ticks since the picture of the latest buffering period. It is
    ///     written modulo the size of the field.
    ///   - outputDelay: dpb_output_delay: the number of ticks from the picture's removal to its output.
    package static func pictureTiming(
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

    /// Creates recovery_point, D.1.8: decoding may start here, and its output is correct after `frameCount` frames.
    ///
    /// - Parameters:
    ///   - frameCount: recovery_frame_cnt, in increments of frame_num.
    ///   - isExact: Whether the output after the recovery is identical to that of a decoder that started at the
    ///     beginning.
    ///   - isBroken: broken_link_flag.
    package static func recoveryPoint(frameCount: Int, isExact: Bool = true, isBroken: Bool = false) -> SEIMessage {
        var w = BitWriter()
        w.ue(frameCount)
        w.flag(isExact)  // exact_match_flag
        w.flag(isBroken)  // broken_link_flag
        w.u(2, 0)  // changing_slice_group_idc
        return SEIMessage(payloadType: 6, bits: w)
    }
}
