internal import Glibc

/// Chooses QPs so that a stream keeps to its rate and a decoder's buffer, one controller to a stream.
///
/// The model: a picture of a kind takes X·2^(−QP/6) bits, X learnt from the pictures before. A base QP follows from the
/// mix of kinds, so that the average picture takes its share, corrected by what was saved or overspent; kinds keep a
/// distance from it. A picture that would break a limit is encoded again with a higher QP.
struct RateController: Sendable {
    /// Encodes of one picture, at most.
    static let maximumTries = 6

    private var settings: RateSettings
    private var buffer: DecoderBuffer
    /// The fullness that CBR leads the buffer to: after a change of rate what it is then, and from there slowly back to
    /// `restingFullness`. nil: there.
    private var home: Double?
    /// nil where the mode or the client names none.
    private var window: RateWindow?
    private var layers: [RateLayer]
    /// The picture being coded.
    private var picture: RatedPicture
    private var tries = 0
    private var lowestQP = 0
    /// The base QP of the last picture where the largest picture keeps them coarse, and by how much finer the next one may be:
    /// pictures much finer than what they predict from take as much as intra ones, and would not fit either. Of I and P pictures,
    /// and of others.
    private var bounded: [Bool: (qp: Double, step: Double)] = [:]
    /// In coding order.
    private var picturesSinceIntra = 0
    /// Times that the picture being coded was larger than the largest picture.
    private var timesBounded = 0

    /// Before the stream's first picture.
    init(_ first: RatedPicture) {
        settings = first.settings
        picture = first
        buffer = Self.buffer(first.settings)
        window = Self.window(first.settings)
        layers = first.settings.layers.indices.map { _ in RateLayer(first.settings) }
    }

    private static func buffer(_ settings: RateSettings) -> DecoderBuffer {
        let size = Self.bufferBits(settings)
        return DecoderBuffer(
            size: size, fullness: settings.initialFullness.map(Double.init) ?? size * 0.75, arrival: arrival(settings),
            mostDebt: mostDebt(settings))
    }

    /// VAEncMiscParameterRateControl's window_size: in no such time are there more bits than at the highest rate.
    private static func window(_ settings: RateSettings) -> RateWindow? {
        guard settings.mode == .variableBitRate || settings.mode == .qualityVariableBitRate, settings.window > 0,
            settings.layers.count == 1
        else { return nil }
        let seconds = Double(settings.window) / 1000
        let count = (seconds * settings.stream.framesPerSecond - 1e-6).rounded(.up)
        // Below a frame a second, a second would hold less than a picture.
        let limit = max(seconds, 1 / settings.stream.framesPerSecond) * Double(settings.stream.maximumBitRate)
        return RateWindow(limit: limit, count: Int(min(max(count, 1), 600)))
    }

    private static func bufferBits(_ settings: RateSettings) -> Double {
        settings.bufferBits > 0 ? Double(settings.bufferBits) : Double(settings.stream.maximumBitRate)
    }

    private static func arrival(_ settings: RateSettings) -> Double {
        let rate = settings.stream
        // CBR takes the whole rate, whatever the target says.
        return Double(rate.maximumBitRate) / rate.framesPerSecond
    }

    /// Ten seconds' bits.
    private static func mostDebt(_ settings: RateSettings) -> Double { 10 * Double(settings.stream.maximumBitRate) }

    /// Modes that a decoder's buffer limits.
    private var hasBuffer: Bool {
        switch settings.mode {
        case .constantBitRate, .variableBitRate, .qualityVariableBitRate, .targetFrameSize: true
        case .constantQuality, .averageBitRate: false
        }
    }

    // MARK: Before a picture

    /// The QP to encode a picture with.
    mutating func begin(_ next: RatedPicture) -> Int {
        picture = next
        tries = 0
        timesBounded = 0
        adopt(next.settings)
        for _ in 0..<next.skippedPictures { buffer.remove(0) }
        if next.skippedBits > 0 { buffer.remove(Double(next.skippedBits) - buffer.arrival) }
        let layer = min(next.layer, layers.count - 1)
        picture.layer = layer
        layers[layer].count(next.kind)
        picturesSinceIntra = next.kind == .intra ? 0 : picturesSinceIntra + 1
        let free = wantedQP()
        let qp = kept(free)
        if qp == free { bounded[leadsOthers] = nil }
        lowestQP = qp
        return qp
    }

