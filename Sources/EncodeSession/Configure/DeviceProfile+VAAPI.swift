import VAAPI
import VideoBase

extension DeviceProfile {
    /// Queries a driver for encoding with a codec: every profile, both entry points.
    ///
    /// - Throws: A `VAError` if a query fails.
    init(_ display: Display, _ codec: VideoCodec = .h264) throws {
        driver = display.vendor
        limits = []
        for profile in CodecProfile.allCases where profile.codec == codec {
            for entryPoint in try display.entryPoints(of: Profile(profile)) where entryPoint.encodes {
                limits.append(try DeviceLimits(display, profile, entryPoint))
            }
        }
    }
}

extension DeviceLimits {
    fileprivate init(_ display: Display, _ profile: CodecProfile, _ entryPoint: VAAPI.EntryPoint) throws {
        let attributes = try display.attributes(of: Profile(profile), at: entryPoint)
        self.profile = profile
        self.entryPoint = entryPoint == .encodeSliceLowPower ? .sliceLowPower : .slice
        // A driver that does not report rate control supports constant QP only.
        rateControl = attributes[.rateControl] == nil ? [.cqp] : Set(attributes.rateControl.modes)
        if let references = attributes.maxReferences {
            maxReferences0 = references.l0
            maxReferences1 = references.l1
        }
        maxSlices = Self.slices(attributes.maxSlices)
        sliceStructure = Self.structure(attributes.sliceStructure)
        limitsSliceBytes = attributes.sliceStructure.contains(.maxSliceSize)
        limitsFrameBytes = attributes.maxFrameSize
        packedHeaders = PackedHeaders(rawValue: attributes.packedHeaders.rawValue).intersection(.all)
        quality = Self.quality(attributes.qualityLevels ?? 0, driver: display.vendor)
        if let regions = attributes.regionsOfInterest { maxRegions = regions.count }
        trellis = attributes.trellis
        macroblockRateControl = attributes.rateControl.contains(.macroblock)
        intraRefresh = IntraRefresh(rawValue: attributes.intraRefresh.rawValue).intersection([.columns, .rows])
        // The limits of both the surfaces and the attributes apply.
        let surfaces = try Config(display, profile: Profile(profile), entryPoint: entryPoint).surfaceCapabilities()
        minSize = VideoSize(width: surfaces.minWidth ?? 1, height: surfaces.minHeight ?? 1)
        let width = [attributes.maxPictureWidth, surfaces.maxWidth].compactMap { $0 }.filter { $0 > 0 }.min()
        let height = [attributes.maxPictureHeight, surfaces.maxHeight].compactMap { $0 }.filter { $0 > 0 }.min()
        if let width, let height { maxSize = VideoSize(width: width, height: height) }
        switch profile.codec {
        case .h264: break
        case .hevc:
            coding = .hevc(
                HEVCLimits(
                    attributes, alignment: surfaces.alignment, driver: display.vendor, entryPoint: self.entryPoint,
                    references: (maxReferences0, maxReferences1)))
        }
        DriverQuirks.apply(to: &self, driver: display.vendor)
    }

    static func structure(_ offered: VAAPI.SliceStructure) -> SliceStructure {
        if !offered.isDisjoint(with: [.arbitraryRows, .arbitraryMacroblocks]) { return .rows }
        // If a driver reports nothing, all slices may have to be as long as the first (Mesa on the first VCN).
        if offered.isEmpty { return .equalRows }
        return offered.isDisjoint(with: [.equalRows, .equalMultiRows]) ? .powerOfTwoRows : .equalRows
    }

    /// Returns the number of slices that a picture may have: the driver's limit, between 1 and 4096.
    static func slices(_ said: Int?) -> Int { min(max(said ?? 1, 1), 4096) }

    static func quality(_ levels: Int, driver: String) -> QualityScale {
        if DriverQuirks.isRadeon(driver) { return levels > 0 ? .radeonBits : .none }
        return levels > 1 ? .levels(count: levels) : .none
    }
}
