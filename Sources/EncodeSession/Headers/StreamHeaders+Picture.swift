import EncodePlanning
import H264Syntax
import VideoBase

/// Where a picture stands in the time of the hypothetical decoder, in frames.
struct PictureClock: Sendable, Hashable {
    /// Pictures coded since the latest that began a buffering period; for one that does, since the one before it.
    var removal = 0
    /// Pictures that the decoder takes out between this one's decoding and its output.
    var output = 0

    /// Follows the pictures in decoding order.
    struct Counter: Sendable {
        private var sinceBuffering: Int
        private var codingIndexOfKey = 0

        /// - Parameter sinceBuffering: pictures before, since the latest that began a buffering period.
        init(sinceBuffering: Int = 0) { self.sinceBuffering = sinceBuffering }

        mutating func next(_ plan: FramePlan, reorderDepth: Int) -> PictureClock {
            if plan.type.isKey { codingIndexOfKey = plan.codingIndex }
            let coded = plan.codingIndex - codingIndexOfKey
            let shown = plan.displayIndex - plan.keyDisplayIndex
            defer { sinceBuffering = plan.beginsBufferingPeriod ? 1 : sinceBuffering + 1 }
            return PictureClock(removal: sinceBuffering, output: max(shown - coded + reorderDepth, 0))
        }
    }
}

extension FramePlan {
    /// Decoding can start here, and with it the hypothetical decoder.
    var beginsBufferingPeriod: Bool { type.isKey || recoveryFrameCount != nil }
}

extension StreamHeaders {
    /// The units that go before a picture's slices, in the order of 7.4.1.2.3.
    ///
    /// - Parameter delay: how full the decoder's buffer is where a buffering period begins; nil takes all of it.
    func leading(
        _ plan: FramePlan, _ options: FrameOptions, _ clock: PictureClock, delay: SEIMessage.InitialRemovalDelay? = nil
    ) -> LeadingUnits {
        var units = LeadingUnits()
        if accessUnitDelimiters { units.delimiter = AccessUnitDelimiter.unit(for: plan.type.sliceType) }
        // Decoding can start at a recovery point too.
        if plan.beginsBufferingPeriod { units.parameterSets = [spsUnit, ppsUnit] }
        let messages = timing(plan, clock, delay: delay) + content(plan, options)
        if !messages.isEmpty { units.information = SEIMessage.unit(messages) }
        return units
    }

    /// The unit that names the picture's layer before each of its slices; nil where there is one layer.
    func prefix(_ plan: FramePlan, refIdc nal_ref_idc: UInt8) -> [UInt8]? {
        hasLayers
            ? PrefixUnit.unit(refIdc: nal_ref_idc, isIDR: plan.type == .idr, temporalLayer: plan.temporalLayer) : nil
    }

    /// buffering_period goes first (7.4.1.2.3).
    private func timing(
        _ plan: FramePlan, _ clock: PictureClock, delay: SEIMessage.InitialRemovalDelay?
    ) -> [SEIMessage] {
        var messages: [SEIMessage] = []
        if let hrd = sps.vui?.nal_hrd_parameters {
            if plan.beginsBufferingPeriod {
                let whole = Int(Double(hrd.cpbSize) * 90_000 / Double(max(hrd.bitrate.value, 1)))
                let longest = min(max(whole, 1), 1 << hrd.initial_cpb_removal_delay_length - 1)
                messages.append(
                    .bufferingPeriod(sps, nal: delay ?? SEIMessage.InitialRemovalDelay(delay: longest, offset: 0)))
            }
            // Two ticks to a frame.
            messages.append(
                .pictureTiming(sps, removalDelay: clock.removal * 2, outputDelay: clock.output * 2))
        }
        if !plan.type.isKey, let count = plan.recoveryFrameCount {
            // What an intra refresh shows before its end is near, not exact: neither is said to be.
            messages.append(.recoveryPoint(frameCount: count, isExact: plan.type == .i))
        }
        return messages
    }

    private func content(_ plan: FramePlan, _ options: FrameOptions) -> [SEIMessage] {
        let named = plan.type.isKey ? identifier.map { [$0] } ?? [] : []
        return named + SEIMessage.captions(options.captions) + options.userData.compactMap(SEIMessage.userData)
    }
}
