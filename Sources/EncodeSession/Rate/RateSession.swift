import EncodePlanning
import NALUnits
import RateControl
import Synchronization
import VAAPI
import VideoBase

/// The rate control of a running stream: each picture's QP if vaenc chooses it, the rate parameters of the driver if
/// the driver chooses it, and the buffer that the HRD parameters describe.
///
/// Pictures are planned on one thread and finish on another, both in coding order.
final class RateSession: Sendable {
    struct State {
        var rate: RateSettings
        var frameRate: Rational
        var qps: QPs
        /// The QPs of constant QP as requested, before `minQP` and `maxQP` limit them.
        var requestedQPs: ConstantQPs
        /// All changes requested while running.
        var changes = RunningChange()
        var rateState: RateState
        /// The state before each picture that has finished and was not delivered, the oldest first.
        var undelivered: [RateState] = []
        var overhead = DriverOverhead()
        /// The bits added to finished pictures that `overhead` does not include yet, the oldest first.
        var addedBits: [Int] = []
        /// The number of pictures planned after the latest intra picture.
        var plannedSinceIntra = 0
        /// Whether the driver needs the rate with the next picture.
        var isNew = true
        var frameRateIsNew = false
        /// Whether the driver has received the buffer.
        var hasBegun = false
        /// Whether the stream still keeps its HRD parameters: no change while running contradicts them.
        var keepsHRD = true
        /// Whether the driver has coded pictures that are not part of the stream.
        var startsOver = false
        /// The number of decisions, including those for pictures that are planned again after a fault.
        var pictures = 0
        /// The number of decided pictures that have not finished.
        var pending = 0
        var statistics = EncoderStatistics()
    }

    /// The state that pictures change.
    struct RateState {
        /// vaenc's own rate controller; nil if it is not used.
        var controller: PictureRateController?
        var hrd: HRDTiming?
        /// The buffer at a constant rate that was changed while running and is the driver's to control. It decides how
        /// much filler a picture gets. The HRD parameters in the stream keep the first rate, and so does `hrd`.
        var pacing: HRDTiming?
        var limits: RateComplianceTracker
        /// The number of pictures since the latest buffering period began, including its first picture.
        var pictures = 0
    }

    struct QPs: Sendable, Hashable {
        var i: Int
        var p: Int
        var b: Int
    }

    /// The rate decision for a picture.
    struct Decision: Sendable {
        var qp: Int
        var isDriversChoice: Bool
        var parameters: [MiscParameters]
    }

    let settings: EncodeSettings
    let state: Mutex<State>
    /// Whether a picture is submitted only after all pictures before it were read. Its QP then depends on their sizes,
    /// and they may be encoded again.
    let isSerial: Bool

    init(_ settings: EncodeSettings) {
        self.settings = settings
        let rate = settings.rate
        isSerial = rate.usesVaencRateControl
        var rateState = RateState(limits: RateComplianceTracker(settings))
        if rate.usesVaencRateControl {
            rateState.controller = PictureRateController(
                Self.targets(rate, frameRate: settings.frameRate, settings: settings))
        }
        if let buffer = settings.buffer {
            rateState.hrd = HRDTiming(
                bitrate: buffer.bitrate, bufferSize: buffer.size, initialFullness: rate.vbvInitial,
                frameRate: settings.frameRate, isConstant: buffer.isConstant,
                minFillerBytes: Filler.minBytes(settings.profile.codec))
        }
        var state = State(
            rate: rate, frameRate: settings.frameRate,
            qps: settings.qps,
            requestedQPs: settings.requestedQPs, rateState: rateState)
        if settings.structure.idrInterval > 1 || settings.structure.intraRefreshSteps != nil {
            // If decoding can begin without an IDR picture, parameter sets are inserted there after the encode.
            state.overhead.expect(keyBits: 1000, otherBits: 0)
        }
        self.state = Mutex(state)
    }

    static func targets(
        _ rate: RateSettings, frameRate: Rational, settings: EncodeSettings
    ) -> RateTargets {
        var offsets = QPOffsets()
        offsets.intra = SettingsResolver.intraOffset
        offsets.bidirectional = SettingsResolver.bidirectionalOffset
        var targets = rate.targets(
            frameRate: frameRate, areas: Int(Double(settings.grid.areas) * settings.profile.codec.rateShare),
            reorderDepth: settings.structure.reorderDepth, offsets: offsets)
        let levelMaximum = settings.level.pictureSizeLimit(settings.grid, settings.profile).later(frameRate: frameRate)
        targets.maxPictureBits = min(targets.maxPictureBits ?? .max, Int(clamping: Int128(levelMaximum) * 8))
        targets.minFillerBytes = Filler.minBytes(settings.profile.codec)
        return targets
    }

