import VideoBase

extension EncoderSettings {
    /// Slices. After the buffer: HRD parameters of HEVC leave less room for them.
    mutating func mapSlices() {
        guard let asked = configuration.slices else { return }
        let most = mostSlices
        let used = min(asked, most.count)
        set("slices", used)
        switch library {
        case .x264:
            // Threads that share a picture write a slice each, whatever number is asked for, and at least four rows.
            if configuration.lowLatency || configuration.maxFrameDelay != nil {
                let mostThreads = 128
                set("threads", used <= min(codedRows(of: 16) / 4, mostThreads) ? used : 1)
            }
        case .x265: break
        }
        report("slices", asked, "\(used)", used == asked ? "as asked" : most.reason)
    }

    /// Slices of a picture that the library writes, and what limits them.
    var mostSlices: (count: Int, reason: String) {
        switch library {
        case .x264:
            let rows = codedRows(of: 16)
            return (rows, "the picture has \(rows) macroblock rows")
        case .x265: return mostSlicesOfX265
        }
    }

    private var mostSlicesOfX265: (count: Int, reason: String) {
        // With slices libx265 keeps a picture back, whatever it is told: a session that waits for each would wait for ever.
        if configuration.lowLatency { return (1, "libx265 keeps a picture back where it writes slices") }
        // It cuts a picture only if it codes rows side by side, which takes two rows of three blocks. With fewer it writes slices
        // without data, or crashes (libx265 199).
        let side = blockSide
        let rows = codedRows(of: side)
        if (codedSize.width + side - 1) / side < 3 {
            return (1, "libx265 cuts no pictures with fewer than three columns of blocks of \(side)×\(side)")
        }
        // It has room for 16 NAL units in a picture, and writes behind it (libx265 199): a delimiter, buffering period, picture
        // timing and filler. It never takes 16 slices.
        let others = (configuration.accessUnitDelimiters ? 1 : 0) + (writesHRD ? 2 : 0) + (mode == .cbr ? 1 : 0)
        let room = 16 - max(others, 1)
        if rows > room { return (room, "libx265 has room for no more beside what else it writes") }
        return (rows, "the picture has \(rows == 1 ? "one row" : "\(rows) rows") of blocks of \(side)×\(side)")
    }

    private func codedRows(of side: Int) -> Int { (codedSize.height + side - 1) / side }

    /// Of libx265's largest blocks: libavcodec lowers it for small pictures.
    private var blockSide: Int {
        let shorter = min(codedSize.width, codedSize.height)
        return shorter < 32 ? 16 : shorter < 64 || preset == Self.presetNames.count ? 32 : 64
    }

    /// Slices that a session of this configuration has at most; without a size, of a usual one.
    static func mostSlices(_ configuration: EncoderConfiguration) -> Int {
        var whole = configuration
        (whole.strict, whole.slices) = (false, nil)
        if whole.size.width <= 0 || whole.size.height <= 0 { whole.size = VideoSize(width: 1920, height: 1080) }
        // If something else cannot be encoded, the size alone counts.
        var bare = EncoderConfiguration(size: whole.size)
        bare.codec = whole.codec
        return ((try? EncoderSettings(whole)) ?? (try? EncoderSettings(bare)))?.mostSlices.count ?? 1
    }
}
