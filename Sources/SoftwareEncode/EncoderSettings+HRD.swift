import VideoBase

extension EncoderSettings {
    /// The library is asked for HRD parameters.
    var writesHRD: Bool { parameters.contains { $0.name == "nal-hrd" || $0.name == "hrd" } }

    mutating func mapHRD(_ hasBuffer: Bool) {
        guard let wanted = configuration.hrdParameters else { return }
        let used = wanted && hasBuffer
        if used {
            switch library {
            // With a constant rate it is set already.
            case .x264: if mode != .cbr { set("nal-hrd", "vbr") }
            case .x265: set("hrd", 1)
            }
        }
        report(
            "hrdParameters", wanted ? "on" : "off", used ? "on" : "off",
            used == wanted ? "as asked" : "\(mode.rawValue) keeps no buffer")
    }

    /// The limits as the library gets them: libx265 counts the bits of slices alone, HRD parameters those of all NAL units.
    /// The highest rate is lowered by what else there is, so that the buffer that the library follows is never fuller than
    /// the decoder's.
    func given(_ limits: RateLimits) -> RateLimits {
        switch library {
        case .x264: return limits
        case .x265: break
        }
        guard writesHRD, limits.maxRate > 0 else { return limits }
        var given = limits
        given.maxRate = max(1, limits.maxRate - uncountedRate)
        given.bitrate = min(limits.bitrate, given.maxRate)
        return given
    }

    /// Thousands of bits a second of start codes, SEI messages, delimiters and parameter sets, rounded up.
    private var uncountedRate: Int {
        func value(_ name: String) -> Int? { parameters.first { $0.name == name }.flatMap { Int($0.value) } }
        let delimiter = configuration.accessUnitDelimiters ? 7 : 0
        // A start code a slice, and 14 bytes of picture timing.
        let perPicture = 4 * max(value("slices") ?? 1, 1) + 14 + delimiter
        // VPS, SPS, PPS and buffering period take some 130 bytes, HDR metadata 45.
        let hasHDR = configuration.masteringDisplay != nil || configuration.contentLight != nil
        let perKey = 160 + (hasHDR ? 50 : 0)
        let bytes = Double(perPicture) + Double(perKey) / Double(isAllIntra ? 1 : max(value("keyint") ?? 1, 1))
        return Int(saturating: (bytes * 8 * configuration.frameRate.value / 1000).rounded(.up))
    }
}
