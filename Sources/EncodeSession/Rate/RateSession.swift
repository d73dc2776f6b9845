import EncodePlanning
import NALUnits
import RateControl
import Synchronization
import VAAPI
import VideoBase

/// The rate of a running stream: each picture's QP where vaenc chooses it, what the driver is told where it does, and
/// the buffer that the stream's HRD parameters speak of.
///
/// Pictures are planned on one thread and finish on another, both in coding order.
final class RateSession: Sendable {
    struct State {
        var rate: RateSettings
        var frameRate: Rational
        var qps: QPs
        /// All that was asked for while running.
        var changes = RunningChange()
        var books: Books
        /// Before each picture that has finished and is not out, the oldest first.
        var undelivered: [Books] = []
        var overhead = DriverOverhead()
        /// Bits added to pictures that have finished and that `overhead` does not know of, the oldest first.
        var addedBits: [Int] = []
        /// Pictures planned after the latest intra picture.
        var plannedSinceIntra = 0
        /// Told to the driver with the next picture.
        var isNew = true
        var frameRateIsNew = false
        /// The driver was told of the buffer.
        var hasBegun = false
        /// The stream's HRD parameters stand: nothing that they say was changed while running.
        var keepsHRD = true
        /// The driver has seen other pictures than the stream's.
        var startsOver = false
        /// Pictures decided on, those encoded again included.
        var pictures = 0
        /// Those of them that have not finished.
        var pending = 0
        var statistics = EncoderStatistics()
    }

    /// What pictures change.
    struct Books {
        /// vaenc's own.
        var controller: PictureRateController?
        var hrd: HRDTiming?
        var limits: RateComplianceTracker
        /// Since the latest that began a buffering period, that one included.
        var pictures = 0
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

    let settings: EncodeSettings
    let state: Mutex<State>
    /// A picture is submitted once those before it have been read: its QP follows from their sizes, and they may be
    /// encoded again.
    let isSerial: Bool

    init(_ settings: EncodeSettings) {
        self.settings = settings
        let rate = settings.rate
        isSerial = rate.usesVaencRateControl
        var books = Books(limits: RateComplianceTracker(settings))
        if rate.usesVaencRateControl { books.controller = PictureRateController(Self.targets(rate, settings.frameRate, settings)) }
        if let buffer = settings.buffer {
            books.hrd = HRDTiming(
                bitrate: buffer.bitrate, bufferSize: buffer.size, initialFullness: rate.vbvInitial,
                frameRate: settings.frameRate, isConstant: buffer.isConstant,
                leastFillerBytes: Filler.leastBytes(settings.profile.codec))
        }
        var state = State(
            rate: rate, frameRate: settings.frameRate,
            qps: QPs(i: settings.qpI, p: settings.qpP, b: settings.qpB), books: books)
        if settings.structure.idrInterval > 1 || settings.structure.intraRefreshSteps != nil {
            // Parameter sets where decoding can begin without an IDR picture are put in after the encode.
            state.overhead.expect(keyBits: 1000, otherBits: 0)
        }
        self.state = Mutex(state)
    }

    static func targets(
        _ rate: RateSettings, _ frameRate: Rational, _ settings: EncodeSettings
    ) -> RateTargets {
        var offsets = QPOffsets()
        offsets.intra = SettingsResolver.intraOffset
        offsets.bidirectional = SettingsResolver.bidirectionalOffset
        var targets = rate.targets(
            frameRate: frameRate, areas: Int(Double(settings.grid.areas) * settings.profile.codec.rateShare),
            reorderDepth: settings.structure.reorderDepth, offsets: offsets)
        let mostOfLevel = settings.level.pictureSizeLimit(settings.grid, settings.profile).later(frameRate: frameRate)
        targets.maxPictureBits = min(targets.maxPictureBits ?? .max, Int(clamping: Int128(mostOfLevel) * 8))
        targets.leastFillerBytes = Filler.leastBytes(settings.profile.codec)
        return targets
    }

    // MARK: Before a picture is submitted

