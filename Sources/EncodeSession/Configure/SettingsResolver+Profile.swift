import VideoBase

extension SettingsResolver {
    /// Profile and entry point: the profile asked for, else the first of High, Main, Constrained Baseline that the
    /// device has; EncSlice where there is one, unless low power is asked for.
    mutating func chooseProfile() throws -> DeviceLimits {
        let profiles: [CodecProfile] = [.h264High, .h264Main, .h264ConstrainedBaseline]
        let offered = profiles.filter { profile in device.limits.contains { $0.profile == profile } }
        guard let best = offered.first else {
            throw VaencError(
                .unavailable, "\(device.driver) does not encode H.264", remedy: "choose another --device, or software")
        }
        if let wanted = asked.profile, !offered.contains(wanted) {
            let names = offered.map(\.rawValue).joined(separator: ", ")
            throw VaencError(
                .unavailable, "\(device.driver) does not encode H.264 \(wanted.rawValue)", remedy: "it offers \(names)")
        }
        let profile = asked.profile ?? best
        report.add(
            "profile", asked: asked.profile?.rawValue, used: profile.rawValue,
            why: asked.profile != nil ? Reason.asked : best == .h264High ? Reason.standard : "the device has no High")
        return try chooseEntryPoint(profile)
    }

    private mutating func chooseEntryPoint(_ profile: CodecProfile) throws -> DeviceLimits {
        let wanted: DeviceLimits.EntryPoint? = asked.lowPower.map { $0 ? .sliceLowPower : .slice }
        let slice = device.limits(profile, .slice)
        let lowPower = device.limits(profile, .sliceLowPower)
        let preferred = wanted == .sliceLowPower ? lowPower : slice
        guard let used = preferred ?? slice ?? lowPower else {
            throw VaencError(.unavailable, "\(device.driver) has no entry point for H.264 \(profile.rawValue)")
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

    mutating func chooseTools(_ limits: DeviceLimits) -> CodecTools {
        .h264(H264Tools(entropy: chooseEntropy(limits.profile), transform8x8: chooseTransform(limits)))
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
