import VideoBase

extension EncoderSettings {
    /// Whether the library writes HRD parameters.
    var writesHRD: Bool { parameters.contains { $0.name == "nal-hrd" || $0.name == "hrd" } }

    mutating func mapHRD(_ hasBuffer: Bool) {
        guard let wanted = configuration.headers.hrdParameters else { return }
        let used = wanted && hasBuffer
        if used {
            switch library {
            // With a constant rate it is set already.
            case .x264: if mode != .cbr { set("nal-hrd", "vbr") }
            case .x265: set("hrd", 1)
            }
        }
        report(
            "hrdParameters", asked: wanted ? "on" : "off", used: used ? "on" : "off",
            why: used == wanted ? .requested : "\(mode.rawValue) has no buffer")
    }

    /// Returns the limits that are passed to the library. libx265 counts only the bits of slices, but HRD parameters
    /// apply to all NAL units. Therefore the maximum rate is reduced by the rate of the other data, so that the
    /// library's buffer is never fuller than the decoder's.
    func libraryLimits(_ limits: RateLimits) -> RateLimits {
        switch library {
        case .x264: return limits
        case .x265: break
        }
        guard writesHRD, limits.maxRate > 0 else { return limits }
        var reduced = limits
        reduced.maxRate = max(1, limits.maxRate - uncountedRate)
        reduced.bitrate = min(limits.bitrate, reduced.maxRate)
        return reduced
    }

    /// The rate of start codes, SEI messages, delimiters and parameter sets in kbit/s, rounded up.
    private var uncountedRate: Int {
        func value(_ name: String) -> Int? { parameters.first { $0.name == name }.flatMap { Int($0.value) } }
        let delimiter = configuration.headers.accessUnitDelimiters ? 7 : 0
        // Each slice has a start code, and picture timing takes 14 bytes.
        let perPicture = 4 * max(value("slices") ?? 1, 1) + 14 + delimiter
        // VPS, SPS, PPS and buffering period take about 130 bytes; HDR metadata takes 45.
        let hasHDR = configuration.display.masteringDisplay != nil || configuration.display.contentLight != nil
        let perKey = 160 + (hasHDR ? 50 : 0)
        let bytes = Double(perPicture) + Double(perKey) / Double(isAllIntra ? 1 : max(value("keyint") ?? 1, 1))
        return Int(clamping: (bytes * 8 * configuration.frameRate.value / 1000).rounded(.up))
    }
}
