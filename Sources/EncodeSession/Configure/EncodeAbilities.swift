package import VAAPI
package import VideoBase

/// What sessions take on a device, with one profile at one entry point: the driver's answers, corrected by what is known
/// of the driver.
package struct EncodeAbilities: Sendable, Hashable {
    private var limits: DeviceLimits
    private let hasBFrames: Bool

    /// - Parameter driver: what the driver calls itself.
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

    /// The same with no more pictures stored than a session's level holds of that size (nil: not known).
    ///
    /// - Parameter level: the one asked for; nil for the highest.
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

    /// Every picture is intra: nothing is predicted from.
    package var isIntraOnly: Bool { limits.maxReferences0 == 0 }

    /// Which picture is meant, and how long it is kept, is the session's to say.
    package var choosesReferences: Bool { limits.takesSliceHeaders && limits.maxReferences0 > 0 }
    /// Pictures that a P picture may predict from, at least 1.
    package var references: Int { max(min(limits.maxReferences0, limits.maxStored, 16), 1) }
    /// Pictures on both sides are stored at once.
    package var bFrames: Bool { hasBFrames && limits.maxStored >= 2 }
    package var bPyramid: Bool { bFrames && choosesReferences && limits.maxStored >= 3 }
    /// Besides them a short-term reference is stored.
    package var longTermReferences: Int {
        choosesReferences ? max(min(limits.maxReferences0, limits.maxStored - 1, 15), 0) : 0
    }
    /// The lowest layer's latest picture is stored while those above it come.
    package var temporalLayers: Int {
        guard choosesReferences else { return 1 }
        return limits.maxStored >= 4 ? 4 : limits.maxStored >= 2 ? 3 : 2
    }
    /// Pictures may have different QPs.
    package var choosesQP: Bool { !limits.hasOneQP }
    /// vaenc's own rate controller can run.
    package var controlsRate: Bool { choosesQP && limits.rateControl.contains(.cqp) }
    package var hasQualityLevels: Bool { limits.quality != .none }
    package var hasConstantQP: Bool { limits.rateControl.contains(.cqp) }
    /// Constant QP stands in for ICQ.
    package var aimsAtQuality: Bool { hasConstantQP || !limits.rateControl.isDisjoint(with: [.icq, .qvbr]) }
    /// The driver has a controller of its own for bit rates.
    package var drivesRate: Bool { !limits.rateControl.isDisjoint(with: [.cbr, .vbr, .qvbr, .avbr]) }
    package var hasRate: Bool { controlsRate || drivesRate }
    /// A highest rate beside the average.
    package var hasMaxRate: Bool { controlsRate || !limits.rateControl.isDisjoint(with: [.vbr, .qvbr, .avbr]) }
    package var limitsFrameBytes: Bool { controlsRate || limits.limitsFrameBytes && drivesRate }
    package var limitsSliceBytes: Bool { limits.limitsSliceBytes }
    /// Of the driver's controller, also of ICQ's.
    package var macroblockRateControl: Bool {
        limits.macroblockRateControl && (drivesRate || limits.rateControl.contains(.icq))
    }
    package var trellis: Bool { limits.trellis }
    package var regions: Int { limits.maxRegions }
    package var intraRefresh: Bool { !limits.intraRefresh.isEmpty && !isIntraOnly }
    /// transform_8x8_mode_flag is ours to write.
    package var transform8x8: Bool { limits.profile == .h264High && limits.packedHeaders.contains(.sequence) }
    package var entropyCoders: [EntropyCoder] {
        limits.profile == .h264ConstrainedBaseline ? [.cavlc] : limits.profile.codec.entropyCoders
    }

    /// Numbers of slices that a picture can be cut into; nil: of a size that is not known.
    package func slices(_ size: VideoSize?) -> [Int] {
        guard let size else { return Array(1...limits.maxSlices) }
        let rows = BlockGrid(limits, size).rows
        return (1...max(min(rows, limits.maxSlices), 1)).filter {
            SlicePartition.firstRows(rows: rows, slices: $0, structure: limits.sliceStructure).count == $0
        }
    }

    /// level_idc in tenths, of the levels that hold pictures of that size (nil: not known) at that rate.
    package func levels(_ size: VideoSize?, _ frameRate: Rational, _ tier: Tier?) -> [Int] {
        let grid = size.map { BlockGrid(limits, $0) }
        let fitting = StreamLevel.all(limits.profile, tier).filter { level in
            grid.map { level.allows($0, frameRate: frameRate, references: 1, bitrate: nil) } ?? true
        }
        return Set(fitting.map(\.number)).sorted()
    }

    /// Frames per second that the highest level has for pictures of that size, to three places.
    package func highestFrameRate(_ size: VideoSize?) -> Double {
        size.map { StreamLevel.highest(limits.profile).highestFrameRate(BlockGrid(limits, $0)) } ?? .infinity
    }

    /// What the level and tier (nil: any) hold, in bits per second.
    package func highestRate(level: Int?, tier: Tier?) -> Int { highest(level, tier).maxBitrate }

    /// The largest decoder's buffer that they hold, in bits.
    package func largestBuffer(level: Int?, tier: Tier?) -> Int { highest(level, tier).maxCPBSize }

    private func highest(_ level: Int?, _ tier: Tier?) -> StreamLevel {
        level.flatMap { StreamLevel.named($0, limits.profile, tier).last } ?? .highest(limits.profile, tier)
    }
}

extension ConfigAttributes {
    /// Some of those in a report.
    fileprivate init(_ capability: Capability, _ types: [AttributeType]) {
        self.init(values: [:])
        for type in types { values[type] = capability.attributes.first { $0.name == type.name }?.value }
    }
}

extension DeviceLimits.PackedHeaders {
    /// From the names of `Capability.packedHeaders`.
    fileprivate init(_ names: [String]) {
        let all: [(String, Self)] = [
            ("sequence", .sequence), ("picture", .picture), ("slice", .slice), ("misc", .misc), ("raw", .rawData),
        ]
        self = Self(all.filter { names.contains($0.0) }.map(\.1))
    }
}
