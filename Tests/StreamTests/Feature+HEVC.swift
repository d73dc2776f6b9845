import ExtremeValues
import BitstreamInspection
import TestOracles
import VideoBase

extension Feature {
    /// The features of H.264 alone.
    private static let ofH264: Set<String> = [
        "Constrained Baseline", "Main", "CAVLC", "no 8×8 transform", "4 slices", "trellis",
        "fastest quality level", "a size that is not a multiple of 16",
    ]

    /// The HEVC features by groups: those that are checked as in H.264, with replacements for those that another syntax
    /// element shows.
    static let hevc: [(group: String, features: [Feature])] = all.map { group, features in
        let others = own.filter { $0.group == group }.map(\.feature)
        let shared = features.filter { !ofH264.contains($0.name) }
        let replaced = shared.map { feature in others.first { $0.name == feature.name } ?? feature }
        let added = others.filter { feature in !shared.contains { $0.name == feature.name } }
        return (group: group, features: replaced + added)
    }

    private static let own: [(group: String, feature: Feature)] =
        [
            ("Structure", structure), ("References", references), ("Rate", rate), ("Pictures", pictures),
            ("Headers", headers),
        ].flatMap { group, features in features.map { (group: group, feature: $0) } }

    private static let structure = [
        Feature(
            "IDR picture every second I picture", "idrInterval", "gop",
            change: { ($0.structure.gopFrames, $0.structure.idrInterval) = (3, 2) },
            missing: holds("IDR, CRA, IDR, CRA") { run in
                let intra = run.hevc.frames.filter { $0.kind == .i }
                return intra.map(\.isIDR) == [true, false, true, false] && intra.allSatisfy { $0.isIDR || $0.isCRA }
            }),
        Feature(
            "7 B frames in a pyramid", "bFrames", "bPyramid", change: { ($0.structure.bFrames, $0.structure.bPyramid) = (7, true) },
            // Three levels need four stored pictures; devices that store three have two levels.
            missing: holds("sps_max_num_reorder_pics is 2 or 3, and pictures are predicted from B pictures") { run in
                let order = run.hevc.sequenceSets[0].highest
                return order.max_num_reorder_pics == min(order.max_dec_pic_buffering - 2, 3)
                    && order.max_num_reorder_pics > 1 && run.inspected.pictures.contains { $0.isB && $0.isReference }
            }),
        Feature(
            "leading pictures", "openGOP", "bFrames", change: { ($0.structure.openGOP, $0.structure.bFrames, $0.structure.gopFrames) = (true, 2, 6) },
            missing: holds("RASL pictures of a CRA picture") { run in
                run.hevc.frames.contains { $0.isRASL } && run.hevc.frames.contains { $0.isCRA }
            }),
    ]

    private static let references = [
        Feature(
            "long-term references", "longTermReferences", change: { ($0.structure.longTermReferences, $0.structure.references) = (2, nil) },
            missing: holds("long-term pictures in reference picture sets") { $0.hevc.frames.contains { $0.isLongTerm } }
        )
    ]