    /// Takes over what changed; the stream goes on.
    private mutating func adopt(_ new: RateSettings) {
        guard new != settings else { return }
        let old = settings
        settings = new
        if new.resets != old.resets || new.mode != old.mode {
            buffer = Self.buffer(new)
            window = Self.window(new)
            layers = new.layers.indices.map { _ in RateLayer(new) }
            home = nil
            return
        }
        let scale = new.bufferBits == 0 ? Self.bufferBits(new) / Self.bufferBits(old) : 1
        buffer.change(size: Self.bufferBits(new), arrival: Self.arrival(new), mostDebt: Self.mostDebt(new), scale: scale)
        if let wanted = Self.window(new), window != nil {
            window?.change(limit: wanted.limit, count: wanted.count)
        } else {
            window = Self.window(new)
        }
        if new.layers.count != layers.count {
            layers = new.layers.indices.map { $0 < layers.count ? layers[$0] : RateLayer(new) }
        }
        if !new.isNear(old) {
            // Savings and debts were the old rate's.
            for index in layers.indices { layers[index].forgetSurplus() }
            home = max(buffer.fullness, 0)
        }
    }

    /// The picture is of those whose quality the others follow.
    private var leadsOthers: Bool { picture.kind == .intra || picture.kind == .predicted }

    /// Not below what `bounded` says.
    private func kept(_ qp: Int) -> Int {
        guard let last = bounded[leadsOthers] else { return qp }
        return max(qp, limited(Int((last.qp - last.step + RateLayer.offset(picture.kind)).rounded())))
    }

    private func limited(_ qp: Int) -> Int { min(max(qp, settings.minimumQP), settings.maximumQP) }

    private mutating func wantedQP() -> Int {
        let kind = picture.kind
        if settings.mode == .constantQuality {
            return limited(settings.quality + Int(RateLayer.offset(kind).rounded()))
        }
        if settings.initialQP > 0, !layers[picture.layer].hasHistory { return limited(settings.initialQP) }
        let share = settings.bitsPerPicture(layer: picture.layer)
        var wanted = layers[picture.layer].steadyQP(
            kind, bitsPerPicture: share, correction: correction(share), samples: picture.samples)
        if settings.mode == .targetFrameSize, settings.targetFrameBits > 0 {
            wanted = layers[picture.layer].qp(kind, forBits: Double(settings.targetFrameBits))
        }
        if settings.mode == .qualityVariableBitRate {
            wanted = max(wanted, Double(settings.quality) + RateLayer.offset(kind))
        }
        if hasBuffer {
            let most = kind == .intra ? max(buffer.fullness - 0.1 * buffer.size, 0.5 * buffer.fullness) : 0.5 * buffer.fullness
            wanted = max(wanted, layers[picture.layer].qp(kind, forBits: most))
            let level = buffer.fullness - leastFullness * buffer.size
            wanted = max(
                wanted,
                layers[picture.layer].qp(
                    kind, meanBits: buffer.arrival + level / (0.5 * settings.stream.framesPerSecond)))
            if settings.mode == .constantBitRate {
                // Rather better pictures than filler. The model does not reach far for pictures that no other refers to:
                // all but skipped they take a few bytes, and far below that QP hundreds of times more, for nothing.
                let least = buffer.fullness + buffer.arrival - buffer.size
                if least > 0 {
                    let better = layers[picture.layer].qp(kind, forBits: least)
                    wanted = min(wanted, kind == .disposable ? max(better, wanted - Self.mostStepsToFill) : better)
                }
            }
        }
        if let window {
            wanted = max(wanted, layers[picture.layer].qp(kind, within: outlook(window, isSpike: picture.kind == .intra)))
        }
        if settings.maximumFrameBits > 0 {
            wanted = max(wanted, layers[picture.layer].qp(kind, forBits: 0.9 * Double(settings.maximumFrameBits)))
        }
        return limited(Int(min(max(wanted, 0), 60).rounded()))
    }

    /// How far the QP of a picture that no other refers to goes down at once for the buffer not to overflow.
    private static var mostStepsToFill: Double { 6 }

    /// The share of the buffer that is left in it for what is harder than foreseen; less where it evens out the rate.
    private var leastFullness: Double { settings.mode == .constantBitRate ? 0.2 : 0.3 }

