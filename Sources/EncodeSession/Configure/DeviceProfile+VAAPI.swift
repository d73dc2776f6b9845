import VAAPI
import VideoBase

extension DeviceProfile {
    /// Asks a driver about encoding with a codec: every profile, both entry points.
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
        // A driver that does not speak of rate control has none but the constant.
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
        // The limits of the surfaces hold as well as those of the attributes.
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
        // A driver that says nothing may cut all slices as long as the first (Mesa's on the first VCN does).
        if offered.isEmpty { return .equalRows }
        return offered.isDisjoint(with: [.equalRows, .equalMultiRows]) ? .powerOfTwoRows : .equalRows
    }

    /// Slices that a picture can have: no more than a driver says, nor than a picture has rows of macroblocks.
    static func slices(_ said: Int?) -> Int { min(max(said ?? 1, 1), 4096) }

    static func quality(_ levels: Int, driver: String) -> QualityScale {
        if DriverQuirks.isRadeon(driver) { return levels > 0 ? .radeonBits : .none }
        return levels > 1 ? .levels(count: levels) : .none
    }
}
