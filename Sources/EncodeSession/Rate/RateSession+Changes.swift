import RateControl
import Synchronization
import VideoBase

/// Changes while the stream runs: the rate, and the device.
extension RateSession {
    /// Applies a change from the next planned picture on.
    ///
    /// - Throws: `usage` or `unavailable` if the change is not possible. The stream then continues unchanged.
    func change(_ change: RunningChange) throws {
        try state.withLock { state in
            if let rate = change.frameRate { try Validation.validate(frameRate: rate) }
            let new = try state.rate.changed(
                by: change, frameRate: change.frameRate ?? state.frameRate,
                highest: .highest(settings.profile))
            var requestedQPs = state.requestedQPs
            if let qp = change.qp {
                guard new.mode == .cqp else {
                    throw VaencError(
                        .unavailable, "the QP cannot change: rate control \(new.mode.rawValue) chooses it",
                        remedy: "change the bit rate, or the QP limits")
                }
                requestedQPs = requestedQPs.changed(to: qp, from: state.rate.qpRange, in: new.qpRange)
            }
            let qps = new.mode == .cqp ? requestedQPs.limited(to: new.qpRange) : state.qps
            if new.mode == .cqp, settings.isStrict, qps.p != requestedQPs.p {
                throw VaencError(
                    .unavailable, "strict: `qp`: asked \(requestedQPs.p), would be \(qps.p) (kept within `minQP` and `maxQP`)",
                    remedy: "change `qp` with its limits, or leave out `strict`")
            }
            if let rate = change.frameRate {
                guard !new.requiresHRDConformance || rate.reduced == state.frameRate.reduced else {
                    throw VaencError(
                        .unavailable,
                        "the frame rate cannot change: the HRD parameters state \(state.frameRate.words) frames per "
                            + "second",
                        remedy: "create the session without `hrdParameters`")
                }
                // Only set the flag: an earlier change may not have reached the driver yet.
                if rate.reduced != state.frameRate.reduced { state.frameRateIsNew = true }
                state.frameRate = rate
            }
            (state.qps, state.requestedQPs) = (qps, requestedQPs)
            state.changes.merge(change)
            if new.maxBitrate > state.rate.maxBitrate || new.mode == .cbr && new.maxBitrate != state.rate.maxBitrate
                || new.vbvSize > state.rate.vbvSize || state.frameRateIsNew
            {
                state.keepsHRD = false
            }
            if new != state.rate { state.isNew = true }
            let changesPace = new.maxBitrate != state.rate.maxBitrate || state.frameRateIsNew
            state.rate = new
            if changesPace { setPace(&state) }
            state.rateState.controller?.change(Self.targets(new, frameRate: state.frameRate, settings: settings))
            state.rateState.limits.change(new, state.frameRate, pending: state.pending)
        }
    }

    /// Lets the filler of a constant rate follow the current rate, if the driver controls it and the stream has HRD
    /// parameters.
    private func setPace(_ state: inout State) {
        guard state.rate.mode == .cbr, state.rateState.controller == nil,
            let before = state.rateState.pacing ?? state.rateState.hrd
        else { return }
        state.rateState.pacing = HRDTiming(
            bitrate: state.rate.maxBitrate, bufferSize: state.rate.vbvSize,
            initialFullness: min(before.buffer.fullness, state.rate.vbvSize), frameRate: state.frameRate, isConstant: true,
            minFillerBytes: Filler.minBytes(settings.profile.codec))
    }

    /// Returns the report of the configuration with all changes since then.
    func changed(_ report: [EffectiveEntry]) -> [EffectiveEntry] {
        let (rate, qps, changes, keepsHRD) = state.withLock { ($0.rate, $0.qps, $0.changes, $0.keepsHRD) }
        var changed = rate.report(report, with: changes, qps)
        if !keepsHRD, rate.hasHRD, let old = report.first(where: { $0.option == "hrdParameters" }) {
            changed.change("hrdParameters", asked: old.asked, used: EffectiveEntry.outdatedHRD, why: "the rate was changed while running")
        }
        return changed
    }

    /// Checks changes that follow each other, without making them.
    ///
    /// - Throws: What `change` throws.
    func check(_ changes: [RunningChange]) throws {
        var (rate, frameRate) = state.withLock { ($0.rate, $0.frameRate) }
        for change in changes {
            if let new = change.frameRate {
                try Validation.validate(frameRate: new)
                frameRate = new
            }
            rate = try rate.changed(by: change, frameRate: frameRate, highest: .highest(settings.profile))
        }
    }

    /// Returns to the state before the pictures that were not delivered. They were lost and will be planned again, on a
    /// driver that does not know the earlier pictures.
    func restart() {
        state.withLock { state in
            if let first = state.undelivered.first {
                let isPaced = state.rateState.pacing != nil
                // Keep changes that were made in the meantime.
                let changed = first.controller?.targets != state.rateState.controller?.targets
                let targets = state.rateState.controller?.targets
                state.rateState = first
                state.rateState.limits.change(state.rate, state.frameRate, pending: 0)
                if changed, let targets { state.rateState.controller?.change(targets) }
                if isPaced { setPace(&state) }
            }
            state.undelivered = []
            state.pending = 0
            Self.learnOverhead(&state, unknown: 0)
            state.rateState.controller?.forgetPending()
            state.isNew = true
            state.frameRateIsNew = state.frameRate.reduced != settings.frameRate.reduced
            state.startsOver = true
        }
    }

    /// Records that the driver has coded a key frame that is not part of the stream, to which `addedBits` bits were
    /// added.
    func startOver(addedBits: Int) {
        state.withLock { state in
            state.startsOver = true
            // Every picture has a delimiter and picture timing.
            state.overhead.expect(keyBits: addedBits, otherBits: 160)
        }
    }
}
