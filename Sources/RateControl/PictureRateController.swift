internal import Glibc
package import VideoBase

/// What is known of a picture before it is coded.
package struct RatePicture: Sendable, Hashable {
    package var type: PictureType
    /// In a pyramid of B pictures.
    package var depth: Int
    package var temporalLayer: Int
    /// Pictures in coding order from this one to the next intra picture, at least 1; nil: none is foreseen.
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

/// Chooses each picture's QP so that the stream keeps its rate: vaenc's own CBR and VBR, over constant QP.
///
/// A value without clocks or devices. `plan` is called for each picture in coding order; `finished` in the same order
/// with the picture's size, at once or some pictures later: what is under way counts with what it is expected to take.
///
/// The rate is held by an account of bits spent over the target. What an intra picture (or a scene's first) takes more
/// than the mean is a debt that the pictures up to the next one pay back in equal parts, so that it moves no QP; the
/// rest of the account moves the QP over a time of its own. Then the pictures to come are simulated against the
/// buffer, the windows and the largest picture, and the QP is raised until they fit.
package struct PictureRateController: Sendable {
    /// A planned picture whose size is not known.
    struct Pending: Sendable {
        var picture: RatePicture
        var qp: Int
        var expectedBits: Double
        /// The most bits that leave the following pictures enough.
        var ceiling: Int
        /// The same where another scene has begun, harder than the last.
        var ceilingAtCut: Int
        /// Times that it was encoded again because it took far more than foreseen.
        var timesSurprised = 0
        /// Its last attempt that did not stand.
        var lastAttempt: (qp: Int, bits: Int)?
        /// Times that it was encoded again because it was larger than the largest picture.
        var timesBounded = 0

        func ceiling(for bits: Int) -> Int { Double(bits) > 3 * expectedBits ? ceilingAtCut : ceiling }
    }

    package enum Verdict: Sendable, Hashable {
        /// The picture stands; so many bits must be added to it so that the buffer does not overflow.
        case accepted(fillerBits: Int)
        /// The picture breaks a limit: with this QP it should fit. It stays the next to finish.
        case encodeAgain(qp: Int)
    }

    package private(set) var targets: RateTargets
    package private(set) var buffer: CodedPictureBuffer
    /// Pictures that broke a limit and stand all the same.
    package private(set) var violationCount = 0
    /// Pictures that were encoded again.
    package private(set) var repeatCount = 0

    var model: BitModel
    var windows: [SlidingWindow]
    var pending: [Pending] = []
    /// Bits spent over the target, in VBR.
    var account = 0.0
    /// What of the account (or of the buffer) intra pictures took beyond the mean and later ones pay back.
    var debt = 0.0
    /// Pictures over which `debt` is paid back, at least 1.
    var repayment = 1
    /// CBR: the fullness that the buffer is led to; comes back slowly to where it began after a change.
    var setpoint: Double
    /// The last P picture's QP before rounding.
    var baseQP: Double?
    /// From an intra picture to the next, as far as it is known.
    var intraPeriod: Int?
    /// What rounding took from the QPs so far.
    var roundingError = 0.0
    /// The next QP may be anywhere: nothing came before, or the rate has changed.
    var mayJump = true
    /// The base QP of the last picture where the largest picture keeps them coarse, and by how much finer the next one may be:
    /// pictures much finer than what they predict from take as much as intra ones, and would not fit either. Of B pictures, and of
    /// others.
    var bounded: [Bool: (qp: Double, step: Double)] = [:]
    let offsets: [Double]
    var steady = SteadyQP()

    package init(_ targets: RateTargets) {
        self.targets = targets
        buffer = CodedPictureBuffer(
            rate: targets.maxBitrate, size: targets.bufferSize, initialFullness: targets.initialFullness,
            frameRate: targets.frameRate, isConstant: targets.isConstant, leastFillerBytes: targets.leastFillerBytes)
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

    /// The next picture's QP.
    package mutating func plan(_ picture: RatePicture) -> Int {
        if picture.isIntra { intraPeriod = picture.distanceToIntra }
        // The model's first guess is of natural pictures.
        steady.begin(guess: equalQP(picture.isIntra && picture.distanceToIntra != 1 ? RatePicture(type: .p) : picture), slope: Self.slope, count: targets.framesPerSecond)
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

    /// The size of the first picture that was planned and has not finished.
    ///
    /// - Parameters:
    ///   - bits: of the whole access unit.
    ///   - canRepeat: nothing has been submitted since, so that the picture can still be encoded again.
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

    /// Forgets the pictures under way, as after a fault: they will be planned anew.
    package mutating func forgetPending() { pending.removeAll() }

    private func offset(_ picture: RatePicture) -> Double {
        Double(targets.offsets.offset(picture.type, depth: picture.depth, layer: picture.temporalLayer))
    }

    /// The QP to encode a picture with again; nil where it can stand. Counts why.
    private mutating func betterQP(_ done: Pending, bits: Int) -> Int? {
        let limit = targets.qpRange.upperBound
        guard done.qp < limit else { return nil }
        let ceiling = done.ceiling(for: bits)
        let isBounded = targets.maxPictureBits.map { bits > $0 } ?? false
        // A largest picture near the mean one leaves no picture more than its share: none surprises.
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
        // One that is finer than what it predicts from loses bits fast, a scene's first slowly.
        let isFine = !done.picture.isIntra && done.timesBounded == 1 && Double(bits) < 4 * done.expectedBits
        let excess = Double(bits) / max(Double(done.ceiling(for: bits)) * (isFine ? 0.95 : 0.85), 64)
        let slope: Double =
            if isFine { 2 } else if done.timesBounded > 0, boundIsTight {
                done.timesBounded > 2 ? 0.6 : BitModel.slope(done.picture.kind)
            } else { slope(done, bits: bits, ofScene: 1) }
        let steps = (6 / slope * BitModel.octaves(excess)).rounded(.up)
        return done.qp + max(Int(min(steps, 64)), isFine ? 1 : 2)
    }

    /// By which a higher QP lowers the picture's bits, in octaves for six steps: as seen where it was encoded twice;
    /// else as other pictures do, or `ofScene` where another scene begins.
    private func slope(_ done: Pending, bits: Int, ofScene: Double) -> Double {
        let kind = done.picture.kind
        if let last = done.lastAttempt, last.qp < done.qp, last.bits > 0 {
            let seen = 6 * log2(Double(last.bits) / Double(max(bits, 1))) / Double(done.qp - last.qp)
            return min(max(seen, 0.4), 2)
        }
        let isScene = Double(bits) > 2 * model.bits(kind, qp: Double(done.qp))
        return isScene ? ofScene : BitModel.slope(kind)
    }

    /// The QP to encode a picture with again that took far more than foreseen, as the first of another scene does: it
    /// must leave something for the pictures after it, which are as hard. nil where it is no surprise.
    private func surprise(_ done: Pending, bits: Int) -> Int? {
        let kind = done.picture.kind
        let limit = targets.qpRange.upperBound
        let expected = model.bits(kind, qp: Double(done.qp))
        // CBR leaves no reserve for the pictures after it, and so comes nearer to what fits.
        let attempts = targets.isConstant ? 3 : 2
        guard done.timesSurprised < attempts, Double(bits) > 1.5 * targets.bitsPerFrame, Double(bits) > 1.25 * expected else {
            return nil
        }
        var alone = self
        alone.pending.removeAll()
        let lookahead = BufferLookahead(alone)
        // One that is only harder must fit; one that begins a scene is not finer than others that did.
        let isScene = Double(bits) > 2 * expected
        let typical = isScene ? steady.typical(slope: Self.slope) + offset(done.picture) : Double(done.qp)
        let ofScene = BitModel.slope(BitModel.Kind.intra)
        let slope = max(slope(done, bits: bits, ofScene: ofScene), ofScene)
        var qp = done.qp
        while qp < limit {
            let own = Double(bits) * exp2(-slope * Double(qp - done.qp) / 6)
            if Double(qp) >= typical.rounded(), lookahead.fits(done.picture, qp: qp, own: own) { break }
            qp += 1
        }
        return qp >= done.qp + 2 ? qp : nil
    }

    /// Books a picture that stands.
    private mutating func settle(_ done: Pending, bits: Int, filler: Int) {
        let kind = done.picture.kind
        let perPicture = targets.bitsPerFrame
        // What a picture takes beyond its share is planned where it is intra, and the best guess of what happened
        // where it took far more than foreseen.
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
        // What a quality leaves of the rate is kept for a minute.
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

    /// From the next picture planned on. The account begins anew; what is in the buffer stays.
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
            // The pictures so far kept to the old limit: a lower one counts from here on.
            if index < windows.count, limit.bits >= windows[index].limit { window.takeOver(windows[index]) }
            return window
        }
    }
}
