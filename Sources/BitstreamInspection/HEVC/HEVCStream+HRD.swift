extension HEVCStream {
    /// Checks the stream against its own hrd_parameters() under every delivery schedule of the highest sub-layer (H.265
    /// annex C), and its picture timing against the output order.
    ///
    /// - Parameter headerBytes: The size of the parameter sets in a container's header. They count in every access unit
    ///   that has a buffering period and no parameter set.
    /// - Returns: The result, or nil if no SPS has HRD parameters.
    package func hrd(headerBytes: Int) -> HRDReport? {
        guard let first = frames.first(where: { parameters(of: $0) != nil }) else { return nil }
        var report = HRDReport()
        var checked = Array(frames[first.index...])
        report.add(missingMessages(checked))
        guard report.violations.isEmpty else { return report }
        // The check starts at a buffering period, which initializes the decoder.
        checked = Array(checked.drop { $0.bufferingPeriod == nil })
        let delays = removalDelays(checked)
        for isNAL in [true, false] {
            let layers = checked.map { frame in parameters(of: frame)?.subLayers.last }
            let schedules = layers.map { (isNAL ? $0?.nal : $0?.vcl) ?? [] }
            for index in 0..<(schedules.map(\.count).min() ?? 0) {
                let units = checked.indices.map { position in
                    accessUnit(
                        checked[position], schedule: schedules[position][index], removalDelay: delays[position],
                        isNAL: isNAL, index: index, headerBytes: headerBytes,
                        lowDelay: layers[position]?.low_delay_hrd_flag ?? false)
                }
                let decoder = HypotheticalDecoder(units)
                let schedule = schedules[0][index]
                report.schedules.append(
                    HRDReport.Schedule(
                        isNAL: isNAL, index: index, bitrate: schedule.bitrate, cpbSize: schedule.cpbSize,
                        isConstant: schedule.cbr_flag,
                        fullness: report.schedules.isEmpty ? decoder.samples : []))
                let name = "\(isNAL ? "NAL" : "VCL") HRD, schedule \(index): "
                report.add(decoder.faults.map { Violation(.codedPictureBuffer, frame: $0.frame, name + $0.message) })
            }
        }
        if let samples = report.schedules.first?.fullness {
            report.add(outputFaults(checked, samples) + sizeFaults(checked, samples))
        }
        return report
    }

    /// Returns the HRD parameters of a frame's SPS; nil if the SPS has none or they have neither NAL nor VCL
    /// parameters.
    private func parameters(of frame: HEVCFrame) -> HEVCHRDParameters? {
        sequenceSet(of: frame).vui?.hrd.flatMap { $0.hasDelays ? $0 : nil }
    }

    /// Returns ClockTick, the duration of a clock tick in seconds (E.3.1); 0 without timing information.
    private func tick(of frame: HEVCFrame) -> Double { sequenceSet(of: frame).vui?.timing?.tick ?? 0 }

    /// Checks that the messages that the decoder needs are present: a picture timing in every access unit (D.3.3), and
    /// a buffering period in each access unit with an IRAP picture (D.3.2).
    private func missingMessages(_ frames: [HEVCFrame]) -> [Violation] {
        var result: [Violation] = []
        for frame in frames {
            func fault(_ message: String) {
                result.append(Violation(.codedPictureBuffer, frame: frame.index, message))
            }
            guard parameters(of: frame) != nil else {
                fault("the SPS has no HRD parameters, but the previous SPS had them")
                continue
            }
            if frame.pictureTiming?.au_cpb_removal_delay == nil { fault("there is no picture timing SEI") }
            if frame.isIRAP, frame.bufferingPeriod == nil { fault("an IRAP picture has no buffering period SEI") }
            if frame.bufferingPeriod != nil, frame.temporalID != 0 || frame.isLeading {
                fault("a leading picture or a picture of a higher sub-layer has a buffering period SEI")
            }
            for delay in (frame.bufferingPeriod.map { $0.nal + $0.vcl } ?? [])
            where delay.initial_cpb_removal_delay == 0 {
                fault("initial_cpb_removal_delay is 0")
            }
        }
        return result
    }

    /// Returns AuCpbRemovalDelayVal of each picture (D.3.3). Within a buffering period the delays increase; a smaller
    /// value has wrapped around.
    private func removalDelays(_ frames: [HEVCFrame]) -> [Int] {
        var high = 0
        var previous = 0
        return frames.map { frame in
            let low = frame.pictureTiming?.au_cpb_removal_delay ?? 0
            let isFirst = frame.bufferingPeriod != nil
            if !isFirst, low <= previous {
                high += 1 << (parameters(of: frame)?.au_cpb_removal_delay_length ?? 0)
            }
            let delay = (isFirst ? 0 : high) + low
            // The delay of the picture with a buffering period counts from the previous period. Later delays count from
            // this one.
            (high, previous) = isFirst ? (0, 0) : (high, low)
            return delay
        }
    }

    private func accessUnit(
        _ frame: HEVCFrame, schedule: HRDSchedule, removalDelay: Int, isNAL: Bool, index: Int,
        headerBytes: Int, lowDelay: Bool
    ) -> HypotheticalDecoder.AccessUnit {
        let hasSets = frame.nalUnits.contains { nalUnits[$0].type == 33 }
        let added = frame.bufferingPeriod == nil || hasSets ? 0 : headerBytes
        let delays = isNAL ? frame.bufferingPeriod?.nal : frame.bufferingPeriod?.vcl
        return HypotheticalDecoder.AccessUnit(
            frame: frame.index, bits: Double(8 * (isNAL ? frame.byteCount + added : frame.videoByteCount)), schedule: schedule,
            tick: tick(of: frame), lowDelay: lowDelay,
            delay: delays.flatMap { index < $0.count ? $0[index] : nil }, cpbRemovalDelay: removalDelay)
    }

    /// Checks that the output times follow the picture order counts (C.3.2 to C.3.4, C.5.2).
    private func outputFaults(_ frames: [HEVCFrame], _ samples: [HRDReport.Sample]) -> [Violation] {
        guard frames.count == samples.count else { return [] }
        var times = zip(frames, samples).filter { $0.0.isOutput }.map { frame, sample in
            let delay = Double(frame.pictureTiming?.pic_dpb_output_delay ?? 0)
            return (display: frame.displayIndex, frame: frame.index, time: sample.time + tick(of: frame) * delay)
        }
        times.sort { $0.display < $1.display }
        return zip(times, times.dropFirst()).filter { $1.time <= $0.time + 1e-7 }.map { a, b in
            Violation(
                .codedPictureBuffer, frame: b.frame,
                "pic_dpb_output_delay outputs it at \(b.time) s, not after picture \(a.frame) at \(a.time) s")
        }
    }

    /// Checks that no picture follows faster than the level's sample rate allows, and that no picture is too large for
    /// its time (MinCR, A.4.2).
    private func sizeFaults(_ frames: [HEVCFrame], _ samples: [HRDReport.Sample]) -> [Violation] {
        guard frames.count == samples.count else { return [] }
        var result: [Violation] = []
        for index in frames.indices.dropFirst() {
            let sps = sequenceSet(of: frames[index])
            guard let limits = HEVCLevelLimits(sps) else { continue }
            let interval = max(samples[index].time - samples[index - 1].time, 0)
            let least = max(Double(sps.sizeInSamples) / Double(limits.maxLumaSr), 1.0 / 300)
            if interval < least * 0.9999 {
                result.append(
                    Violation(
                        .level, frame: frames[index].index,
                        "it is removed \(interval) s after the previous picture, but \(least) s are needed"))
            }
            let factor = HEVCLevelLimits.formatCapability(sps) * Double(limits.maxLumaSr)
            let most = factor * interval / Double(limits.minCrBase)
            if Double(frames[index].videoByteCount) > most {
                result.append(
                    Violation(
                        .level, frame: frames[index].index,
                        "the picture has \(frames[index].videoByteCount) bytes, but MinCr allows "
                            + "\(Int(clamping: most))"))
            }
        }
        return result
    }
}