    // MARK: Before a picture is submitted

    func decide(_ plan: FramePlan) -> Decision {
        state.withLock { state in
            let rate = state.rate
            var parameters: [MiscParameters] = []
            Self.learnOverhead(&state, unknown: settings.asyncDepth + settings.queueDepth - 1)
            if state.isNew || plan.type == .idr { parameters = Self.parameters(&state) }
            if state.frameRateIsNew || plan.type == .idr {
                parameters.append(.frameRate(state.frameRate, temporalLayer: 0))
            }
            state.isNew = false
            state.frameRateIsNew = false
            state.pictures += 1
            state.pending += 1
            guard state.rateState.controller == nil else {
                let distance = settings.structure.intraRefreshSteps == nil ? settings.structure.keyInterval : nil
                // Groups of pictures are equally long in coding order and in display order, open groups included.
                state.plannedSinceIntra = plan.type == .idr || plan.type == .i ? 0 : state.plannedSinceIntra + 1
                let age = state.plannedSinceIntra
                let picture = RatePicture(
                    type: plan.type, depth: plan.depth, temporalLayer: plan.temporalLayer,
                    distanceToIntra: distance.map { max($0 - age, 1) })
                let qp = state.rateState.controller?.plan(picture) ?? state.qps.p
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

    /// Adds finished pictures to the overhead, except the latest `unknown` pictures. Those may still be in flight. If
    /// they counted, the stream would depend on timing.
    static func learnOverhead(_ state: inout State, unknown: Int) {
        let count = min(max(state.pending + state.addedBits.count - unknown, 0), state.addedBits.count)
        for bits in state.addedBits.prefix(count) where state.overhead.add(bits) { state.isNew = true }
        state.addedBits.removeFirst(count)
    }

    /// Returns the driver's part of the rate as its parameters.
    private static func parameters(_ state: inout State) -> [MiscParameters] {
        var rate = state.rate
        let overhead = state.overhead.bitsPerSecond(state.frameRate)
        rate.bitrate = max(rate.bitrate - overhead, rate.bitrate / 4)
        rate.maxBitrate = max(rate.maxBitrate - overhead, rate.maxBitrate / 4)
        if state.startsOver, let hrd = state.rateState.hrd { rate.vbvInitial = hrd.buffer.fullness }
        if state.startsOver || !state.hasBegun { state.overhead.begin() }
        state.hasBegun = true
        // The driver gets a smaller buffer with a lower fullness.
        let reserve = min(state.overhead.reserve, rate.vbvSize / 4)
        rate.vbvSize -= reserve
        // A picture has less room for the same reason.
        rate.maxFrameBytes = rate.maxFrameBytes.map { max($0 - (state.overhead.reserve + 7) / 8, $0 / 2) }
        rate.vbvInitial = max(rate.vbvInitial - reserve, rate.vbvInitial / 2)
        defer { state.startsOver = false }
        let most = rate.driverMaxBitrate
        if rate.driverChoosesQP, most > 0 {
            let last = state.statistics.driverRates.last
            if last?.bitrate != rate.bitrate || last?.maxBitrate != most {
                state.statistics.add(DriverRate(picture: state.pictures, bitrate: rate.bitrate, maxBitrate: most))
            }
        }
        return MiscParameters.rate(rate, startsOver: state.startsOver)
    }

    /// The rates sent to the driver, the latest last.
    var driverRates: [DriverRate] { state.withLock { $0.statistics.driverRates } }

    // MARK: After its bytes are read

    /// The number of pictures since the latest buffering period began, including its first picture.
    var picturesSinceBuffering: Int { state.withLock { $0.rateState.pictures } }

    /// The delay of a buffering period that begins with the next picture; nil if the stream has no HRD parameters.
    var initialDelay: SEIMessage.InitialRemovalDelay? {
        state.withLock { $0.rateState.hrd?.initialDelay }
            .map { SEIMessage.InitialRemovalDelay(delay: $0.delay, offset: $0.offset) }
    }

    enum Verdict: Sendable {
        /// The picture must be encoded again with this QP.
        case encodeAgain(qp: Int)
        /// The picture is accepted and violates these limits.
        case accepted(breaking: Set<RateLimit>)
    }

    /// Takes a whole access unit. If it is accepted, the call enters it into the state and, at a constant rate, appends
    /// filler.
    ///
    /// - Parameters:
    ///   - bytes: The access unit.
    ///   - units: The ranges of its NAL units; the range of appended filler is added.
    ///   - driverBytes: The number of bytes that the driver wrote and counts.
    ///   - canRepeat: Whether the picture may be encoded again.
    func finish(
        _ bytes: inout [UInt8], units: inout [Range<Int>], driverBytes: Int, plan: FramePlan, canRepeat: Bool
    ) -> Verdict {
        let count = bytes.count
        let codec = settings.profile.codec
        // With a maximum size, the driver decides how many slices there are.
        let slices = settings.maxSliceBytes == nil ? [] : AccessUnitAssembler.slices(in: bytes, units, codec)
        let (verdict, filler) = state.withLock {
            Self.record(
                &$0, bits: count * 8, addedBits: (count - driverBytes) * 8, slices: slices, plan, canRepeat: canRepeat)
        }
        let overhead = AnnexB.startCode.count
        if filler / 8 > overhead {
            let unit = Filler.unit(byteCount: filler / 8 - overhead, temporalLayer: plan.temporalLayer, codec)
            AnnexB.append(unit, to: &bytes, &units)
        }
        return verdict
    }

    private static func record(
        _ state: inout State, bits: Int, addedBits: Int, slices: [Int], _ plan: FramePlan, canRepeat: Bool
    ) -> (Verdict, fillerBits: Int) {
        let before = state.rateState
        var filler = 0
        switch state.rateState.controller?.finished(bits: bits, canRepeat: canRepeat) {
        case .encodeAgain(let qp): return (.encodeAgain(qp: qp), 0)
        case .accepted(let bits): filler = bits
        case nil: filler = state.rate.mode == .cbr ? (before.pacing ?? before.hrd)?.filler(afterBits: bits) ?? 0 : 0
        }
        state.rateState.pacing?.coded(bits: bits + filler, beginsBufferingPeriod: plan.beginsBufferingPeriod)
        // A stream whose rate was raised no longer claims to keep the buffer.
        let keepsBuffer =
            state.rateState.hrd?.coded(bits: bits + filler, beginsBufferingPeriod: plan.beginsBufferingPeriod) != false
            || !state.keepsHRD
        let breaking = state.rateState.limits.add(
            bits: bits + filler, keepsBuffer: keepsBuffer, largestSlice: slices.max() ?? 0, slices: slices.count)
        state.pending = max(state.pending - 1, 0)
        state.rateState.pictures = plan.beginsBufferingPeriod ? 1 : before.pictures + 1
        state.undelivered.append(before)
        if state.rate.driverChoosesQP { state.addedBits.append(addedBits) }
        return (.accepted(breaking: breaking), filler)
    }

    /// The pictures that violated a limit and were accepted, because even the highest QP does not make them fit or
    /// because the driver chose their QP. `limits` counts them by limit. `tooLarge` counts the pictures too large for
    /// the decoder's buffer, a window or the maximum frame size.
    var broken: (limits: LimitViolations, tooLarge: Int) {
        state.withLock { ($0.rateState.limits.broken, $0.rateState.limits.tooLarge) }
    }

    /// Returns one requested limit among those that a picture violated; nil if none was requested.
    func asked(_ broken: Set<RateLimit>) -> RateLimit? {
        if broken.isEmpty { return nil }
        let rate = state.withLock { $0.rate }
        return RateLimit.allCases.first { limit in
            guard broken.contains(limit) else { return false }
            return switch limit {
            case .buffer: rate.requiresHRDConformance
            case .frameBytes, .sliceBytes: true
            case .dataRate: rate.hasRequestedDataRateLimits
            case .maximum: rate.asksMaximum
            case .level: settings.asksLevel
            }
        }
    }

    /// Records that `count` more pictures, in coding order, were delivered.
    func delivered(_ count: Int) { state.withLock { $0.undelivered.removeFirst(min(count, $0.undelivered.count)) } }
}
