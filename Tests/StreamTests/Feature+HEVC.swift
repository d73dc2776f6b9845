import BitstreamInspection
import TestOracles
import VideoBase

extension Feature {
    /// Of H.264 alone, or shown by another syntax element in HEVC.
    private static let ofH264: Set<String> = [
        "IDR picture every second I picture", "7 B frames in a pyramid", "long-term references",
        "size of the decoder's buffer", "buffering period and picture timing", "filler in CBR", "Constrained Baseline",
        "Main", "CAVLC", "no 8×8 transform", "no deblocking", "deblocking offsets", "trellis", "25 frames/s",
        "a level", "a size of no whole macroblocks",
    ]

    /// HEVC's: those that show as in H.264, and its own.
    static let hevc = all.flatMap(\.features).filter { !ofH264.contains($0.name) } + own

    private static let own = [
        Feature(
            "IDR picture every second I picture", "idrInterval", "gop",
            change: { ($0.gopFrames, $0.idrInterval) = (3, 2) },
            missing: holds("IDR, CRA, IDR, CRA") { run in
                let intra = run.hevc.frames.filter { $0.kind == .i }
                return intra.map(\.isIDR) == [true, false, true, false] && intra.allSatisfy { $0.isIDR || $0.isCRA }
            }),
        Feature(
            "7 B frames in a pyramid", "bFrames", "bPyramid", change: { ($0.bFrames, $0.bPyramid) = (7, true) },
            missing: holds("sps_max_num_reorder_pics is 3") {
                $0.hevc.sequenceSets[0].highest.max_num_reorder_pics == 3
            }),
        Feature(
            "leading pictures", "openGOP", "bFrames", change: { ($0.openGOP, $0.bFrames, $0.gopFrames) = (true, 2, 6) },
            missing: holds("RASL pictures of a CRA picture") { run in
                run.hevc.frames.contains { $0.isRASL } && run.hevc.frames.contains { $0.isCRA }
            }),
        Feature(
            "long-term references", "longTermReferences", change: { ($0.longTermReferences, $0.references) = (2, nil) },
            missing: holds("long-term pictures in reference picture sets") { $0.hevc.frames.contains { $0.isLongTerm } }
        ),
        Feature(
            "size of the decoder's buffer", "vbvSize",
            change: {
                ($0.qp, $0.rateControl, $0.bitrate) = (nil, .vbr, BitsPerSecond(300_000))
                $0.vbvSize = 160_000
            },
            missing: becomes("CpbSize", 160_000) {
                $0.hevc.sequenceSets[0].vui?.hrd?.subLayers.last?.nal.first?.cpbSize ?? 0
            }),
        Feature(
            "buffering period and picture timing", "hrdParameters",
            change: {
                ($0.qp, $0.rateControl, $0.bitrate) = (nil, .cbr, BitsPerSecond(300_000))
                $0.hrdParameters = true
            },
            missing: holds("a clock tick a picture") { run in
                let delays = run.hevc.frames.dropFirst().compactMap { $0.pictureTiming?.au_cpb_removal_delay }
                return delays == Array(1..<run.hevc.frames.count)
            }),
        Feature(
            "filler in CBR", "rateControl",
            change: { ($0.qp, $0.rateControl, $0.bitrate) = (nil, .cbr, BitsPerSecond(2_000_000)) },
            missing: holds("filler") { $0.hevc.nalUnits.contains { $0.type == 38 } }
        ).with { $0.isStill = true },
        Feature(
            "no deblocking", "deblocking", change: { $0.deblocking = Deblocking(isOn: false) },
            missing: holds("slice_deblocking_filter_disabled_flag") { run in
                run.hevc.frames.allSatisfy { $0.slices.allSatisfy(\.header.slice_deblocking_filter_disabled_flag) }
            }),
        Feature(
            "deblocking offsets", "deblocking", change: { $0.deblocking = Deblocking(alphaOffset: -2, betaOffset: 3) },
            missing: holds("slice_beta_offset_div2 is 3") { run in
                run.hevc.frames.allSatisfy { $0.slices.allSatisfy { $0.header.slice_beta_offset_div2 == 3 } }
            }),
        Feature(
            "25 frames/s", "frameRate", change: { $0.frameRate = Rational(25) },
            missing: becomes("clock ticks a second", 25) {
                ($0.hevc.sequenceSets[0].vui?.timing?.tick).map { Int((1 / $0).rounded()) } ?? 0
            }),
        Feature(
            "a size of no whole coding blocks", "size", change: { $0.size = VideoSize(width: 270, height: 134) },
            missing: becomes("the visible width", 270) { $0.inspected.visibleSize?.width ?? 0 }),
    ]
}
