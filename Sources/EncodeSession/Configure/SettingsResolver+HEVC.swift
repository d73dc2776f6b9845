import VideoBase

/// Chooses HEVC's coding tools: those of the device. Options that only H.264 offers are reported.
extension SettingsResolver {
    /// - Parameter rate: The rate settings resolved so far.
    mutating func chooseTools(_ limits: EncodeCapabilities, hevc: HEVCCapabilities, rate: RateSettings) -> HEVCTools {
        if let entropy = asked.coding.entropy {
            report.add(
                "entropy", asked: entropy.rawValue, used: EntropyCoder.cabac.rawValue, why: "HEVC has CABAC only")
        }
        if let transform = asked.coding.transform8x8 {
            report.add(
                "transform8x8", asked: transform ? "on" : "off", used: "on",
                why: transform ? .requested : "HEVC always uses it")
        }
        if hevc.needsTwoLists {
            report.add("pFrames", asked: nil, used: "B with equal lists", why: "the device does not support P slices")
        }
        // Regions may come with any frame.
        let varies = rate.driverChoosesQP || limits.maxRegions > 0
        return HEVCTools(
            limits: hevc, cuQPDelta: hevc.cuQPDelta == .required || (varies && hevc.cuQPDelta == .supported))
    }
}
