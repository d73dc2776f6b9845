extension H264Stream {
    /// Checks the stream against its own hrd_parameters() under every delivery schedule (H.264 annex C), and its
    /// picture timing against the output order.
    ///
    /// - Parameter headerBytes: The size of the parameter sets in a container's header. They count in every access unit
    ///   that has a buffering period and no parameter set.
    /// - Returns: The result, or nil if no parameter set has HRD parameters.
    package func hrd(headerBytes: Int) -> HRDReport? {
        guard let first = frames.first(where: { hasHRD(sequenceSet(of: $0)) }) else { return nil }
        var report = HRDReport()
        var checked = Array(frames[first.index...])
        report.add(missingMessages(checked))
        guard report.violations.isEmpty else { return report }
        // The check starts at a buffering period, which initializes the decoder.
        checked = Array(checked.drop { $0.bufferingPeriod == nil })
        for isNAL in [true, false] {
            let parameters = checked.compactMap { self.parameters(of: $0, nal: isNAL) }
            guard parameters.count == checked.count else { continue }
            for index in 0..<(parameters.map(\.schedules.count).min() ?? 0) {
                let units = checked.indices.map {
                    accessUnit(
                        checked[$0], parameters: parameters[$0], isNAL: isNAL, index: index, headerBytes: headerBytes)
                }
                let decoder = HypotheticalDecoder(units)
                let schedule = parameters[0].schedules[index]
                report.schedules.append(
                    HRDReport.Schedule(
                        isNAL: isNAL, index: index, bitrate: schedule.bitrate, cpbSize: schedule.cpbSize,
                        isConstant: schedule.cbr_flag,
                        fullness: report.schedules.isEmpty ? decoder.samples : []))
                let name = "\(isNAL ? "NAL" : "VCL") HRD, schedule \(index): "
                report.add(decoder.faults.map { Violation(.codedPictureBuffer, frame: $0.frame, name + $0.message) })
            }
        }
        if let samples = report.schedules.first?.fullness { report.add(outputFaults(checked, samples)) }
        return report
    }

    private func hasHRD(_ sps: H264SequenceParameterSet) -> Bool {
        sps.vui?.nal_hrd_parameters != nil || sps.vui?.vcl_hrd_parameters != nil
    }

    private func parameters(of frame: H264Frame, nal: Bool) -> H264HRDParameters? {
        let vui = sequenceSet(of: frame).vui
        return nal ? vui?.nal_hrd_parameters : vui?.vcl_hrd_parameters
    }

    /// Checks that the messages that the decoder needs are present: a picture timing in every access unit (D.2.3), a
    /// buffering period in each IDR access unit (D.2.2), and the timing information of the VUI.
    private func missingMessages(_ frames: [H264Frame]) -> [Violation] {
        var result: [Violation] = []
        for frame in frames {
            func fault(_ message: String) {
                result.append(Violation(.codedPictureBuffer, frame: frame.index, message))
            }
            guard hasHRD(sequenceSet(of: frame)) else {
                fault("the SPS has no HRD parameters, but the previous SPS had them")
                continue
            }
            if sequenceSet(of: frame).vui?.timing == nil {
                fault("there are HRD parameters, but timing_info_present_flag is 0")
            }
            if frame.pictureTiming?.cpb_removal_delay == nil { fault("there is no picture timing SEI") }
            if frame.isIDR, frame.bufferingPeriod == nil { fault("an IDR picture has no buffering period SEI") }
            for delay in (frame.bufferingPeriod.map { $0.nal + $0.vcl } ?? [])
            where delay.initial_cpb_removal_delay == 0 {
                fault("initial_cpb_removal_delay is 0")
            }
        }
        return result
    }

    private func accessUnit(
        _ frame: H264Frame, parameters: H264HRDParameters, isNAL: Bool, index: Int, headerBytes: Int
    ) -> HypotheticalDecoder.AccessUnit {
        let vui = sequenceSet(of: frame).vui
        let schedule = parameters.schedules[index]
        let hasSets = frame.nalUnits.contains { nalUnits[$0].type == 7 }
        let added = frame.bufferingPeriod == nil || hasSets ? 0 : headerBytes
        let delays = isNAL ? frame.bufferingPeriod?.nal : frame.bufferingPeriod?.vcl
        return HypotheticalDecoder.AccessUnit(
            frame: frame.index, bits: Double(8 * (isNAL ? frame.byteCount + added : frame.videoByteCount)), schedule: schedule,
            tick: vui?.timing?.tick ?? 0, lowDelay: vui?.low_delay_hrd_flag ?? false,
            delay: delays.flatMap { index < $0.count ? $0[index] : nil },
            cpbRemovalDelay: frame.pictureTiming?.cpb_removal_delay ?? 0)
    }

    /// Checks that the output times follow the picture order counts (C.4.2, C.4.5), and that no picture is too large
    /// for its time (MinCR, A.3.1).
    private func outputFaults(_ frames: [H264Frame], _ samples: [HRDReport.Sample]) -> [Violation] {
        guard frames.count == samples.count else { return [] }
        var result: [Violation] = []
        var times: [(display: Int, frame: Int, time: Double)] = []
        for (frame, sample) in zip(frames, samples) {
            let tick = sequenceSet(of: frame).vui?.timing?.tick ?? 0
            let delay = frame.pictureTiming?.dpb_output_delay ?? 0
            times.append((frame.displayIndex, frame.index, sample.time + tick * Double(delay)))
        }
        times.sort { $0.display < $1.display }
        for (a, b) in zip(times, times.dropFirst()) where b.time <= a.time + 1e-7 {
            result.append(
                Violation(
                    .codedPictureBuffer, frame: b.frame,
                    "dpb_output_delay outputs it at \(b.time) s, not after picture \(a.frame) at \(a.time) s"))
        }
        for index in frames.indices.dropFirst() {
            let sps = sequenceSet(of: frames[index])
            guard let limits = H264LevelLimits(sps) else { continue }
            let interval = max(samples[index].time - samples[index - 1].time, 0)
            let macroblocks = max(Double(limits.maxMBPS) * interval, Double(sps.macroblocksPerFrame))
            let most = 384 * macroblocks / Double(limits.minCR)
            if Double(frames[index].videoByteCount) > most {
                result.append(
                    Violation(
                        .level, frame: frames[index].index,
                        "the picture has \(frames[index].videoByteCount) bytes, but MinCR allows "
                            + "\(Int(clamping: most))"))
            }
        }
        return result
    }
}
