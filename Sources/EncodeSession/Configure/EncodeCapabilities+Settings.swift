import VAAPI
package import VideoBase

/// The values that a session's settings can have on a device.
extension EncodeCapabilities {
    /// Returns these capabilities with the number of stored pictures limited to what the session's level holds.
    ///
    /// - Parameters:
    ///   - size: The size of the pictures; nil if unknown, which takes the device's minimum size.
    ///   - level: The requested level; nil for the highest.
    package func holding(_ size: VideoSize?, _ frameRate: Rational, level: CodecLevel?, tier: Tier?) -> EncodeCapabilities {
        let size = size ?? minSize
        guard size.width <= 65535, size.height <= 65535 else { return self }
        let grid = BlockGrid(self, size)
        func fits(_ level: StreamLevel) -> Bool { level.allows(grid, frameRate: frameRate, references: 1, bitrate: nil) }
        let asked = level.map { StreamLevel.named($0, profile: profile, tier: tier) } ?? []
        let used: StreamLevel? =
            asked.isEmpty
            ? StreamLevel.highest(profile, tier)
            : asked.last(where: fits) ?? StreamLevel.all(profile, tier).first(where: fits)
        var result = self
        if let used { result.maxStored = max(min(maxStored, used.storage(grid)), 1) }
        return result
    }

    /// Whether every picture is intra: the device has no references.
    package var isIntraOnly: Bool { maxReferences0 == 0 }

    /// Whether the session chooses the references of a picture and how long they are stored.
    package var choosesReferences: Bool { takesSliceHeaders && maxReferences0 > 0 }
    /// The number of pictures that a P picture may predict from, at least 1.
    package var maxReferences: Int { max(min(maxReferences0, maxStored, 16), 1) }
    /// Whether B pictures are possible. The pictures on both sides must be stored at once.
    package var supportsBFrames: Bool { hasBPictures && maxReferences0 > 0 && futureReferences > 0 && maxStored >= 2 }
    /// Whether B pictures may predict from B pictures.
    package var supportsBPyramid: Bool { supportsBFrames && choosesReferences && maxStored >= 3 }
    /// The maximum number of long-term references. One short-term reference is stored in addition.
    package var maxLongTermReferences: Int {
        choosesReferences ? max(min(maxReferences0, maxStored - 1, 15), 0) : 0
    }
    /// The maximum number of temporal layers. The latest picture of the lowest layer stays stored while upper layers
    /// are coded.
    package var maxTemporalLayers: Int {
        guard choosesReferences else { return 1 }
        return maxStored >= 4 ? 4 : maxStored >= 2 ? 3 : 2
    }
    /// Whether pictures may have different QPs.
    package var choosesQP: Bool { !hasOneQP }
    /// Whether vaenc's own rate controller can run.
    package var controlsRate: Bool { choosesQP && rateControl.contains(.cqp) }
    /// Whether the driver has quality levels.
    package var hasQualityLevels: Bool { quality != .none }
    /// Whether the driver supports constant QP.
    package var hasConstantQP: Bool { rateControl.contains(.cqp) }
    /// Whether a constant quality is possible. Constant QP replaces ICQ.
    package var aimsAtQuality: Bool { hasConstantQP || !rateControl.isDisjoint(with: [.icq, .qvbr]) }
    /// Whether the driver has its own controller for bit rates.
    package var drivesRate: Bool { !rateControl.isDisjoint(with: [.cbr, .vbr, .qvbr, .avbr]) }
    /// Whether a bit rate is possible.
    package var hasRate: Bool { controlsRate || drivesRate }
    /// Whether a maximum rate is possible in addition to the average.
    package var hasMaxRate: Bool { controlsRate || !rateControl.isDisjoint(with: [.vbr, .qvbr, .avbr]) }
    /// Whether the size of a frame can be limited.
    package var supportsMaxFrameBytes: Bool { controlsRate || limitsFrameBytes && drivesRate }
    /// Whether the driver's rate control, ICQ included, may vary the QP within a picture.
    package var supportsMacroblockRateControl: Bool {
        macroblockRateControl && (drivesRate || rateControl.contains(.icq))
    }
    /// Whether a rolling intra refresh is possible.
    package var supportsIntraRefresh: Bool { !intraRefresh.isEmpty && !isIntraOnly }
    /// Whether vaenc can set transform_8x8_mode_flag.
    package var supportsTransform8x8: Bool { profile.hasHighElements && packedHeaders.contains(.sequence) }
    /// The entropy coders of the profile.
    package var entropyCoders: [EntropyCoder] { profile.entropyCoders }

    /// Returns the possible numbers of slices in a picture of that size (nil: unknown).
    package func slices(_ size: VideoSize?) -> [Int] {
        guard let size else { return Array(1...maxSlices) }
        let rows = BlockGrid(self, size).rows
        return (1...max(min(rows, maxSlices), 1)).filter {
            SlicePartition.firstRows(rows: rows, slices: $0, structure: sliceStructure).count == $0
        }
    }

    /// Returns the levels, in tenths, that allow pictures of that size (nil: unknown) at that frame rate.
    package func levels(_ size: VideoSize?, frameRate: Rational, tier: Tier?) -> [Int] {
        let grid = size.map { BlockGrid(self, $0) }
        let fitting = StreamLevel.all(profile, tier).filter { level in
            grid.map { level.allows($0, frameRate: frameRate, references: 1, bitrate: nil) } ?? true
        }
        return Set(fitting.map(\.number)).sorted()
    }

    /// Returns the highest level's maximum frame rate for pictures of that size, in frames per second, with three
    /// decimals. Returns infinity if the size is unknown.
    package func highestFrameRate(_ size: VideoSize?) -> Double {
        size.map { StreamLevel.highest(profile).highestFrameRate(BlockGrid(self, $0)) } ?? .infinity
    }

    /// Returns the maximum bit rate of the level and tier (nil: any), in bits per second.
    package func highestRate(level: CodecLevel?, tier: Tier?) -> Int { highest(level, tier).maxBitrate }

    /// Returns the maximum decoder buffer of the level and tier (nil: any), in bits.
    package func largestBuffer(level: CodecLevel?, tier: Tier?) -> Int { highest(level, tier).maxCPBSize }

    private func highest(_ level: CodecLevel?, _ tier: Tier?) -> StreamLevel {
        level.flatMap { StreamLevel.named($0, profile: profile, tier: tier).last } ?? .highest(profile, tier)
    }
}