    func decide(_ plan: FramePlan) -> Decision {
        state.withLock { state in
            let rate = state.rate
            var parameters: [MiscParameters] = []
            Self.learnOverhead(&state, unknown: settings.asyncDepth - 1)
            if state.isNew || plan.type == .idr { parameters = Self.parameters(&state) }
            if state.frameRateIsNew || plan.type == .idr {
                parameters.append(.frameRate(state.frameRate, temporalLayer: 0))
            }
            state.isNew = false
            state.frameRateIsNew = false
            state.pictures += 1
            state.pending += 1
            guard state.books.controller == nil else {
                let distance = settings.structure.intraRefreshSteps == nil ? settings.structure.keyInterval : nil
                // Groups of pictures are as long in coding order as in display order, open ones too.
                state.plannedSinceIntra = plan.type == .idr || plan.type == .i ? 0 : state.plannedSinceIntra + 1
                let age = state.plannedSinceIntra
                let picture = RatePicture(
                    type: plan.type, depth: plan.depth, temporalLayer: plan.temporalLayer,
                    distanceToIntra: distance.map { max($0 - age, 1) })
                let qp = state.books.controller?.plan(picture) ?? state.qps.p
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

    /// What the driver is told with a picture follows from those before it, but for the latest, of which so many may be
    /// in flight: whether they have finished is a matter of time, and streams do not depend on that.
    static func learnOverhead(_ state: inout State, unknown: Int) {
        let count = min(max(state.pending + state.addedBits.count - unknown, 0), state.addedBits.count)
        for bits in state.addedBits.prefix(count) where state.overhead.add(bits) { state.isNew = true }
        state.addedBits.removeFirst(count)
    }

    /// The driver's part of the rate, in its terms.
    private static func parameters(_ state: inout State) -> [MiscParameters] {
        var rate = state.rate
        let overhead = state.overhead.bitsPerSecond(state.frameRate)
        rate.bitrate = max(rate.bitrate - overhead, rate.bitrate / 4)
        rate.maxBitrate = max(rate.maxBitrate - overhead, rate.maxBitrate / 4)
        if state.startsOver, let hrd = state.books.hrd { rate.vbvInitial = hrd.buffer.fullness }
        if state.startsOver || !state.hasBegun { state.overhead.begin() }
        state.hasBegun = true
        // As seen by the driver, the buffer has less in it all the time.
        let reserve = min(state.overhead.reserve, rate.vbvSize / 4)
        rate.vbvSize -= reserve
        // And a picture has room for less.
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

    /// What the driver was told of the rate, the latest last.
    var told: [DriverRate] { state.withLock { $0.statistics.driverRates } }

    // MARK: Once its bytes are there

    /// Pictures coded since the latest that began a buffering period.
    var picturesSinceBuffering: Int { state.withLock { $0.books.pictures } }

    /// For the buffering period that begins with the picture; nil where the stream has none.
    var initialDelay: SEIMessage.InitialRemovalDelay? {
        state.withLock { $0.books.hrd?.initialDelay }.map { SEIMessage.InitialRemovalDelay(delay: $0.delay, offset: $0.offset) }
    }

    enum Verdict: Sendable {
        /// The picture must be encoded again with this QP.
        case encodeAgain(qp: Int)
        /// It stands, and broke these limits.
        case accepted(breaking: Set<RateLimit>)
    }

    /// Takes a whole access unit, and books it where it stands, filled up where the rate is constant.
    ///
    /// - Parameters:
    ///   - units: the ranges of its NAL units; filler that is added is added to them.
    ///   - driverBytes: bytes of it that the driver wrote, and counts.
    func finish(
        _ bytes: inout [UInt8], _ units: inout [Range<Int>], driverBytes: Int, _ plan: FramePlan, canRepeat: Bool
    ) -> Verdict {
        let count = bytes.count
        let codec = settings.profile.codec
        let largestSlice = settings.maxSliceBytes == nil ? 0 : AccessUnitAssembler.slices(in: bytes, units, codec).max() ?? 0
        let (verdict, filler) = state.withLock {
            Self.book(
                &$0, bits: count * 8, addedBits: (count - driverBytes) * 8, largestSlice: largestSlice, plan,
                canRepeat: canRepeat)
        }
        let overhead = AnnexB.startCode.count
        if filler / 8 > overhead {
            let unit = Filler.unit(byteCount: filler / 8 - overhead, temporalLayer: plan.temporalLayer, codec)
            AnnexB.append(unit, to: &bytes, &units)
        }
        return verdict
    }

    private static func book(
        _ state: inout State, bits: Int, addedBits: Int, largestSlice: Int, _ plan: FramePlan, canRepeat: Bool
    ) -> (Verdict, fillerBits: Int) {
        let before = state.books
        var filler = 0
        switch state.books.controller?.finished(bits: bits, canRepeat: canRepeat) {
        case .encodeAgain(let qp): return (.encodeAgain(qp: qp), 0)
        case .accepted(let bits): filler = bits
        case nil: filler = state.rate.mode == .cbr ? before.hrd?.filler(afterBits: bits) ?? 0 : 0
        }
        // A stream whose rate was raised does not claim the buffer any more.
        let keepsBuffer =
            state.books.hrd?.coded(bits: bits + filler, beginsBufferingPeriod: plan.beginsBufferingPeriod) != false
            || !state.keepsHRD
        let breaking = state.books.limits.add(
            bits: bits + filler, keepsBuffer: keepsBuffer, largestSlice: largestSlice)
        state.pending = max(state.pending - 1, 0)
        state.books.pictures = plan.beginsBufferingPeriod ? 1 : before.pictures + 1
        state.undelivered.append(before)
        if state.rate.driverChoosesQP { state.addedBits.append(addedBits) }
        return (.accepted(breaking: breaking), filler)
    }

    /// Pictures that broke a limit and stand, because not even the highest QP makes them fit, or because the driver
    /// chose theirs: by limit, and those too large for the decoder's buffer, a window or the largest picture.
    var broken: (limits: LimitViolations, tooLarge: Int) {
        state.withLock { ($0.books.limits.broken, $0.books.limits.tooLarge) }
    }

    /// Of limits that a picture broke, one that was asked for.
    func asked(_ broken: Set<RateLimit>) -> RateLimit? {
        if broken.isEmpty { return nil }
        let rate = state.withLock { $0.rate }
        return broken.first { limit in
            switch limit {
            case .buffer: rate.requiresHRDConformance
            case .frameBytes, .sliceBytes: true
            case .dataRate: rate.hasRequestedDataRateLimits
            case .maximum: rate.asksMaximum
            case .level: settings.asksLevel
            }
        }
    }

    /// So many more pictures, in coding order, are out for good.
    func delivered(_ count: Int) { state.withLock { $0.undelivered.removeFirst(min(count, $0.undelivered.count)) } }
}
