internal import Glibc

/// Chooses the QPs of one stream so that the stream keeps its bit rate and a decoder's buffer does not underflow.
///
/// The model: a picture takes X·2^(−QP/6) bits. X depends on the kind and is learned from earlier pictures. The base QP
/// is the QP at which the average picture takes its share of the bit rate, corrected by the bits that earlier pictures
/// took less or more. The QP of each kind has a fixed offset from the base QP. A picture that would break a limit is
/// encoded again with a higher QP.
struct RateController: Sendable {
    /// The maximum number of encoding passes for one picture.
    static let maximumTries = 6

    private var settings: RateSettings
    private var buffer: DecoderBuffer
    /// The target fullness of the buffer in CBR after a change of the rate. It begins with the fullness at the change
    /// and slowly returns to `restingFullness`. nil: the target is `restingFullness`.
    private var targetFullness: Double?
    /// The rate window; nil if the mode has none or the client did not set one.
    private var window: RateWindow?
    private var layers: [RateLayer]
    /// The current picture.
    private var picture: RatedPicture
    /// The number of encoding passes of the current picture so far.
    private var tries = 0
    /// The first QP of the current picture, or the last QP that a limit required. The QP of a pass that uses the
    /// learned cost is at most 15 lower.
    private var lowestQP = 0
    /// The base QP of the last picture whose QP was limited by the maximum frame size, and by how much the next QP may
    /// be lower. The key is whether the picture is an I or P picture (`leadsOthers`).
    ///
    /// If the QP of a picture is much lower than that of its references, the picture takes as many bits as an intra
    /// picture and does not fit either.
    private var sizeBounds: [Bool: (qp: Double, step: Double)] = [:]
    /// The number of pictures since the last I picture, in coding order.
    private var picturesSinceIntra = 0
    /// The number of passes in which the current picture exceeded the maximum frame size.
    private var oversizedPasses = 0

