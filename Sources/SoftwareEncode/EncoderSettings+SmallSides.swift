import HEVCSyntax
import VideoBase

extension EncoderSettings {
    /// Rejects HEVC pictures with a side below 32 that need level 5 or higher. Coding tree blocks of such a level are
    /// at least 32×32 (H.265 A.4.1), and libx265 does not use blocks larger than the picture. libx265 rejects these
    /// pictures without a reason, and crashes if such a level is requested (libx265 199).
    func checkSmallSides() throws(VaencError) {
        switch library {
        case .x264: break
        case .x265: try checkSmallSidesOfX265()
        }
    }

    private func checkSmallSidesOfX265() throws(VaencError) {
        let c = configuration
        guard min(codedSize.width, codedSize.height) < 32, let highest = HEVCSyntax.Level(number: 41) else { return }
        func unsupported(_ reason: String, _ remedy: String = "") -> VaencError {
            VaencError(
                .unavailable,
                "libx265 cannot encode pictures of \(c.size): \(reason), which libx265 supports only if each side is "
                    + "at least 32",
                remedy:
                    "\(remedy)use another size (`SourceOptions.outputSize` scales the pictures of a source), "
                    + "or use `codec` h264")
        }
        let needs = "level 5 or higher"
        // The smallest blocks are 8×8.
        let size = codedSize.aligned(to: 8)
        let longest = Int(Double(8 * highest.maxLumaPs).squareRoot()) / 8 * 8
        if max(size.width, size.height) > longest { throw unsupported("a side above \(longest) needs \(needs)") }
        if Double(size.width * size.height) * c.frameRate.value > Double(highest.maxLumaSr) {
            throw unsupported("\(c.frameRate.words) frames per second need \(needs)")
        }
        if let asked = c.level?.tenths, let used = usedLevelNumber {
            if used < 50 { return }
            let raised = used == asked ? "" : " (\(SoftwareLevel.name(asked)) is raised to it for the frame rate, bit rate or buffer)"
            throw unsupported("`level` is \(SoftwareLevel.name(used))\(raised)", "use level 4.1 or lower, ")
        }
        // The maximum rate is in kbit/s. libx265 uses the values of the table, without the factor of 1.1 for all NAL
        // units.
        let most = (highest.maxBitrate(tier: c.tier == .main ? .main : .high)?.value ?? 0) / 1100
        let rate = max(limits.bitrate, limits.maxRate)
        if rate > most { throw unsupported("\(rate) kbit/s need \(needs)", "lower `bitrate` or `maxBitrate`, ") }
    }
}
