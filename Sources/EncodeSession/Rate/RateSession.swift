import EncodePlanning
import H264Syntax
import NALWriting
import RateControl
import Synchronization
import VAAPI
import VideoBase

/// The rate of a running stream: each picture's QP where vaenc chooses it, what the driver is told where it does, and
/// the buffer that the stream's HRD parameters speak of.
///
/// Pictures are planned on one thread and finish on another, both in coding order.
final class RateSession: Sendable {
    private struct State {
        var rate: RateSettings
        var frameRate: Rational
        var qps: QPs
        /// vaenc's own.
        var controller: PictureRateController?
        var hrd: HRDTiming?
        /// Told to the driver with the next picture.
        var isNew = true
        var frameRateIsNew = false
    }

    struct QPs: Sendable, Hashable {
        var i: Int
        var p: Int
        var b: Int
    }

    /// What goes with a picture.
    struct Decision: Sendable {
        var qp: Int
        var isDriversChoice: Bool
        var parameters: [MiscParameters]
    }

    private let settings: EncodeSettings
    private let state: Mutex<State>
    /// A picture is submitted once those before it have been read: its QP follows from their sizes, and they may be
    /// encoded again.
    let isSerial: Bool

    init(_ settings: EncodeSettings) {
        self.settings = settings
        let rate = settings.rate
        isSerial = rate.isOwn
        var state = State(
            rate: rate, frameRate: settings.frameRate,
            qps: QPs(i: settings.qpI, p: settings.qpP, b: settings.qpB))
        if rate.isOwn { state.controller = PictureRateController(Self.targets(rate, settings.frameRate, settings)) }
        if let hrd = settings.hrd {
            state.hrd = HRDTiming(
                bitrate: hrd.bitrate.value, bufferSize: hrd.cpbSize, initialFullness: rate.vbvInitial,
                frameRate: settings.frameRate, isConstant: hrd.cbr_flag)
        }
        self.state = Mutex(state)
    }

    private static func targets(
        _ rate: RateSettings, _ frameRate: Rational, _ settings: EncodeSettings
    ) -> RateTargets {
        var offsets = QPOffsets()
        offsets.intra = SettingsResolver.intraOffset
        offsets.bidirectional = SettingsResolver.bidirectionalOffset
        return rate.targets(
            frameRate: frameRate, macroblocks: settings.widthInMacroblocks * settings.heightInMacroblocks,
            reorderDepth: settings.structure.reorderDepth, offsets: offsets)
    }

    // MARK: Before a picture is submitted

    func decide(_ plan: FramePlan) -> Decision {
        state.withLock { state in
            let rate = state.rate
            var parameters: [MiscParameters] = []
            if state.isNew || plan.type == .idr { parameters = MiscParameters.rate(rate) }
            if state.frameRateIsNew || plan.type == .idr {
                parameters.append(.frameRate(state.frameRate, temporalLayer: 0))
            }
            state.isNew = false
            state.frameRateIsNew = false
            guard state.controller == nil else {
                let distance = settings.structure.intraRefreshSteps == nil ? settings.structure.keyInterval : nil
                let age = plan.displayIndex - plan.keyDisplayIndex
                let picture = RatePicture(
                    type: plan.type, depth: plan.depth, temporalLayer: plan.temporalLayer,
                    distanceToIntra: distance.map { max($0 - age, 1) })
                let qp = state.controller?.plan(picture) ?? state.qps.p
                return Decision(qp: qp, isDriversChoice: false, parameters: parameters)
            }
            let qp =
                switch plan.type {
                case .idr, .i: state.qps.i
                case .p: state.qps.p
                case .b: state.qps.b
                }
            return Decision(qp: qp, isDriversChoice: rate.driverChoosesQP, parameters: parameters)
        }
    }

    // MARK: Once its bytes are there

    /// For the buffering period that begins with the picture; nil where the stream has none.
    var initialDelay: SEIMessage.InitialRemovalDelay? {
        state.withLock { $0.hrd?.initialDelay }.map { SEIMessage.InitialRemovalDelay(delay: $0.delay, offset: $0.offset) }
    }

    /// Takes a whole access unit: gives the QP with which the picture must be encoded again, or books it, filled up
    /// where the rate is constant.
    func finish(_ bytes: inout [UInt8], _ plan: FramePlan, canRepeat: Bool) -> Int? {
        let count = bytes.count
        let filler: Int
        switch state.withLock({ Self.book(&$0, bits: count * 8, plan, canRepeat: canRepeat) }) {
        case .encodeAgain(let qp): return qp
        case .accepted(let bits): filler = bits / 8
        }
        let overhead = AnnexB.startCode.count
        if filler > overhead { AnnexB.append(FillerData.unit(byteCount: filler - overhead), to: &bytes) }
        return nil
    }

    private static func book(
        _ state: inout State, bits: Int, _ plan: FramePlan, canRepeat: Bool
    ) -> PictureRateController.Verdict {
        var filler = 0
        switch state.controller?.finished(bits: bits, canRepeat: canRepeat) {
        case .encodeAgain(let qp): return .encodeAgain(qp: qp)
        case .accepted(let bits): filler = bits
        case nil: filler = state.rate.mode == .cbr ? state.hrd?.filler(afterBits: bits) ?? 0 : 0
        }
        state.hrd?.coded(bits: bits + filler, beginsBufferingPeriod: plan.beginsBufferingPeriod)
        return .accepted(fillerBits: filler)
    }

    // MARK: Changes

    /// From the next picture that is planned on.
    func change(_ change: RunningChange) throws {
        try state.withLock { state in
            let new = try state.rate.changed(by: change)
            if let qp = change.qp {
                guard new.mode == .cqp else {
                    throw VaencError(
                        .unavailable, "rate control \(new.mode.rawValue) chooses the QP",
                        remedy: "change the bit rate, or the QP limits")
                }
                let range = (new.minQP ?? 0)...max(new.maxQP ?? 51, new.minQP ?? 0)
                let step = qp.clamped(to: range) - state.qps.p
                state.qps = QPs(
                    i: (state.qps.i + step).clamped(to: range), p: (state.qps.p + step).clamped(to: range),
                    b: (state.qps.b + step).clamped(to: range))
            }
            if let rate = change.frameRate {
                guard rate.numerator > 0, rate.denominator > 0, rate.value <= 1000 else {
                    throw VaencError(.usage, "the frame rate \(rate) is not between 0 and 1000 frames per second")
                }
                state.frameRateIsNew = rate.reduced != state.frameRate.reduced
                state.frameRate = rate
            }
            state.isNew = new != state.rate
            state.rate = new
            state.controller?.change(Self.targets(new, state.frameRate, settings))
        }
    }

    /// Pictures under way were lost: they will be planned anew.
    func restart() {
        state.withLock { state in
            state.controller?.forgetPending()
            state.isNew = true
        }
    }
}
