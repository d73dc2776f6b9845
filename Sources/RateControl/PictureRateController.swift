internal import Glibc
package import VideoBase

/// The properties of a picture that are known before it is coded.
package struct RatePicture: Sendable, Hashable {
    package var type: PictureType
    /// The depth in a pyramid of B pictures.
    package var depth: Int
    package var temporalLayer: Int
    /// The number of pictures in coding order from this one to the next intra picture, at least 1. nil if no intra
    /// picture is planned.
    package var distanceToIntra: Int?

    package init(type: PictureType, depth: Int = 0, temporalLayer: Int = 0, distanceToIntra: Int? = nil) {
        self.type = type
        self.depth = depth
        self.temporalLayer = temporalLayer
        self.distanceToIntra = distanceToIntra
    }

    var kind: Int { BitModel.Kind.of(type, depth: depth, layer: temporalLayer) }
    var isIntra: Bool { kind == BitModel.Kind.intra }
}

/// Chooses the QP of each picture so that the stream keeps its rate. This is vaenc's own CBR and VBR, on top of
/// constant QP.
///
/// The controller is a value: it uses no clocks or devices. Call `plan` for each picture in coding order. Call
/// `finished` in the same order with the size of the picture, at once or some pictures later. Pictures in flight count
/// with their expected bits.
///
/// An account of the bits spent over the target controls the rate. If an intra picture or the first picture of a scene
/// takes more than the mean, the excess becomes a debt. The pictures up to the next intra picture pay the debt back in
/// equal parts, so it does not change the QP. The rest of the account changes the QP over a separate time span. Then
/// the coming pictures are simulated against the buffer, the windows and the maximum picture size. The QP is raised
/// until they fit.
package struct PictureRateController: Sendable {
    /// A planned picture whose size is not known yet.
    struct Pending: Sendable {
        var picture: RatePicture
        var qp: Int
        var expectedBits: Double
        /// The maximum number of bits that leaves the following pictures enough.
        var ceiling: Int
        /// The maximum number of bits that leaves the following pictures enough if a harder scene has begun.
        var ceilingAtCut: Int
        /// The number of times that the picture was encoded again because it took far more bits than expected.
        var timesSurprised = 0
        /// The picture's last rejected attempt.
        var lastAttempt: (qp: Int, bits: Int)?
        /// The number of times that the picture was encoded again because it exceeded the maximum picture size.
        var timesBounded = 0

        func ceiling(for bits: Int) -> Int { Double(bits) > 3 * expectedBits ? ceilingAtCut : ceiling }
    }

    package enum Verdict: Sendable, Hashable {
        /// The picture is accepted. This number of bits must be added to it so that the buffer does not overflow.
        case accepted(fillerBits: Int)
        /// The picture breaks a limit and should fit with this QP. It remains the next picture to finish.
        case encodeAgain(qp: Int)
    }

    package private(set) var targets: RateTargets
    package private(set) var buffer: CodedPictureBuffer
    /// The number of pictures that broke a limit and were accepted nevertheless.
    package private(set) var violationCount = 0
    /// The number of times that a picture was encoded again.
    package private(set) var repeatCount = 0

    var model: BitModel
    var windows: [SlidingWindow]
    var pending: [Pending] = []
    /// The bits spent over the target (used in VBR).
    var account = 0.0
    /// The part of the account (CBR: of the buffer) that intra pictures took beyond the mean and later pictures pay
    /// back.
    var debt = 0.0
    /// The number of pictures over which `debt` is paid back, at least 1.
    var repayment = 1
    /// The fullness that the controller steers the buffer to in CBR, in bits. After a change it returns slowly to the
    /// initial fullness.
    var setpoint: Double
    /// The QP of P pictures from the latest `plan`, before rounding and before `boundedStep`.
    var baseQP: Double?
    /// The distance from an intra picture to the next, if it is known.
    var intraPeriod: Int?
    /// The accumulated difference between exact and rounded QPs, from -0.5 to 0.5.
    var roundingError = 0.0
    /// Whether the next QP may differ by any amount: it is the first, or the rate has changed.
    var mayJump = true
    /// The base QP of the last picture that `maxPictureBits` kept coarse, and how much finer the next one may be. A
    /// picture that is much finer than its references takes as many bits as an intra picture and would not fit either.
    /// The key is `true` for B pictures and `false` for the others.
    var bounded: [Bool: (qp: Double, step: Double)] = [:]
    let offsets: [Double]
    var steady = SteadyQP()

    package init(_ targets: RateTargets) {
        self.targets = targets
        buffer = CodedPictureBuffer(
            rate: targets.maxBitrate, size: targets.bufferSize, initialFullness: targets.initialFullness,
            frameRate: targets.frameRate, isConstant: targets.isConstant, minFillerBytes: targets.minFillerBytes)
        model = BitModel(macroblocks: targets.macroblocks)
        windows = targets.windows.map { SlidingWindow(limit: $0.bits, count: targets.count(of: $0)) }
        setpoint = Double(targets.initialFullness)
        var offsets = [Double](repeating: 0, count: BitModel.Kind.count)
        offsets[BitModel.Kind.intra] = Double(targets.offsets.intra)
        for step in 0..<4 {
            offsets[1 + step] = Double(targets.offsets.offset(.p, depth: 0, layer: step))
            offsets[5 + step] = Double(targets.offsets.offset(.b, depth: step, layer: 0))
        }
        self.offsets = offsets
    }

    /// Returns the QP of the next picture.
    package mutating func plan(_ picture: RatePicture) -> Int {
        if picture.isIntra { intraPeriod = picture.distanceToIntra }
        // The model's first guess describes natural pictures.
        steady.begin(
            guess: equalQP(picture.isIntra && picture.distanceToIntra != 1 ? RatePicture(type: .p) : picture), slope: Self.slope,
            count: targets.framesPerSecond)
        let lookahead = BufferLookahead(self)
        let wanted = wantedQP(picture)
        let free = limitedStep(wanted, picture)
        let base = boundedStep(free, picture)
        let exact = base + offset(picture)
        var qp = Int((exact + (picture.isIntra ? 0 : roundingError)).rounded())
        qp = min(max(qp, targets.qpRange.lowerBound), targets.qpRange.upperBound)
        while qp < targets.qpRange.upperBound, !lookahead.fits(picture, qp: qp) { qp += 1 }
        if !picture.isIntra { roundingError = min(max(roundingError + exact - Double(qp), -0.5), 0.5) }
        baseQP = free
        mayJump = false
        pending.append(
            Pending(
                picture: picture, qp: qp, expectedBits: model.bits(picture.kind, qp: Double(qp)),
                ceiling: lookahead.ceiling(picture), ceilingAtCut: lookahead.ceiling(picture, hardness: 4)))
        return qp
    }

    /// Reports the size of the oldest planned picture that has not finished.
    ///
    /// - Parameters:
    ///   - bits: The size of the whole access unit.
    ///   - canRepeat: Whether the picture can still be encoded again because nothing was submitted after it.
    package mutating func finished(bits: Int, canRepeat: Bool) -> Verdict {
        guard let first = pending.first else { return .accepted(fillerBits: 0) }
        if canRepeat, pending.count == 1, let qp = betterQP(first, bits: bits) {
            pending[0].lastAttempt = (first.qp, bits)
            pending[0].qp = qp
            repeatCount += 1
            return .encodeAgain(qp: qp)
        }
        pending.removeFirst()
        let filler = buffer.filler(afterBits: bits)
        settle(first, bits: bits, filler: filler)
        return .accepted(fillerBits: filler)
    }

    /// Discards the pictures in flight, for example after a fault. They will be planned again.
    package mutating func forgetPending() { pending.removeAll() }

    private func offset(_ picture: RatePicture) -> Double {
        Double(targets.offsets.offset(picture.type, depth: picture.depth, layer: picture.temporalLayer))
    }

    /// Returns the QP to encode a picture with again, or nil if it is accepted. Counts the reason.
    private mutating func betterQP(_ done: Pending, bits: Int) -> Int? {
        let limit = targets.qpRange.upperBound
        guard done.qp < limit else { return nil }
        let ceiling = done.ceiling(for: bits)
        let isBounded = targets.maxPictureBits.map { bits > $0 } ?? false
        // If the maximum picture size is near the mean, no picture can take more than its share, so none counts as a
        // surprise.
        let surprising = isBounded && boundIsTight ? nil : surprise(done, bits: bits)
        if surprising != nil { pending[0].timesSurprised += 1 }
        guard bits > ceiling else { return surprising }
        if isBounded { pending[0].timesBounded += 1 }
        let raised = raisedQP(pending[0], bits: bits)
        pending[0].expectedBits = Double(ceiling) * 0.8
        pending[0].ceiling = ceiling
        return min(max(raised, surprising ?? 0), limit)
    }

    private var boundIsTight: Bool { targets.maxPictureBits.map { Double($0) < 4 * targets.bitsPerFrame } ?? false }

    private func raisedQP(_ done: Pending, bits: Int) -> Int {
        // With a higher QP, a picture that is finer than its references loses bits fast. The first picture of a scene
        // loses them slowly.
        let isFine = !done.picture.isIntra && done.timesBounded == 1 && Double(bits) < 4 * done.expectedBits
        let excess = Double(bits) / max(Double(done.ceiling(for: bits)) * (isFine ? 0.95 : 0.85), 64)
        let slope: Double =
            if isFine { 2 } else if done.timesBounded > 0, boundIsTight {
                done.timesBounded > 2 ? 0.6 : BitModel.slope(done.picture.kind)
            } else { slope(done, bits: bits, ofScene: 1) }
        let steps = (6 / slope * BitModel.octaves(excess)).rounded(.up)
        return done.qp + max(Int(min(steps, 64)), isFine ? 1 : 2)
    }

    /// Returns how many times six steps of QP halve the picture's bits. If the picture was encoded twice, the value is
    /// measured. Otherwise it is the slope of its kind, or `ofScene` if another scene begins.
    private func slope(_ done: Pending, bits: Int, ofScene: Double) -> Double {
        let kind = done.picture.kind
        if let last = done.lastAttempt, last.qp < done.qp, last.bits > 0 {
            let seen = 6 * log2(Double(last.bits) / Double(max(bits, 1))) / Double(done.qp - last.qp)
            return min(max(seen, 0.4), 2)
        }
        let isScene = Double(bits) > 2 * model.bits(kind, qp: Double(done.qp))
        return isScene ? ofScene : BitModel.slope(kind)
    }

    /// Returns the QP to encode a picture with again if it took far more bits than expected, like the first picture of
    /// a scene. It must leave enough for the following pictures, which are equally hard. Returns nil if its size is no
    /// surprise.
    private func surprise(_ done: Pending, bits: Int) -> Int? {
        let kind = done.picture.kind
        let limit = targets.qpRange.upperBound
        let expected = model.bits(kind, qp: Double(done.qp))
        // CBR leaves no reserve for the following pictures. More attempts get closer to what fits.
        let attempts = targets.isConstant ? 3 : 2
        guard done.timesSurprised < attempts, Double(bits) > 1.5 * targets.bitsPerFrame, Double(bits) > 1.25 * expected else {
            return nil
        }
        var alone = self
        alone.pending.removeAll()
        let lookahead = BufferLookahead(alone)
        // A picture that is only harder must fit. A picture that begins a scene must also not be finer than the
        // stream's typical pictures.
        let isScene = Double(bits) > 2 * expected
        let typical = isScene ? steady.typical(slope: Self.slope) + offset(done.picture) : Double(done.qp)
        let ofScene = BitModel.slope(BitModel.Kind.intra)
        let slope = max(slope(done, bits: bits, ofScene: ofScene), ofScene)
        var qp = done.qp
        while qp < limit {
            let codedBits = Double(bits) * exp2(-slope * Double(qp - done.qp) / 6)
            if Double(qp) >= typical.rounded(), lookahead.fits(done.picture, qp: qp, codedBits: codedBits) { break }
            qp += 1
        }
        return qp >= done.qp + 2 ? qp : nil
    }

    /// Enters an accepted picture into the account, the model and the limits.
    private mutating func settle(_ done: Pending, bits: Int, filler: Int) {
        let kind = done.picture.kind
        let perPicture = targets.bitsPerFrame
        // The bits beyond the picture's share become a debt in two cases. The picture is intra: the excess was planned.
        // Or it took far more than expected: most likely it begins a scene.
        let expected = model.bits(kind, qp: Double(done.qp))
        let isSurprise = !done.picture.isIntra && Double(bits) > 3 * expected && Double(bits) > 2 * perPicture
        pay()
        if done.picture.isIntra || isSurprise {
            debt += max(Double(bits) - perPicture, 0)
            let horizon = max(Int(targets.framesPerSecond * (targets.isConstant ? 2 : 5)), 1)
            repayment = min(max((done.picture.distanceToIntra ?? horizon) - 1, 1), horizon)
        }
        if isSurprise { model.beginScene(qp: done.qp, bits: bits) }
        model.learn(kind, qp: done.qp, bits: bits)
        let isB = done.picture.type == .b
        if done.timesBounded > 0 || bounded[isB] != nil, let most = targets.maxPictureBits {
            let octaves = log2(0.9 * Double(most) / Double(max(bits, 1)))
            bounded[isB] = (
                qp: Double(done.qp) - max(offsets[kind], 0), step: done.picture.isIntra ? 1.5 : min(max(3 * octaves, 1), 8)
            )
        }
        steady.add(
            equalQP(done.picture), slope: Self.slope,
            memory: targets.framesPerSecond * (targets.isConstant ? 4 : 60))
        var isBroken = targets.maxPictureBits.map { bits > $0 } ?? false
        for index in windows.indices where !windows[index].add(bits + filler) { isBroken = true }
        if !buffer.remove(bits: bits + filler) { isBroken = true }
        if isBroken { violationCount += 1 }
        account += Double(bits + filler) - perPicture
        // Bits that a quality target leaves unused are kept for at most a minute.
        if case .quality = targets.aim { account = max(account, -60 * Double(targets.bitrate)) }
        if targets.isConstant {
            let home = Double(min(targets.initialFullness, targets.bufferSize))
            let step = perPicture * 0.02
            setpoint += min(max(home - setpoint, -step), step)
        }
    }

    private mutating func pay() {
        debt -= debt / Double(repayment)
        repayment = max(repayment - 1, 1)
    }

    /// Applies new targets from the next planned picture on. If the rate changes, the account restarts at 0. The bits
    /// in the buffer stay.
    package mutating func change(_ new: RateTargets) {
        let old = targets
        targets = new
        let rateChanged = new.bitrate != old.bitrate || new.frameRate != old.frameRate
        if rateChanged {
            steady.scale(rate: new.bitsPerFrame / max(old.bitsPerFrame, 1e-9))
            account = 0
            debt = 0
            repayment = 1
            mayJump = true
        }
        buffer.change(rate: new.maxBitrate, size: new.bufferSize, frameRate: new.frameRate)
        if rateChanged { setpoint = Double(buffer.fullness) }
        windows = new.windows.enumerated().map { index, limit in
            var window = SlidingWindow(limit: limit.bits, count: new.count(of: limit))
            // The pictures so far kept to the old limit. A lower limit counts from here on.
            if index < windows.count, limit.bits >= windows[index].limit { window.takeOver(windows[index]) }
            return window
        }
    }
}
