import VAAPI
import VideoBase

extension SettingsResolver {
    /// Chooses the profile and the entry point.
    ///
    /// The profile is the requested one. Otherwise it is the first of High, Main and Constrained Baseline that the
    /// device supports (H.264), or the profile of the sample depth (HEVC). The entry point is EncSlice if the device
    /// has it, unless low power is requested.
    mutating func chooseProfile() throws -> EncodeCapabilities {
        let offered = asked.preferredProfiles.filter { profile in device.encoders.contains { $0.profile == profile } }
        let standard = asked.encodedCodec.standardName
        guard let best = offered.first else {
            throw VaencError(
                .unavailable, "\(device.driver) does not encode \(standard)",
                remedy: "use another `device`" + VaencError.orSoftware)
        }
        // A requested bit depth is as binding as a requested profile.
        let byDepth: CodecProfile? = asked.bitDepth == 10 ? .hevcMain10 : nil
        if let wanted = asked.profile ?? byDepth, !offered.contains(wanted) {
            let names = offered.map(\.rawValue).joined(separator: ", ")
            throw VaencError(
                .unavailable, "\(device.driver) does not encode \(standard) \(wanted.shortName)",
                remedy: "use \(names)")
        }
        let profile = asked.profile ?? best
        report.add(
            "profile", asked: asked.profile?.rawValue, used: profile.rawValue,
            why: asked.profile != nil ? .requested : whyChosen(profile))
        reportDepth(profile)
        return try chooseEntryPoint(profile)
    }

    private func whyChosen(_ profile: CodecProfile) -> SettingReason {
        switch profile {
        case .h264High: .standard
        case .hevcMain: asked.codedBitDepth == 8 ? .standard : "the device does not support Main 10"
        case .hevcMain10: "the samples have 10 bits"
        case .h264Main, .h264ConstrainedBaseline: "the device does not support High"
        }
    }

    /// Reports samples whose depth differs from the coded depth.
    private mutating func reportDepth(_ profile: CodecProfile) {
        let coded = profile.bitDepth
        if let wanted = asked.bitDepth { report.add("bitDepth", asked: wanted, used: coded, why: .requested) }
        let entry = EffectiveEntry.pixelFormat(
            asked.inputFormat.rawValue, depth: asked.inputFormat.bitDepth, used: coded > 8 ? .p010 : .nv12, codec: profile.codec)
        if let entry { report.add(entry) }
    }

    private mutating func chooseEntryPoint(_ profile: CodecProfile) throws -> EncodeCapabilities {
        let wanted: EntryPoint? = asked.lowPower.map { $0 ? .encodeSliceLowPower : .encodeSlice }
        let slice = device.capabilities(profile, .encodeSlice)
        let lowPower = device.capabilities(profile, .encodeSliceLowPower)
        let preferred = wanted == .encodeSliceLowPower ? lowPower : slice
        guard let used = preferred ?? slice ?? lowPower else {
            let name = "\(asked.encodedCodec.standardName) \(profile.shortName)"
            throw VaencError(
                .unavailable, "\(device.driver) has no encode entry point for \(name)",
                remedy: "choose another `profile`, `codec` or `device`")
        }
        let why: SettingReason =
            wanted == used.entryPoint
            ? .requested
            : wanted != nil || used.entryPoint == .encodeSliceLowPower
                ? "the driver's only entry point for \(profile.rawValue)" : .standard
        report.add("entryPoint", asked: wanted?.shortName, used: used.entryPoint.shortName, why: why)
        return used
    }

    mutating func chooseSize() -> VideoSize {
        let size = asked.size.aligned(to: 2)
        report.add(
            "size", asked: "\(asked.size)", used: "\(size)",
            why: size == asked.size ? .requested : "4:2:0 sizes are even: odd sides are padded by one sample")
        return size
    }

    /// Chooses the codec's coding tools.
    ///
    /// - Parameter rate: The rate settings resolved so far.
    mutating func chooseTools(_ limits: EncodeCapabilities, _ rate: RateSettings) -> CodecTools {
        switch limits.coding {
        case .h264: .h264(H264Tools(entropy: chooseEntropy(limits.profile), transform8x8: chooseTransform(limits)))
        case .hevc(let hevc): .hevc(chooseTools(limits, hevc: hevc, rate: rate))
        }
    }

    private mutating func chooseEntropy(_ profile: CodecProfile) -> EntropyCoder {
        guard profile.entropyCoders.contains(.cabac) else {
            report.add(
                "entropy", asked: asked.coding.entropy?.rawValue, used: EntropyCoder.cavlc.rawValue,
                why: "Constrained Baseline does not support CABAC")
            return .cavlc
        }
        let used = asked.coding.entropy ?? .cabac
        report.add(
            "entropy", asked: asked.coding.entropy?.rawValue, used: used.rawValue,
            why: asked.coding.entropy == nil ? .standard : .requested)
        return used
    }

    /// Chooses transform_8x8_mode_flag. Only High has it. A driver that writes its own picture parameter sets decides
    /// it.
    private mutating func chooseTransform(_ limits: EncodeCapabilities) -> Bool {
        let isHigh = limits.profile.hasHighElements
        let isOurs = limits.packedHeaders.contains(.sequence)
        let used = isHigh && (asked.coding.transform8x8 ?? true)
        let requested = asked.coding.transform8x8.map { $0 ? "on" : "off" }
        if !isHigh {
            report.add("transform8x8", asked: requested, used: "off", why: "only the High profile supports it")
        } else if !isOurs {
            report.add("transform8x8", asked: requested, used: "driver's", why: "the driver writes its own parameter sets")
        } else {
            report.add("transform8x8", asked: requested, used: used ? "on" : "off", why: requested == nil ? .standard : .requested)
        }
        return used
    }
}