    /// The share of a window that is kept for what estimates are wrong by.
    private static var windowReserve: Double { 0.04 }

    /// What the next pictures may take of a window: some of it is left for the first picture of another scene, the more the
    /// further ahead. Where the rate aimed at is near the highest, less can be left.
    ///
    /// - Parameter isSpike: the picture takes more than those after it, which need room at once.
    private func outlook(_ window: RateWindow, isSpike: Bool) -> RateOutlook {
        let headroom = 1 - Double(settings.stream.targetPercentage) / 100
        let first = max(min(isSpike ? 0.08 : 0.05, 0.24 * headroom), Self.windowReserve)
        let last = max(min(0.2, 0.6 * headroom), Self.windowReserve)
        let rooms = window.rooms.enumerated().map { count, room in
            room - (first + (last - first) * min(Double(count) / Self.pacedPictures, 1)) * window.limit
        }
        let distance = settings.intraPeriod - picturesSinceIntra
        return RateOutlook(
            rooms: rooms, nextIntra: distance > 0 && settings.intraPeriod > 1 ? distance : nil, intraPeriod: settings.intraPeriod)
    }

    /// Pictures after which the whole reserve is left.
    private static var pacedPictures: Double { 12 }

    /// How much more than its share the average picture may take now, as a factor.
    private func correction(_ share: Double) -> Double {
        let layer = layers[picture.layer]
        let rate = settings.stream.framesPerSecond
        let saved = layer.surplus
        var pictures: Double
        switch settings.mode {
        case .constantBitRate, .targetFrameSize:
            let seconds = buffer.size / Double(settings.stream.maximumBitRate)
            pictures = min(max(seconds * rate, 2), 3 * rate)
            if layers.count == 1 {
                // What is saved for the next I picture must have room in the buffer.
                let room = Self.mostFullness * buffer.size - (home ?? restingFullness)
                return corrected(
                    buffer.fullness - (home ?? restingFullness) + max(layer.cycle, min(-room, 0)), share * pictures)
            }
        case .averageBitRate:
            pictures = settings.window > 0 ? Double(settings.window) : 4 * rate
            pictures = min(max(pictures, rate), 4 * rate)
        case .variableBitRate, .qualityVariableBitRate, .constantQuality:
            pictures = min(max(4 * Double(settings.window) / 1000, 3), 8) * rate
        }
        return corrected(saved + layer.cycle, share * pictures)
    }

    /// Pictures by which the steady QP is found.
    private var memory: Double { (settings.mode == .constantBitRate ? 4 : 60) * settings.stream.framesPerSecond }

    private func corrected(_ saved: Double, _ due: Double) -> Double { min(max(1 + saved / due, 0.4), 2.5) }

    /// The share of the buffer that CBR fills at most for an I picture to come.
    private static var mostFullness: Double { 0.8 }

    private var restingFullness: Double {
        let initial = settings.initialFullness.map(Double.init) ?? 0.75 * buffer.size
        return min(max(initial, 0.5 * buffer.size), 0.75 * buffer.size)
    }

    // MARK: After a picture

    /// The QP to encode the picture with again, `bits` at `qp` being too many, or far from what a first picture may
    /// take; nil where it is to be kept.
    mutating func retry(bits: Int, qp: Int) -> Int? {
        tries += 1
        guard tries < Self.maximumTries else { return nil }
        let size = Double(max(bits, 1))
        if let most = mostBits, size > most {
            guard qp < settings.maximumQP else { return nil }
            if settings.maximumFrameBits > 0, bits > settings.maximumFrameBits { timesBounded += 1 }
            // One that is finer than what it predicts from loses bits fast.
            let isFine = picture.kind != .intra && (1...3).contains(timesBounded)
            let steps = ((isFine ? 3 : 6) * log2(size / max((isFine ? 0.95 : 0.9) * most, 1))).rounded(.up)
            lowestQP = min(qp + max(1, Int(min(steps, 51))), settings.maximumQP)
            return lowestQP
        }
        if let wanted = surprise(bits: size, qp: qp) {
            lowestQP = wanted
            return wanted
        }
        guard settings.mode != .constantQuality, !layers[picture.layer].knows(picture.kind) else {
            return nil
        }
        // Nothing was known of this kind of picture: now that it is, the share decides.
        let isGiven = settings.initialQP > 0 && !layers[picture.layer].hasHistory
        layers[picture.layer].learn(picture.kind, bits: size, qp: qp, intraShare: 0)
        let wanted = kept(max(wantedQP(), lowestQP - 15))
        return isGiven || abs(wanted - qp) < 4 ? nil : wanted
    }