    private static let rate = [
        // The limit is lower than the rate that HEVC needs at the plain stream's QP.
        Feature(
            "data-rate limit", "dataRateLimits",
            change: {
                ($0.rate.qp, $0.rate.rateControl, $0.rate.rateController, $0.rate.bitrate) = (nil, .vbr, .vaenc, BitsPerSecond(40_000))
                $0.rate.dataRateLimits = [DataRateLimit(bytes: 1300, duration: .seconds(0.2))]
            },
            missing: holds("no six frames above 1300 bytes") { run in
                let sizes = run.inspected.picturesInOutputOrder.map(\.byteCount)
                return sizes.indices.dropLast(5).allSatisfy { sizes[$0..<($0 + 6)].reduce(0, +) <= 1300 }
            }),
        Feature(
            "decoder buffer size (VBV)", "vbvSize",
            change: {
                ($0.rate.qp, $0.rate.rateControl, $0.rate.bitrate) = (nil, .vbr, BitsPerSecond(300_000))
                $0.rate.vbvSize = 160_000
            },
            missing: becomes("CpbSize", 160_000) {
                $0.hevc.sequenceSets[0].vui?.hrd?.subLayers.last?.nal.first?.cpbSize ?? 0
            }),
        Feature(
            "buffering period and picture timing", "hrdParameters",
            change: {
                ($0.rate.qp, $0.rate.rateControl, $0.rate.bitrate) = (nil, .cbr, BitsPerSecond(300_000))
                $0.headers.hrdParameters = true
            },
            missing: holds("a clock tick a picture") { run in
                let delays = run.hevc.frames.dropFirst().compactMap { $0.pictureTiming?.au_cpb_removal_delay }
                return delays == Array(1..<run.hevc.frames.count)
            }),
        Feature(
            "filler in CBR", "rateControl",
            change: { ($0.rate.qp, $0.rate.rateControl, $0.rate.bitrate) = (nil, .cbr, BitsPerSecond(2_000_000)) },
            missing: holds("filler") { $0.hevc.nalUnits.contains { $0.type == 38 } }
        ).with { $0.isStill = true },
    ]

    private static let pictures = [
        Feature(
            "10 bits", "profile", change: { $0 = HEVCSessions.hevc($0, 10) },
            missing: becomes("the bit depth", 10) { $0.inspected.bitDepth }),
        // All other features use the fastest level.
        Feature("middle quality level", "preset", change: { $0.coding.preset = 4 }) { run, plain in
            run.encoded.stream == plain.encoded.stream ? "the same stream" : nil
        },
        // The pictures have two rows of the largest blocks.
        Feature(
            "2 slices", "slices", change: { $0.coding.slices = 2 },
            missing: becomes("slices in a picture", [2]) { Set($0.inspected.pictures.map(\.sliceCount)) }),
        Feature(
            "no deblocking", "deblocking", change: { $0.coding.deblocking = Deblocking(isOn: false) },
            missing: holds("slice_deblocking_filter_disabled_flag") { run in
                run.hevc.frames.allSatisfy { $0.slices.allSatisfy(\.header.slice_deblocking_filter_disabled_flag) }
            }),
        Feature(
            "deblocking offsets", "deblocking", change: { $0.coding.deblocking = Deblocking(alphaOffset: -2, betaOffset: 3) },
            missing: holds("slice_beta_offset_div2 is 3") { run in
                run.hevc.frames.allSatisfy { $0.slices.allSatisfy { $0.header.slice_beta_offset_div2 == 3 } }
            }),
    ]

    private static let headers = [
        Feature(
            "25 frames/s", "frameRate", change: { $0.frameRate = Rational(25) },
            missing: becomes("clock ticks a second", 25) {
                ($0.hevc.sequenceSets[0].vui?.timing?.tick).map { Int((1 / $0).rounded()) } ?? 0
            }),
        Feature("requested level", "level", change: { $0.level = 40 }, missing: field("general_level_idc", 120)),
        Feature(
            "a size that is not a multiple of the coding block", "size", change: { $0.size = VideoSize(width: 270, height: 134) },
            missing: becomes("the visible width", 270) { $0.inspected.visibleSize?.width ?? 0 }),
        Feature(
            "mastering display and content light",
            change: {
                $0.display.masteringDisplay = MasteringDisplay(
                    "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)")
                $0.display.contentLight = ContentLight("1000,400")
            },
            missing: { run, plain in
                let names = ["max_display_mastering_luminance", "max_content_light_level", "max_pic_average_light_level"]
                if names.contains(where: { !plain.trace[$0].isEmpty }) { return "HDR metadata in any case" }
                let found = names.map { Set(run.trace[$0]) }
                return found == [[10_000_000], [1000], [400]] ? nil : "HDR metadata: \(found)"
            }),
    ]
}
