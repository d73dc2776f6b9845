package import VAAPI
package import VideoBase

/// The abilities of sessions on a device with one profile and one entry point: the driver's answers, corrected by
/// `DriverQuirks`.
package struct EncodeAbilities: Sendable, Hashable {
    private var limits: DeviceLimits
    private let hasBFrames: Bool

    /// Derives the abilities from a capability report.
    ///
    /// - Parameter driver: The driver's vendor string.
    package init(_ capability: Capability, driver: String) {
        let profile = CodecProfile.allCases.first {
            $0.codec.rawValue == capability.codec && $0.shortName == capability.profile
        }
        var limits = DeviceLimits(
            profile: profile ?? .h264High, entryPoint: capability.entrypoint == "EncSliceLP" ? .sliceLowPower : .slice)
        limits.rateControl = capability.rateControl.isEmpty ? [.cqp] : Set(capability.rateControl)
        limits.maxReferences0 = capability.maxReferences?.l0 ?? limits.maxReferences0
        limits.maxReferences1 = capability.maxReferences?.l1 ?? limits.maxReferences1
        limits.packedHeaders = DeviceLimits.PackedHeaders(capability.packedHeaders)
        limits.quality = DeviceLimits.quality(capability.qualityLevels ?? 0, driver: driver)
        limits.maxSlices = DeviceLimits.slices(capability.maxSlices)
        limits.maxRegions = capability.roi
        if capability.intraRefresh.contains("column") { limits.intraRefresh.insert(.columns) }
        if capability.intraRefresh.contains("row") { limits.intraRefresh.insert(.rows) }
        let said = ConfigAttributes(capability, [
            .rateControl, .encSliceStructure, .encQuantization, .maxFrameSize, .encHEVCFeatures, .encHEVCBlockSizes,
            .predictionDirection,
        ])
        limits.sliceStructure = DeviceLimits.structure(said.sliceStructure)
        limits.limitsSliceBytes = said.sliceStructure.contains(.maxSliceSize)
        limits.limitsFrameBytes = said.maxFrameSize
        limits.macroblockRateControl = said.rateControl.contains(.macroblock)
        switch limits.profile.codec {
        case .h264: break
        case .hevc:
            limits.coding = .hevc(
                HEVCLimits(
                    said, alignment: nil, driver: driver, entryPoint: limits.entryPoint,
                    references: (limits.maxReferences0, limits.maxReferences1)))
        }
        limits.trellis = said.trellis
        DriverQuirks.apply(to: &limits, driver: driver)
        self.limits = limits
        hasBFrames = capability.bFrames && limits.maxReferences0 > 0 && limits.futureReferences > 0
    }

    /// Returns these abilities with the number of stored pictures limited to what the session's level holds.
    ///
    /// - Parameters:
    ///   - size: The size of the pictures; nil if unknown, which takes the device's minimum size.
    ///   - level: The requested level; nil for the highest.
    package func holding(_ size: VideoSize?, _ frameRate: Rational, level: Int?, tier: Tier?) -> EncodeAbilities {
        let size = size ?? limits.minSize
        guard size.width <= 65535, size.height <= 65535 else { return self }
        let grid = BlockGrid(limits, size)
        func fits(_ level: StreamLevel) -> Bool { level.allows(grid, frameRate: frameRate, references: 1, bitrate: nil) }
        let asked = level.map { StreamLevel.named($0, limits.profile, tier) } ?? []
        let used: StreamLevel? =
            asked.isEmpty
            ? StreamLevel.highest(limits.profile, tier)
            : asked.last(where: fits) ?? StreamLevel.all(limits.profile, tier).first(where: fits)
        var result = self
        if let used { result.limits.maxStored = max(min(limits.maxStored, used.storage(grid)), 1) }
        return result
    }

    /// Whether every picture is intra: the device has no references.
    package var isIntraOnly: Bool { limits.maxReferences0 == 0 }

    /// Whether the session chooses the references of a picture and how long they are stored.
    package var choosesReferences: Bool { limits.takesSliceHeaders && limits.maxReferences0 > 0 }
    /// The number of pictures that a P picture may predict from, at least 1.
    package var references: Int { max(min(limits.maxReferences0, limits.maxStored, 16), 1) }
    /// Whether B pictures are possible. The pictures on both sides must be stored at once.
    package var bFrames: Bool { hasBFrames && limits.maxStored >= 2 }
    /// Whether B pictures may predict from B pictures.
    package var bPyramid: Bool { bFrames && choosesReferences && limits.maxStored >= 3 }
    /// The maximum number of long-term references. One short-term reference is stored in addition.
    package var longTermReferences: Int {
        choosesReferences ? max(min(limits.maxReferences0, limits.maxStored - 1, 15), 0) : 0
    }
    /// The maximum number of temporal layers. The latest picture of the lowest layer stays stored while upper layers
    /// are coded.
    package var temporalLayers: Int {
        guard choosesReferences else { return 1 }
        return limits.maxStored >= 4 ? 4 : limits.maxStored >= 2 ? 3 : 2
    }
    /// Whether pictures may have different QPs.
    package var choosesQP: Bool { !limits.hasOneQP }
    /// Whether vaenc's own rate controller can run.
    package var controlsRate: Bool { choosesQP && limits.rateControl.contains(.cqp) }
    /// Whether the driver has quality levels.
    package var hasQualityLevels: Bool { limits.quality != .none }
    /// Whether the driver supports constant QP.
    package var hasConstantQP: Bool { limits.rateControl.contains(.cqp) }
    /// Whether a constant quality is possible. Constant QP replaces ICQ.
    package var aimsAtQuality: Bool { hasConstantQP || !limits.rateControl.isDisjoint(with: [.icq, .qvbr]) }
    /// Whether the driver has its own controller for bit rates.
    package var drivesRate: Bool { !limits.rateControl.isDisjoint(with: [.cbr, .vbr, .qvbr, .avbr]) }
    /// Whether a bit rate is possible.
    package var hasRate: Bool { controlsRate || drivesRate }
    /// Whether a maximum rate is possible in addition to the average.
    package var hasMaxRate: Bool { controlsRate || !limits.rateControl.isDisjoint(with: [.vbr, .qvbr, .avbr]) }
    /// Whether the size of a frame can be limited.
    package var limitsFrameBytes: Bool { controlsRate || limits.limitsFrameBytes && drivesRate }
    /// Whether the size of a slice can be limited.
    package var limitsSliceBytes: Bool { limits.limitsSliceBytes }
    /// Whether the driver's rate control, ICQ included, may vary the QP within a picture.
    package var macroblockRateControl: Bool {
        limits.macroblockRateControl && (drivesRate || limits.rateControl.contains(.icq))
    }
    /// Whether the driver offers trellis quantization.
    package var trellis: Bool { limits.trellis }
    /// The maximum number of regions of interest in a picture.
    package var regions: Int { limits.maxRegions }
    /// Whether a rolling intra refresh is possible.
    package var intraRefresh: Bool { !limits.intraRefresh.isEmpty && !isIntraOnly }
    /// Whether vaenc can set transform_8x8_mode_flag.
    package var transform8x8: Bool { limits.profile == .h264High && limits.packedHeaders.contains(.sequence) }
    /// The entropy coders of the profile.
    package var entropyCoders: [EntropyCoder] {
        limits.profile == .h264ConstrainedBaseline ? [.cavlc] : limits.profile.codec.entropyCoders
    }

    /// Returns the possible numbers of slices in a picture of that size (nil: unknown).
    package func slices(_ size: VideoSize?) -> [Int] {
        guard let size else { return Array(1...limits.maxSlices) }
        let rows = BlockGrid(limits, size).rows
        return (1...max(min(rows, limits.maxSlices), 1)).filter {
            SlicePartition.firstRows(rows: rows, slices: $0, structure: limits.sliceStructure).count == $0
        }
    }

    /// Returns the levels, in tenths, that allow pictures of that size (nil: unknown) at that frame rate.
    package func levels(_ size: VideoSize?, _ frameRate: Rational, _ tier: Tier?) -> [Int] {
        let grid = size.map { BlockGrid(limits, $0) }
        let fitting = StreamLevel.all(limits.profile, tier).filter { level in
            grid.map { level.allows($0, frameRate: frameRate, references: 1, bitrate: nil) } ?? true
        }
        return Set(fitting.map(\.number)).sorted()
    }

    /// Returns the highest level's maximum frame rate for pictures of that size, in frames per second, with three
    /// decimals. Returns infinity if the size is unknown.
    package func highestFrameRate(_ size: VideoSize?) -> Double {
        size.map { StreamLevel.highest(limits.profile).highestFrameRate(BlockGrid(limits, $0)) } ?? .infinity
    }

    /// Returns the maximum bit rate of the level and tier (nil: any), in bits per second.
    package func highestRate(level: Int?, tier: Tier?) -> Int { highest(level, tier).maxBitrate }

    /// Returns the maximum decoder buffer of the level and tier (nil: any), in bits.
    package func largestBuffer(level: Int?, tier: Tier?) -> Int { highest(level, tier).maxCPBSize }

    private func highest(_ level: Int?, _ tier: Tier?) -> StreamLevel {
        level.flatMap { StreamLevel.named($0, limits.profile, tier).last } ?? .highest(limits.profile, tier)
    }
}

extension ConfigAttributes {
    /// Copies some attributes of a report.
    fileprivate init(_ capability: Capability, _ types: [AttributeType]) {
        self.init(values: [:])
        for type in types { values[type] = capability.attributes.first { $0.name == type.name }?.value }
    }
}

extension DeviceLimits.PackedHeaders {
    /// Creates the set from the names in `Capability.packedHeaders`.
    fileprivate init(_ names: [String]) {
        let all: [(String, Self)] = [
            ("sequence", .sequence), ("picture", .picture), ("slice", .slice), ("misc", .misc), ("raw", .rawData),
        ]
        self = Self(all.filter { names.contains($0.0) }.map(\.1))
    }
}