    /// Makes a controller for a stream that begins with the picture `first`.
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
            maximumDebt: maximumDebt(settings))
    }

    /// Returns the window for window_size of VAEncMiscParameterRateControl. In any interval of this length, the stream
    /// must not exceed the maximum bit rate.
    private static func window(_ settings: RateSettings) -> RateWindow? {
        guard settings.mode == .variableBitRate || settings.mode == .qualityVariableBitRate, settings.window > 0,
            settings.layers.count == 1
        else { return nil }
        let seconds = Double(settings.window) / 1000
        let count = (seconds * settings.stream.framesPerSecond - 1e-6).rounded(.up)
        // At less than one frame per second, the window would allow less than one picture.
        let limit = max(seconds, 1 / settings.stream.framesPerSecond) * Double(settings.stream.maximumBitRate)
        return RateWindow(limit: limit, count: Int(min(max(count, 1), 600)))
    }

    private static func bufferBits(_ settings: RateSettings) -> Double {
        settings.bufferBits > 0 ? Double(settings.bufferBits) : Double(settings.stream.maximumBitRate)
    }

    private static func arrival(_ settings: RateSettings) -> Double {
        let rate = settings.stream
        // The buffer fills at the maximum bit rate. The target percentage does not change this.
        return Double(rate.maximumBitRate) / rate.framesPerSecond
    }

    /// Returns the maximum number of missing bits in the buffer model: ten seconds at the maximum bit rate.
    private static func maximumDebt(_ settings: RateSettings) -> Double { 10 * Double(settings.stream.maximumBitRate) }

    /// Whether the mode obeys the limits of a decoder's buffer.
    private var hasBuffer: Bool {
        switch settings.mode {
        case .constantBitRate, .variableBitRate, .qualityVariableBitRate, .targetFrameSize: true
        case .constantQuality, .averageBitRate: false
        }
    }

    // MARK: Before a picture

    /// Begins a picture and returns the QP for its first pass.
    mutating func begin(_ next: RatedPicture) -> Int {
        picture = next
        tries = 0
        oversizedPasses = 0
        adopt(next.settings)
        for _ in 0..<next.skippedPictures { buffer.remove(0) }
        if next.skippedBits > 0 { buffer.remove(Double(next.skippedBits) - buffer.arrival) }
        let layer = min(next.layer, layers.count - 1)
        picture.layer = layer
        layers[layer].count(next.kind)
        picturesSinceIntra = next.kind == .intra ? 0 : picturesSinceIntra + 1
        let free = targetQP()
        let qp = raisedToBound(free)
        if qp == free { sizeBounds[leadsOthers] = nil }
        lowestQP = qp
        return qp
    }

    /// Applies changed settings. The history of the stream remains, unless the client requests a reset or changes the
    /// mode.
    private mutating func adopt(_ new: RateSettings) {
        guard new != settings else { return }
        let old = settings
        settings = new
        if new.resets != old.resets || new.mode != old.mode {
            buffer = Self.buffer(new)
            window = Self.window(new)
            layers = new.layers.indices.map { _ in RateLayer(new) }
            targetFullness = nil
            return
        }
        let scale = new.bufferBits == 0 ? Self.bufferBits(new) / Self.bufferBits(old) : 1
        buffer.change(
            size: Self.bufferBits(new), arrival: Self.arrival(new), maximumDebt: Self.maximumDebt(new), scale: scale)
        if let wanted = Self.window(new), window != nil {
            window?.change(limit: wanted.limit, count: wanted.count)
        } else {
            window = Self.window(new)
        }
        if new.layers.count != layers.count {
            layers = new.layers.indices.map { $0 < layers.count ? layers[$0] : RateLayer(new) }
        }
        if !new.isNear(old) {
            // The saved or missing bits refer to the old rate.
            for index in layers.indices { layers[index].resetSurplus() }
            targetFullness = max(buffer.fullness, 0)
        }
    }

    /// Whether the current picture is an I or P picture, whose quality determines that of the other pictures.
    private var leadsOthers: Bool { picture.kind == .intra || picture.kind == .predicted }

    /// Returns `qp`, raised to the lower bound from `sizeBounds` if there is one.
    private func raisedToBound(_ qp: Int) -> Int {
        guard let last = sizeBounds[leadsOthers] else { return qp }
        return max(qp, limited(Int((last.qp - last.step + RateLayer.offset(picture.kind)).rounded())))
    }

    private func limited(_ qp: Int) -> Int { min(max(qp, settings.minimumQP), settings.maximumQP) }

    private mutating func targetQP() -> Int {
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
            let level = buffer.fullness - minimumFullness * buffer.size
            wanted = max(
                wanted,
                layers[picture.layer].qp(
                    kind, meanBits: buffer.arrival + level / (0.5 * settings.stream.framesPerSecond)))
            if settings.mode == .constantBitRate {
                // Better pictures are preferred to filler data. The model is not valid over a large QP range for
                // disposable pictures: nearly all skipped, they take a few bytes, but at a much lower QP hundreds of
                // times more, without a visible gain.
                let least = buffer.fullness + buffer.arrival - buffer.size
                if least > 0 {
                    let better = layers[picture.layer].qp(kind, forBits: least)
                    wanted = min(wanted, kind == .disposable ? max(better, wanted - Self.maximumStepsToFill) : better)
                }
            }
        }
        if let window {
            wanted = max(wanted, layers[picture.layer].qp(kind, within: outlook(window, isSpike: picture.kind == .intra)))
        }
        if let largest = largestPicture {
            wanted = max(wanted, layers[picture.layer].qp(kind, forBits: 0.9 * largest))
        }
        return limited(Int(min(max(wanted, 0), 60).rounded()))
    }

    /// The maximum number of QP steps by which the QP of a disposable picture is lowered at once to prevent a buffer
    /// overflow.
    private static var maximumStepsToFill: Double { 6 }

    /// The share of the buffer that is reserved for pictures that cost more than expected. It is smaller in CBR, where
    /// the buffer must also compensate differences in picture size.
    private var minimumFullness: Double { settings.mode == .constantBitRate ? 0.2 : 0.3 }

    /// The share of the window that is reserved for estimation errors.
    private static var windowReserve: Double { 0.04 }

    /// Returns the limits of the window for the next pictures.
    ///
    /// A reserve remains for the first picture of a new scene. It is larger for later pictures, and smaller if the
    /// target bit rate is close to the maximum.
    ///
    /// - Parameter isSpike: whether the picture takes more bits than the following ones, which therefore need a larger
    ///   reserve.
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

    /// The number of pictures over which the reserve grows to its full size.
    private static var pacedPictures: Double { 12 }

    /// Returns the factor by which the average picture may currently take more than `share`.
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
                // The bits that are saved for the next I picture must fit the buffer.
                let room = Self.maximumFullness * buffer.size - (targetFullness ?? restingFullness)
                return corrected(
                    buffer.fullness - (targetFullness ?? restingFullness) + max(layer.cycle, min(-room, 0)),
                    share * pictures)
            }
        case .averageBitRate:
            pictures = settings.window > 0 ? Double(settings.window) : 4 * rate
            pictures = min(max(pictures, rate), 4 * rate)
        case .variableBitRate, .qualityVariableBitRate, .constantQuality:
            pictures = min(max(4 * Double(settings.window) / 1000, 3), 8) * rate
        }
        return corrected(saved + layer.cycle, share * pictures)
    }

    /// The number of pictures over which the steady QP is averaged.
    private var memory: Double { (settings.mode == .constantBitRate ? 4 : 60) * settings.stream.framesPerSecond }

    private func corrected(_ saved: Double, _ due: Double) -> Double { min(max(1 + saved / due, 0.4), 2.5) }

    /// The maximum share of the buffer that CBR fills to save bits for the next I picture.
    private static var maximumFullness: Double { 0.8 }

    private var restingFullness: Double {
        let initial = settings.initialFullness.map(Double.init) ?? 0.75 * buffer.size
        return min(max(initial, 0.5 * buffer.size), 0.75 * buffer.size)
    }

    // MARK: After a picture

    /// Returns the QP for another pass if the picture with `bits` at `qp` exceeds a limit, or if the first picture of
    /// its kind is far from its share. Returns nil if the picture is accepted.
    mutating func retry(bits: Int, qp: Int) -> Int? {
        tries += 1
        guard tries < Self.maximumTries else { return nil }
        let size = Double(max(bits, 1))
        if let most = maximumBits, size > most {
            guard qp < settings.maximumQP else { return nil }
            if settings.maximumFrameBits > 0, bits > settings.maximumFrameBits { oversizedPasses += 1 }
            // If the QP is lower than that of the references, the bits fall faster with a rising QP.
            let isFine = picture.kind != .intra && (1...3).contains(oversizedPasses)
            let steps = ((isFine ? 3 : 6) * log2(size / max((isFine ? 0.95 : 0.9) * most, 1))).rounded(.up)
            lowestQP = min(qp + max(1, Int(min(steps, 51))), settings.maximumQP)
            return lowestQP
        }
        if let wanted = unexpectedCostQP(bits: size, qp: qp) {
            lowestQP = wanted
            return wanted
        }
        guard settings.mode != .constantQuality, !layers[picture.layer].hasCost(picture.kind) else {
            return nil
        }
        // This is the first picture of its kind. Now that its cost is known, the QP is computed again.
        let isGiven = settings.initialQP > 0 && !layers[picture.layer].hasHistory
        layers[picture.layer].learn(picture.kind, bits: size, qp: qp, intraShare: 0)
        let wanted = raisedToBound(max(targetQP(), lowestQP - 15))
        return isGiven || abs(wanted - qp) < 4 ? nil : wanted
    }

    /// Returns the QP for another pass if a picture took far more bits than expected, as the first picture of a new
    /// scene does. It must leave bits for the following pictures, which cost as much. Returns nil if the picture is
    /// accepted.
    private func unexpectedCostQP(bits: Double, qp: Int) -> Int? {
        let layer = layers[picture.layer]
        let share = settings.bitsPerPicture(layer: picture.layer)
        let expected = layer.bits(picture.kind, qp: qp)
        guard settings.mode != .constantQuality, settings.mode != .targetFrameSize, expected > 0, bits > 1.5 * share,
            bits > 1.25 * expected
        else { return nil }
        // A picture that is only costlier must fit the limits. A picture that begins a scene also gets at least the QP
        // of the stream's typical pictures.
        var wanted = bits > 2 * expected ? layer.typicalQP(picture.kind, bitsPerPicture: share) : Double(qp)
        var most = Double.infinity
        if hasBuffer { most = min(most, Self.unexpectedShare * buffer.fullness) }
        wanted = max(wanted, Double(qp) + 6 * log2(bits / max(most, 1)))
        if let window {
            wanted = max(wanted, layer.qp(picture.kind, within: outlook(window, isSpike: true), seen: (bits, qp)))
        }
        let limited = limited(Int(wanted.rounded()))
        return limited >= qp + 2 ? limited : nil
    }

    /// The share of the bits in the buffer that a picture with an unexpected cost may take.
    private static var unexpectedShare: Double { 0.6 }

    /// The maximum size of the current picture in bits, by the client's limit and by the level in modes with a bit
    /// rate; nil if there is no limit.
    private var largestPicture: Double? {
        let requested = settings.maximumFrameBits > 0 ? Double(settings.maximumFrameBits) : nil
        let level = settings.mode == .constantQuality ? nil : picture.levelBits
        return [requested, level].compactMap { $0 }.min()
    }

    /// The maximum bits of the current picture; nil if there is no limit.
    private var maximumBits: Double? {
        var limits: [Double] = []
        if let largestPicture { limits.append(largestPicture) }
        // Some bits are reserved for the following pictures.
        if hasBuffer { limits.append(0.93 * buffer.fullness) }
        if let window { limits.append(window.rooms[0] - Self.windowReserve / 2 * window.limit) }
        return limits.min()
    }

    /// Returns whether the decoder's buffer underflows with a picture of `bits`.
    func overruns(bits: Int) -> Bool { hasBuffer && Double(bits) > buffer.fullness }

    /// Returns the number of filler bytes that must follow the picture of `bits`.
    func fillerBytes(bits: Int) -> Int {
        guard settings.mode == .constantBitRate, settings.addsFiller else { return 0 }
        let missing = buffer.missing(after: Double(bits))
        return missing > 0 ? Int((missing / 8).rounded(.up)) : 0
    }

    /// Ends a picture of `bits` at `qp`. `filler` bits of filler data follow it. `intraShare` is the share of its intra
    /// macroblocks, 0…1.
    mutating func end(bits: Int, filler: Int, qp: Int, intraShare: Double) {
        let share = settings.bitsPerPicture(layer: picture.layer)
        let limit = share * settings.stream.framesPerSecond * 4
        layers[picture.layer].spend(bits: Double(bits + filler), share: share, limit: limit)
        let expected = layers[picture.layer].bits(picture.kind, qp: qp)
        if picture.kind != .intra, expected > 0, Double(bits) > 3 * expected, Double(bits) > 2 * share {
            layers[picture.layer].beginScene(bits: Double(bits), qp: qp)
        }
        layers[picture.layer].learn(picture.kind, bits: Double(bits), qp: qp, intraShare: intraShare)
        if oversizedPasses > 0 || sizeBounds[leadsOthers] != nil, settings.maximumFrameBits > 0 {
            let octaves = log2(0.9 * Double(settings.maximumFrameBits) / Double(max(bits, 1)))
            sizeBounds[leadsOthers] = (
                qp: Double(qp) - max(RateLayer.offset(picture.kind), 0),
                step: picture.kind == .intra ? 1.5 : min(max(3 * octaves, 1), 8)
            )
        }
        layers[picture.layer].remember(memory, samples: picture.samples, guess: settings.stream.framesPerSecond)
        buffer.remove(Double(bits + filler))
        window?.add(Double(bits + filler))
        if let targetFullness {
            let step = 0.01 * share
            let rest = restingFullness - targetFullness
            self.targetFullness = abs(rest) <= step ? nil : targetFullness + (rest < 0 ? -step : step)
        }
    }
}
