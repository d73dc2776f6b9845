internal import CVA

/// The temporal layer of each picture, from VAEncMiscParameterTemporalLayerStructure.
struct TemporalLayers: Equatable, Sendable {
    let count: Int
    /// The repeating pattern of layers, which begins with the second picture of a coded video sequence.
    let pattern: [Int]

    init(_ structure: VAEncMiscParameterTemporalLayerStructure, maximum: Int) throws {
        count = Int(structure.number_of_layers)
        let period = Int(structure.periodicity)
        try require((0...maximum).contains(count), "\(count) temporal layers exceed the maximum of \(maximum)")
        try require(count == 0 || (1...32).contains(period), "the period of temporal layers \(period) is out of range")
        pattern = FixedArray.values(structure.layer_id, as: UInt32.self, count: period).map { Int($0) }
        try require(count == 0 || pattern.allSatisfy { $0 < count }, "the temporal layers \(pattern) are out of range")
    }

    /// Returns the layer of picture `number`; the IDR picture has number 0.
    func layer(of number: Int) -> Int { number == 0 || pattern.isEmpty ? 0 : pattern[(number - 1) % pattern.count] }

    /// Returns the share of pictures that are in `layer` or below.
    func share(upTo layer: Int) -> Double {
        guard !pattern.isEmpty else { return 1 }
        return Double(pattern.count { $0 <= layer }) / Double(pattern.count)
    }
}

/// The rate parameters from the misc parameter buffers so far.
struct RateParameters {
    /// The rate control parameters by temporal layer.
    private var control: [Int: VAEncMiscParameterRateControl] = [:]
    /// The frame rate by temporal layer.
    private var frameRates: [Int: Double] = [:]
    private var resets = 0
    /// The size of the HRD buffer in bits; 0 if not specified.
    var bufferBits = 0
    /// The initial fullness of the HRD buffer in bits; nil if not specified.
    var initialFullness: Int?
    var temporalLayers: TemporalLayers?

    mutating func apply(_ new: VAEncMiscParameterRateControl) {
        control[Int(unsafe new.rc_flags.bits.temporal_id)] = new
        if unsafe new.rc_flags.bits.reset != 0 { resets += 1 }
    }

    mutating func apply(_ new: VAEncMiscParameterFrameRate) {
        let (numerator, denominator) = (new.framerate & 0xffff, max(new.framerate >> 16, 1))
        let layer = Int(unsafe new.framerate_flags.bits.temporal_id)
        frameRates[layer] = numerator == 0 ? nil : Double(numerator) / Double(denominator)
    }

    /// Returns the temporal layer of the picture with this number since the last IDR picture; 0 if `settings` have one
    /// layer.
    func layer(ofPicture number: Int, _ settings: RateSettings) -> Int {
        guard settings.layers.count > 1, let temporalLayers else { return 0 }
        return min(temporalLayers.layer(of: number), settings.layers.count - 1)
    }

    /// Returns the settings for the next picture. Throws if the mode needs a bit rate and none is set.
    func settings(
        _ mode: RateSettings.Mode, sequence: SequenceRate, maximumFrameBits: Int
    ) throws -> RateSettings {
        let base = control[0]
        var settings = RateSettings(mode: mode, layers: layers(mode, sequence))
        try require(
            mode == .constantQuality || mode == .targetFrameSize || settings.layers.allSatisfy { $0.maximumBitRate > 0 },
            "the rate control has no bit rate")
        settings.window = Int(base?.window_size ?? 0)
        settings.initialQP = Int(base?.initial_qp ?? 0)
        if let least = base?.min_qp, least > 0 { settings.minimumQP = Int(least) }
        if let most = base?.max_qp, most > 0 { settings.maximumQP = max(Int(most), settings.minimumQP) }
        settings.addsFiller = unsafe (base?.rc_flags.bits.disable_bit_stuffing ?? 0) == 0
        let quality = base.map { $0.ICQ_quality_factor > 0 ? $0.ICQ_quality_factor : min($0.quality_factor, 51) } ?? 0
        if quality > 0 { settings.quality = Int(quality) }
        settings.targetFrameBits = 8 * Int(base?.target_frame_size ?? 0)
        settings.bufferBits = bufferBits
        settings.initialFullness = initialFullness
        settings.maximumFrameBits = maximumFrameBits
        settings.intraPeriod = sequence.intraPeriod
        settings.referencePeriod = sequence.referencePeriod
        settings.resets = resets
        return settings
    }

    /// Returns the rates of each layer if the client set a bit rate for all layers, else one rate for the whole stream.
    private func layers(
        _ mode: RateSettings.Mode, _ sequence: SequenceRate
    ) -> [RateSettings.LayerRate] {
        let count = max(temporalLayers?.count ?? 1, 1)
        let whole = frameRates[count - 1] ?? frameRates[0] ?? sequence.framesPerSecond ?? 30
        func rate(_ layer: Int, _ framesPerSecond: Double) -> RateSettings.LayerRate {
            let given = control[layer]
            let isWhole = mode == .constantBitRate || mode == .averageBitRate
            let percentage = Int(given?.target_percentage ?? 0)
            return RateSettings.LayerRate(
                maximumBitRate: given.map { Int($0.bits_per_second) } ?? sequence.bitsPerSecond,
                targetPercentage: isWhole || percentage == 0 ? 100 : min(percentage, 100),
                framesPerSecond: framesPerSecond)
        }
        guard count > 1, let temporalLayers, (0..<count).allSatisfy({ control[$0]?.bits_per_second ?? 0 > 0 }) else {
            return [rate(0, whole)]
        }
        let hasOwnRates = (0..<count).allSatisfy { frameRates[$0] != nil }
        return (0..<count).map { layer in
            rate(layer, hasOwnRates ? frameRates[layer] ?? whole : whole * temporalLayers.share(upTo: layer))
        }
    }
}
