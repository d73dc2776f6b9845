package import VAAPI
import VideoBase

extension DeviceCapabilities {
    /// Queries a driver for encoding with a codec: every profile, both entry points.
    ///
    /// - Throws: A `VAError` if a query fails.
    init(_ display: Display, _ codec: VideoCodec) throws {
        driver = display.vendor
        encoders = []
        for profile in CodecProfile.allCases where profile.codec == codec {
            // DriverQuirk.movesEntryPoints.
            for entryPoint in try display.entryPoints(of: Profile(profile)) where entryPoint.encodes {
                let attributes = try display.attributes(of: Profile(profile), at: entryPoint)
                let surfaces = try Config(display, profile: Profile(profile), entryPoint: entryPoint).surfaceCapabilities()
                let answers = Capability(Profile(profile), at: entryPoint, attributes: attributes, surfaces: surfaces)
                if let encoder = EncodeCapabilities(answers, driver: driver) { encoders.append(encoder) }
            }
        }
    }
}

extension EncodeCapabilities {
    /// Interprets a driver's answers and corrects those that are known to be wrong.
    ///
    /// - Parameters:
    ///   - answers: The answers for one profile at one entry point.
    ///   - driver: The driver's vendor string.
    /// - Returns: nil if vaenc does not encode the profile, or the entry point encodes nothing.
    package init?(_ answers: Capability, driver: String) {
        guard let profile = answers.profile.codecProfile, answers.entryPoint.encodes else { return nil }
        let attributes = answers.attributes
        self.profile = profile
        entryPoint = answers.entryPoint
        // A driver that does not report rate control supports constant QP only.
        rateControl = attributes[.rateControl] == nil ? [.cqp] : Set(attributes.rateControl.modes)
        if let references = attributes.maxReferences {
            maxReferences0 = references.l0
            maxReferences1 = references.l1
        }
        hasBPictures = answers.bFrames
        maxSlices = Self.slices(attributes.maxSlices)
        sliceStructure = Self.structure(attributes.sliceStructure)
        limitsSliceBytes = attributes.sliceStructure.contains(.maxSliceSize)
        limitsFrameBytes = attributes.maxFrameSize
        packedHeaders = attributes.packedHeaders.intersection(.all)
        quality = Self.quality(attributes.qualityLevels ?? 0, driver: driver)
        maxRegions = attributes.regionsOfInterest?.count ?? 0
        trellis = attributes.trellis
        macroblockRateControl = attributes.rateControl.contains(.macroblock)
        intraRefresh = attributes.intraRefresh.intersection([.rollingColumn, .rollingRow])
        // The limits of both the surfaces and the attributes apply.
        let surfaces = answers.surfaces
        minSize = VideoSize(width: surfaces?.minWidth ?? 1, height: surfaces?.minHeight ?? 1)
        let width = [attributes.maxPictureWidth, surfaces?.maxWidth].compactMap { $0 }.filter { $0 > 0 }.min()
        let height = [attributes.maxPictureHeight, surfaces?.maxHeight].compactMap { $0 }.filter { $0 > 0 }.min()
        if let width, let height { maxSize = VideoSize(width: width, height: height) }
        switch profile.codec {
        case .h264: coding = .h264
        case .hevc:
            coding = .hevc(
                HEVCCapabilities(
                    attributes, alignment: surfaces?.alignment, driver: driver, entryPoint: entryPoint,
                    references: (maxReferences0, maxReferences1)))
        }
        correct(for: driver)
    }

    private static func structure(_ offered: VAAPI.SliceStructure) -> SliceStructure {
        if !offered.isDisjoint(with: [.arbitraryRows, .arbitraryMacroblocks]) { return .rows }
        // DriverQuirk.hidesSliceStructure.
        if offered.isEmpty { return .equalRows }
        return offered.isDisjoint(with: [.equalRows, .equalMultiRows]) ? .powerOfTwoRows : .equalRows
    }

    /// Returns the number of slices that a picture may have: the driver's limit, between 1 and 4096.
    private static func slices(_ reported: Int?) -> Int { min(max(reported ?? 1, 1), 4096) }

    private static func quality(_ levels: Int, driver: String) -> QualityScale {
        if DriverQuirk.qualityIsBitField.affects(driver) { return levels > 0 ? .radeonBits : .none }
        return levels > 1 ? .levels(count: levels) : .none
    }
}