    /// The QP to encode a picture with again that took far more than foreseen, as the first of another scene does: it
    /// must leave something for the pictures after it, which are as hard. nil where it is no surprise.
    private func surprise(bits: Double, qp: Int) -> Int? {
        let layer = layers[picture.layer]
        let share = settings.bitsPerPicture(layer: picture.layer)
        let expected = layer.bits(picture.kind, qp: qp)
        guard settings.mode != .constantQuality, settings.mode != .targetFrameSize, expected > 0, bits > 1.5 * share,
            bits > 1.25 * expected
        else { return nil }
        // One that is only harder must fit; one that begins a scene is not finer than others that did.
        var wanted = bits > 2 * expected ? layer.typicalQP(picture.kind, bitsPerPicture: share) : Double(qp)
        var most = Double.infinity
        if hasBuffer { most = min(most, Self.surpriseShare * buffer.fullness) }
        wanted = max(wanted, Double(qp) + 6 * log2(bits / max(most, 1)))
        if let window {
            wanted = max(wanted, layer.qp(picture.kind, within: outlook(window, isSpike: true), seen: (bits, qp)))
        }
        let limited = limited(Int(wanted.rounded()))
        return limited >= qp + 2 ? limited : nil
    }

    /// The share of what is there that a picture may take which is harder than foreseen.
    private static var surpriseShare: Double { 0.6 }

    /// What the picture may take at most.
    private var mostBits: Double? {
        var limits: [Double] = []
        if settings.maximumFrameBits > 0 { limits.append(Double(settings.maximumFrameBits)) }
        // A little is kept for the pictures after.
        if hasBuffer { limits.append(0.93 * buffer.fullness) }
        if let window { limits.append(window.rooms[0] - Self.windowReserve / 2 * window.limit) }
        return limits.min()
    }

    /// Whether a picture of `bits` breaks the decoder's buffer.
    func overruns(bits: Int) -> Bool { hasBuffer && Double(bits) > buffer.fullness }

    /// Bytes of filler that must follow the picture of `bits`.
    func fillerBytes(bits: Int) -> Int {
        guard settings.mode == .constantBitRate, settings.stuffs else { return 0 }
        let missing = buffer.missing(after: Double(bits))
        return missing > 0 ? Int((missing / 8).rounded(.up)) : 0
    }

    /// Ends a picture of `bits` at `qp`, to which `filler` bits were added; `intraShare` of its macroblocks are intra.
    mutating func end(bits: Int, filler: Int, qp: Int, intraShare: Double) {
        let share = settings.bitsPerPicture(layer: picture.layer)
        let limit = share * settings.stream.framesPerSecond * 4
        layers[picture.layer].spend(
            picture.kind, bits: Double(bits + filler), share: share, limit: limit)
        let expected = layers[picture.layer].bits(picture.kind, qp: qp)
        if picture.kind != .intra, expected > 0, Double(bits) > 3 * expected, Double(bits) > 2 * share {
            layers[picture.layer].beginScene(bits: Double(bits), qp: qp)
        }
        layers[picture.layer].learn(picture.kind, bits: Double(bits), qp: qp, intraShare: intraShare)
        if timesBounded > 0 || bounded[leadsOthers] != nil, settings.maximumFrameBits > 0 {
            let octaves = log2(0.9 * Double(settings.maximumFrameBits) / Double(max(bits, 1)))
            bounded[leadsOthers] = (
                qp: Double(qp) - max(RateLayer.offset(picture.kind), 0),
                step: picture.kind == .intra ? 1.5 : min(max(3 * octaves, 1), 8)
            )
        }
        layers[picture.layer].remember(memory, samples: picture.samples, guess: settings.stream.framesPerSecond)
        buffer.remove(Double(bits + filler))
        window?.add(Double(bits + filler))
        if let home {
            let step = 0.01 * share
            let rest = restingFullness - home
            self.home = abs(rest) <= step ? nil : home + (rest < 0 ? -step : step)
        }
    }
}
