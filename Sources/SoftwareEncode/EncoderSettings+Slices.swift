import VideoBase

extension EncoderSettings {
    /// Maps the slices. Call it after the buffer is mapped, because HRD parameters of HEVC reduce the number of slices.
    mutating func mapSlices() {
        guard let asked = configuration.coding.slices else { return }
        let most = maxSlices
        if configuration.rate.maxSliceBytes != nil, library == .x264 {
            return report(
                "slices", asked: asked, used: "none",
                why: "libx264 does not combine `slices` with `maxSliceBytes`, which has priority")
        }
        let used = min(asked, most.count)
        set("slices", used)
        switch library {
        case .x264:
            // If threads share a picture, each thread writes a slice of at least four rows, whatever the slice count
            // is.
            if configuration.pipeline.lowLatency || configuration.pipeline.maxFrameDelay != nil {
                let maxThreads = 128
                set("threads", used <= min(codedRows(of: 16) / 4, maxThreads) ? used : 1)
            }
        case .x265: break
        }
        report("slices", asked: asked, used: "\(used)", why: used == asked ? .requested : .explained(most.reason))
    }

    /// The maximum number of slices in a picture that the library writes, and the reason for the limit.
    var maxSlices: (count: Int, reason: String) {
        switch library {
        case .x264:
            let rows = codedRows(of: 16)
            return (rows, "the picture has \(rows) macroblock rows")
        case .x265: return maxSlicesOfX265
        }
    }

    private var maxSlicesOfX265: (count: Int, reason: String) {
        // With slices, libx265 always holds back a picture. A session that waits for each picture would wait forever.
        if configuration.pipeline.lowLatency { return (1, "libx265 delays a picture if it writes slices") }
        // libx265 divides a picture only if it codes rows in parallel, which needs two rows of three blocks. With
        // fewer, it writes slices without data, or crashes (libx265 199).
        let side = blockSide
        let rows = codedRows(of: side)
        if (codedSize.width + side - 1) / side < 3 {
            return (1, "libx265 needs at least three columns of \(side)×\(side) blocks for slices")
        }
        // libx265 has space for 16 NAL units in a picture, and writes past the end of that array (libx265 199). A
        // delimiter, buffering period, picture timing and filler data also count. It never writes 16 slices.
        let others = (configuration.headers.accessUnitDelimiters ? 1 : 0) + (writesHRD ? 2 : 0) + (mode == .cbr ? 1 : 0)
        let room = 16 - max(others, 1)
        if rows > room { return (room, "libx265 writes at most 16 NAL units for each picture") }
        return (rows, "the picture has \(rows == 1 ? "one row" : "\(rows) rows") of blocks of \(side)×\(side)")
    }

    private func codedRows(of side: Int) -> Int { (codedSize.height + side - 1) / side }

    /// The side of libx265's largest blocks: libavcodec reduces it for small pictures.
    private var blockSide: Int {
        let shorter = min(codedSize.width, codedSize.height)
        return shorter < 32 ? 16 : shorter < 64 || preset == Self.presetNames.count ? 32 : 64
    }

    /// Returns the maximum number of slices for a configuration. Without a size, 1920×1080 is used.
    static func maxSlices(_ configuration: EncoderConfiguration) -> Int {
        var whole = configuration
        (whole.strict, whole.coding.slices) = (false, nil)
        if whole.size.width <= 0 || whole.size.height <= 0 { whole.size = VideoSize(width: 1920, height: 1080) }
        // If another setting cannot be encoded, only the size counts.
        var bare = EncoderConfiguration(size: whole.size)
        bare.codec = whole.codec
        return ((try? EncoderSettings(whole)) ?? (try? EncoderSettings(bare)))?.maxSlices.count ?? 1
    }
}
