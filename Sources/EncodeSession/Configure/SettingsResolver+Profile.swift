import VideoBase

extension SettingsResolver {
    /// Profile and entry point: the profile asked for, else the first of H.264's High, Main, Constrained Baseline that
    /// the device has, or HEVC's of the samples' depth; EncSlice where there is one, unless low power is asked for.
    mutating func chooseProfile() throws -> DeviceLimits {
        let offered = preferredProfiles.filter { profile in device.limits.contains { $0.profile == profile } }
        let standard = asked.codec.standardName
        guard let best = offered.first else {
            throw VaencError(
                .unavailable, "\(device.driver) does not encode \(standard)",
                remedy: "choose another `device`, or software")
        }
        // What is asked for by its depth is as much asked for as by its name.
        let byDepth: CodecProfile? = asked.bitDepth == 10 ? .hevcMain10 : nil
        if let wanted = asked.profile ?? byDepth, !offered.contains(wanted) {
            let names = offered.map(\.rawValue).joined(separator: ", ")
            throw VaencError(
                .unavailable, "\(device.driver) does not encode \(standard) \(wanted.shortName)",
                remedy: "it offers \(names)")
        }
        let profile = asked.profile ?? best
        report.add(
            "profile", asked: asked.profile?.rawValue, used: profile.rawValue,
            why: asked.profile != nil ? Reason.asked : whyChosen(profile))
        reportDepth(profile)
        return try chooseEntryPoint(profile)
    }

    /// The profiles of the codec asked for that serve, the best first.
    private var preferredProfiles: [CodecProfile] {
        switch asked.codec {
        case .h264: [.h264High, .h264Main, .h264ConstrainedBaseline]
        // Main 10 takes 8 bits as well, but what a decoder needs for it is not asked for unasked.
        case .hevc: asked.codedBitDepth > 8 ? [.hevcMain10, .hevcMain] : [.hevcMain]
        }
    }

    private func whyChosen(_ profile: CodecProfile) -> String {
        switch profile {
        case .h264High: Reason.standard
        case .hevcMain: asked.codedBitDepth == 8 ? Reason.standard : "the device has no Main 10"
        case .hevcMain10: "the samples have 10 bits"
        case .h264Main, .h264ConstrainedBaseline: "the device has no High"
        }
    }

    /// Samples that come in another depth than they are coded in.
    private mutating func reportDepth(_ profile: CodecProfile) {
        let coded = profile.bitDepth
        if let wanted = asked.bitDepth { report.add("bitDepth", asked: wanted, used: coded, why: Reason.asked) }
        let entry = EffectiveEntry.pixelFormat(
            asked.inputFormat.rawValue, depth: asked.inputFormat.bitDepth, used: coded > 8 ? .p010 : .nv12, codec: profile.codec)
        if let entry { report.add(entry) }
    }

    private mutating func chooseEntryPoint(_ profile: CodecProfile) throws -> DeviceLimits {
        let wanted: DeviceLimits.EntryPoint? = asked.lowPower.map { $0 ? .sliceLowPower : .slice }
        let slice = device.limits(profile, .slice)
        let lowPower = device.limits(profile, .sliceLowPower)
        let preferred = wanted == .sliceLowPower ? lowPower : slice
        guard let used = preferred ?? slice ?? lowPower else {
            let name = "\(asked.codec.standardName) \(profile.shortName)"
            throw VaencError(
                .unavailable, "\(device.driver) has no entry point for \(name)", remedy: "choose another `profile`, `codec` or `device`")
        }
        let why =
            wanted == used.entryPoint
            ? Reason.asked
            : wanted != nil || used.entryPoint == .sliceLowPower
                ? "the only one that the driver has for \(profile.rawValue)" : Reason.standard
        report.add("entryPoint", asked: wanted?.rawValue, used: used.entryPoint.rawValue, why: why)
        return used
    }

    mutating func chooseSize() -> VideoSize {
        let size = asked.size.aligned(to: 2)
        report.add(
            "size", asked: "\(asked.size)", used: "\(size)",
            why: size == asked.size ? Reason.asked : "4:2:0 pictures are cropped in steps of two: padded by one")
        return size
    }

    /// - Parameter rate: as far as it is settled.
    mutating func chooseTools(_ limits: DeviceLimits, _ rate: RateSettings) -> CodecTools {
        switch limits.coding {
        case .h264: .h264(H264Tools(entropy: chooseEntropy(limits.profile), transform8x8: chooseTransform(limits)))
        case .hevc(let hevc): .hevc(chooseTools(limits, hevc, rate))
        }
    }

    private mutating func chooseEntropy(_ profile: CodecProfile) -> EntropyCoder {
        guard profile != .h264ConstrainedBaseline else {
            report.add(
                "entropy", asked: asked.entropy?.rawValue, used: EntropyCoder.cavlc.rawValue,
                why: "Constrained Baseline has no CABAC")
            return .cavlc
        }
        let used = asked.entropy ?? .cabac
        report.add(
            "entropy", asked: asked.entropy?.rawValue, used: used.rawValue,
            why: asked.entropy == nil ? Reason.standard : Reason.asked)
        return used
    }

    /// transform_8x8_mode_flag: High has it, and drivers that write their own picture parameter sets settle it.
    private mutating func chooseTransform(_ limits: DeviceLimits) -> Bool {
        let isHigh = limits.profile == .h264High
        let isOurs = limits.packedHeaders.contains(.sequence)
        let used = isHigh && (asked.transform8x8 ?? true)
        report.add(
            "transform8x8", asked: asked.transform8x8.map { $0 ? "on" : "off" },
            used: !isHigh ? "off" : !isOurs ? "driver's" : used ? "on" : "off",
            why: !isHigh
                ? "only High has it"
                : !isOurs
                    ? "the driver writes its own parameter sets"
                    : asked.transform8x8 == nil ? Reason.standard : Reason.asked)
        return used
    }
}
