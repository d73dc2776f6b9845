import ExtremeValues
import BitstreamInspection
import EncodeSession
import TestOracles
import VideoBase

extension Feature {
    /// All features by groups, in the order of the matrix.
    static let all: [(group: String, features: [Feature])] = [
        ("Structure", structure), ("References", references), ("Rate", rate), ("Pictures", pictures),
        ("Headers", headers),
    ]

    private static let structure = [
        Feature("GOP of 4 frames", "gop", change: { $0.structure.gopFrames = 4 }, missing: becomes("IDR pictures", [0, 4, 8]) { $0.keys }),
        Feature(
            "GOP in seconds", "gop", change: { ($0.structure.gopFrames, $0.structure.gopDuration) = (nil, .seconds(0.2)) },
            missing: becomes("IDR pictures", [0, 6]) { $0.keys }),
        Feature(
            "IDR picture every second I picture", "idrInterval", "gop", change: { ($0.structure.gopFrames, $0.structure.idrInterval) = (3, 2) },
            missing: becomes("nal_unit_type", [5, 1, 1, 1, 1, 1, 5, 1, 1, 1, 1, 1]) { $0.slices("nal_unit_type") }),
        Feature(
            "forced key frame", "forcedKeyFrames", change: { $0.structure.forcedKeyFrames = [5] },
            missing: becomes("IDR pictures", [0, 5]) { $0.keys }),
        Feature(
            "forced key frame by time", "forcedKeyTimes", change: { $0.structure.forcedKeyTimes = [.seconds(0.25)] },
            missing: becomes("IDR pictures", [0, 8]) { $0.keys }),
        Feature("key frame by a frame's option", change: { _ in }, missing: becomes("IDR pictures", [0, 7]) { $0.keys })
            .with { $0.frameOptions = { index, _ in FrameOptions(forceKeyFrame: index == 7) } },
        Feature(
            "1 B frame", "bFrames", change: { $0.structure.bFrames = 1 },
            missing: becomes("types", "IBPBPBPBPBPP") { $0.types }),
        Feature(
            "3 B frames, flat", "bFrames", "bPyramid", change: { ($0.structure.bFrames, $0.structure.bPyramid) = (3, false) },
            missing: becomes("types", "IBBBPBBBPBBP") { $0.types }),
        Feature(
            "7 B frames, flat", "bFrames", "bPyramid", change: { ($0.structure.bFrames, $0.structure.bPyramid) = (7, false) },
            missing: becomes("types", "IBBBBBBBPBBP") { $0.types }),
        Feature(
            "3 B frames in a pyramid", "bFrames", "bPyramid", change: { ($0.structure.bFrames, $0.structure.bPyramid) = (3, true) },
            missing: holds("B pictures are references") { $0.inspected.pictures.contains { $0.isB && $0.isReference } }),
        Feature(
            "7 B frames in a pyramid", "bFrames", "bPyramid", change: { ($0.structure.bFrames, $0.structure.bPyramid) = (7, true) },
            missing: becomes("max_num_reorder_frames", [3]) { Set($0.trace["max_num_reorder_frames"]) }),
        Feature(
            "open GOP", "openGOP", "bFrames", change: { ($0.structure.openGOP, $0.structure.bFrames, $0.structure.gopFrames) = (true, 2, 6) },
            missing: becomes("types", "IBBPBBiBBPBP") { $0.types }),
        Feature(
            "rolling intra refresh", "intraRefresh", change: { $0.structure.intraRefresh = true },
            missing: holds("recovery points") { $0.inspected.pictures.contains(where: \.hasRecoveryPoint) }),
        Feature(
            "2 temporal layers", "temporalLayers", change: { $0.structure.temporalLayers = 2 },
            missing: becomes("temporal_id", [0, 1]) { $0.layers }),
        Feature(
            "3 temporal layers", "temporalLayers", change: { $0.structure.temporalLayers = 3 },
            missing: becomes("temporal_id", [0, 1, 2]) { $0.layers }),
        Feature(
            "4 temporal layers", "temporalLayers", change: { $0.structure.temporalLayers = 4 },
            missing: becomes("temporal_id", [0, 1, 2, 3]) { $0.layers }),
        Feature("low latency", "lowLatency", "asyncDepth", change: { $0.pipeline.lowLatency = true }) { run, _ in
            run.maxPending == 0 ? nil : "\(run.maxPending) frames waited"
        },
    ]

    private static let references = [
        Feature(
            "2 references", "references", change: { $0.structure.references = 2 },
            missing: becomes("longest list 0", 2) { $0.longestList }),
        Feature(
            "4 references", "references", change: { $0.structure.references = 4 },
            missing: becomes("longest list 0", 4) { $0.longestList }),
        Feature(
            "2 B frames, 2 references", "bFrames", "references", change: { ($0.structure.bFrames, $0.structure.references) = (2, 2) },
            missing: becomes("longest list 0", 2) { $0.longestList }),
        Feature(
            "long-term references", "longTermReferences", change: { ($0.structure.longTermReferences, $0.structure.references) = (2, nil) },
            missing: holds("long_term_reference_flag") { $0.trace["long_term_reference_flag"].contains(1) }),
        Feature(
            "refresh from an acknowledged reference", "longTermReferences",
            change: { ($0.structure.longTermReferences, $0.structure.references, $0.pipeline.lowLatency) = (2, nil, true) },
            missing: { run, _ in
                guard run.keys == [0] else { return "IDR pictures at \(run.keys)" }
                let references = run.inspected.pictures[8].references
                return references == [0] ? nil : "the refresh predicts from \(references)"
            }
        ).with {
            $0.frameOptions = { index, packets in
                var options = FrameOptions()
                if index == 3 { options.acknowledgedTokens = packets.prefix(1).compactMap(\.acknowledgementToken) }
                options.refreshFromLongTerm = index == 8
                return options
            }
        },
        Feature(
            "invalidation of a lost frame", "references",
            change: { ($0.structure.references, $0.pipeline.lowLatency) = (3, true) },
            missing: { run, _ in
                guard run.keys == [0] else { return "IDR pictures at \(run.keys)" }
                let after = run.inspected.pictures[8...].flatMap(\.references)
                return after.contains(6) || after.contains(7) ? "frames 6 and 7 are predicted from" : nil
            }
        ).with {
            $0.keyOfOneReference = 8
            $0.before = { index, encoder in if index == 8 { try encoder.invalidateReferences(displayIndices: [6]) } }
        },
    ]

    private static func rate(
        _ mode: RateControlMode?, _ bitrate: Int, most: Int? = nil, by controller: RateControlOwner? = nil,
        _ more: @escaping @Sendable (inout EncoderConfiguration) -> Void = { _ in }
    ) -> @Sendable (inout EncoderConfiguration) -> Void {
        {
            $0.rate.qp = nil
            $0.rate.rateControl = mode
            $0.rate.bitrate = BitsPerSecond(bitrate)
            $0.rate.maxBitrate = most.map { BitsPerSecond($0) }
            $0.rate.rateController = controller
            more(&$0)
        }
    }

    private static let rate = [
        Feature("constant QP", "rateControl", "qp", change: { $0.rate.qp = 36 }, missing: becomes("QP of P pictures", [36]) { $0.qps(.p) }),
        Feature(
            "a QP for each picture type", "qp", "qpI", "qpB", "bFrames",
            change: { ($0.rate.qp, $0.rate.qpI, $0.rate.qpB, $0.structure.bFrames) = (30, 24, 35, 2) },
            missing: becomes("QP of I, P and B pictures", [[24], [30], [35]]) { run in [.i, .p, .b].map { run.qps($0) } }),
        Feature("CBR", "rateControl", change: rate(.cbr, 300_000), missing: field("cbr_flag[0]", 1)),
        Feature("VBR", "rateControl", change: rate(.vbr, 300_000, most: 500_000), missing: field("cbr_flag[0]", 0)),
        Feature(
            "ICQ", "rateControl", change: { ($0.rate.qp, $0.rate.rateControl, $0.rate.quality) = (nil, .icq, 38) },
            missing: holds("mean QP above 33") { $0.meanQP > 33 }),
        Feature(
            "QVBR", "rateControl", change: rate(.qvbr, 600_000) { $0.rate.quality = 34 }, missing: field("cbr_flag[0]", 0)),
        Feature(
            "AVBR", "rateControl", change: rate(.avbr, 300_000),
            missing: { run, plain in
                func qps(_ run: SessionRun) -> Set<Int> { Set(run.encoded.reconstruction.pictures.map(\.qp)) }
                return qps(run) == qps(plain) ? "the QPs of a constant QP" : nil
            }),
        Feature("CBR by vaenc", "rateControl", "rateController", change: rate(.cbr, 300_000, by: .vaenc), missing: field("cbr_flag[0]", 1)),
        Feature("VBR by vaenc", "rateControl", "rateController", change: rate(.vbr, 300_000, by: .vaenc), missing: field("cbr_flag[0]", 0)),
        Feature(
            "minimum QP", "minQP", change: rate(.vbr, 3_000_000) { $0.rate.minQP = 32 },
            missing: holds("no QP below 32") { $0.encoded.reconstruction.pictures.allSatisfy { $0.qp >= 32 } }),
        Feature(
            "maximum QP", "maxQP", change: rate(.vbr, 50_000) { $0.rate.maxQP = 26 },
            missing: holds("no QP above 26") { $0.encoded.reconstruction.pictures.allSatisfy { $0.qp <= 26 } }),
        Feature(
            "maximum picture size", "maxFrameBytes", change: rate(.vbr, 200_000) { $0.rate.maxFrameBytes = 900 },
            missing: { run, _ in
                let most = run.inspected.pictures.map(\.byteCount).max() ?? 0
                return most <= 900 ? nil : "a frame of \(most) bytes"
            }),
        Feature(
            "data-rate limit", "dataRateLimits",
            change: rate(.vbr, 60_000, by: .vaenc) { $0.rate.dataRateLimits = [DataRateLimit(bytes: 1800, duration: .seconds(0.2))] },
            missing: holds("no six frames above 1800 bytes") { run in
                let sizes = run.inspected.picturesInOutputOrder.map(\.byteCount)
                return sizes.indices.dropLast(5).allSatisfy { sizes[$0..<($0 + 6)].reduce(0, +) <= 1800 }
            }),
        Feature(
            "decoder buffer size (VBV)", "vbvSize", change: rate(.vbr, 300_000) { $0.rate.vbvSize = 160_000 },
            missing: becomes("cpb_size", 160_000) {
                $0.stream.sequenceSets[0].vui?.nal_hrd_parameters?.schedules[0].cpbSize ?? 0
            }),
        Feature(
            "buffering period and picture timing", "hrdParameters", change: rate(.cbr, 300_000) { $0.headers.hrdParameters = true },
            missing: becomes("cpb_removal_delay", Array(stride(from: 0, to: 24, by: 2))) { $0.trace["cpb_removal_delay"] }),
        Feature(
            "filler in CBR", "rateControl", change: rate(.cbr, 2_000_000),
            missing: holds("filler") { $0.stream.nalUnits.contains { $0.type == 12 } }
        ).with { $0.isStill = true },
        // After this change, the HRD parameters in the headers would no longer apply.
        Feature(
            "bit rate changed while running", "rateControl", change: rate(.vbr, 100_000) { $0.headers.hrdParameters = false }
        ) { run, _ in
            guard run.keys == [0] else { return "IDR pictures at \(run.keys)" }
            let sizes = run.inspected.picturesInOutputOrder.map(\.byteCount)
            let (before, after) = (sizes[3..<6].reduce(0, +), sizes[8..<12].reduce(0, +))
            return after > 2 * before ? nil : "\(before) bytes, then \(after)"
        }.with {
            $0.before = { index, encoder in
                var change = RunningChange()
                change.bitrate = BitsPerSecond(2_000_000)
                change.maxBitrate = BitsPerSecond(3_000_000)
                if index == 6 { try encoder.change(change) }
            }
        },
    ]

    private static let pictures = [
        Feature("Constrained Baseline", "profile", change: { $0.profile = .h264ConstrainedBaseline }, missing: field("profile_idc", 66)),
        Feature("Main", "profile", change: { $0.profile = .h264Main }, missing: field("profile_idc", 77)),
        Feature("CAVLC", "entropy", change: { $0.coding.entropy = .cavlc }, missing: field("entropy_coding_mode_flag", 0)),
        Feature("no 8×8 transform", "transform8x8", change: { $0.coding.transform8x8 = false }, missing: field("transform_8x8_mode_flag", 0)),
        Feature(
            "4 slices", "slices", change: { $0.coding.slices = 4 },
            missing: becomes("slices in a picture", [4]) { Set($0.inspected.pictures.map(\.sliceCount)) }),
        Feature(
            "maximum slice size", "maxSliceBytes", change: { ($0.rate.maxSliceBytes, $0.rate.qp) = (700, 24) },
            missing: holds("no slice above 700 bytes") { $0.inspected.largestSlice <= 700 }),
        Feature(
            "no deblocking", "deblocking", change: { $0.coding.deblocking = Deblocking(isOn: false) },
            missing: field("disable_deblocking_filter_idc", 1)),
        Feature(
            "deblocking offsets", "deblocking", change: { $0.coding.deblocking = Deblocking(alphaOffset: -2, betaOffset: 3) },
            missing: field("slice_beta_offset_div2", 3)),
        Feature(
            "region of interest", "regionsOfInterest",
            change: { $0.coding.regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 128, height: 64, qpDelta: -12)] }
        ) { run, plain in
            let (with, without) = (run.quality(x: 0, y: 0, 128, 64), plain.quality(x: 0, y: 0, 128, 64))
            return with > without + 1 ? nil : "\(with) dB, \(without) without"
        },
        Feature("best quality level", "preset", change: { $0.coding.preset = 1 }) { run, plain in
            run.encoded.stream == plain.encoded.stream ? "the same stream" : nil
        },
        Feature("fastest quality level", "preset", change: { $0.coding.preset = 7 }) { run, plain in
            run.encoded.stream == plain.encoded.stream ? "the same stream" : nil
        },
        // The option is a parameter of the device that leaves no trace in headers; only its acceptance is checked.
        Feature("trellis", "trellis", change: { $0.coding.trellis = true }) { _, _ in nil },
        Feature("macroblock rate control", "macroblockRateControl", change: rate(.cbr, 300_000) { $0.rate.macroblockRateControl = true }) {
            _, _ in nil
        },
        Feature("EncSlice", "entryPoint", change: { $0.lowPower = false }) { _, _ in nil },
        Feature("EncSliceLP", "entryPoint", change: { $0.lowPower = true }) { _, _ in nil },
    ]

    private static let headers = [
        Feature(
            "access unit delimiters", "accessUnitDelimiters", change: { $0.headers.accessUnitDelimiters = true },
            missing: becomes("delimiters", 12) { $0.trace.units(named: "Access Unit Delimiter").count }),
        Feature(
            "without the encoder's name", "identifier", change: { $0.headers.identifier = false },
            missing: holds("no identifier") { $0.encoded.stream.firstRange(of: Array("vaenc ".utf8)) == nil }),
        Feature("captions", change: { _ in }, missing: field("itu_t_t35_country_code", 0xb5)).with {
            $0.frameOptions = { index, _ in
                var options = FrameOptions()
                options.captions = [0xfc, 0x94, 0x20, 0xfc, UInt8(0x41 + index), 0x42]
                return options
            }
        },
        Feature(
            "user data", change: { _ in },
            missing: holds("the message") { $0.encoded.stream.firstRange(of: Array("a message of its own".utf8)) != nil }
        ).with {
            $0.frameOptions = { index, _ in
                var options = FrameOptions()
                if index == 3 { options.userData = [Array("0123456789abcdefa message of its own".utf8)] }
                return options
            }
        },
        Feature(
            "color", change: { $0.display.color = ColorDescription(primaries: 1, transfer: 1, matrix: 1) },
            missing: field("colour_primaries", 1)),
        Feature("full range", change: { $0.display.color.fullRange = true }, missing: field("video_full_range_flag", 1)),
        Feature(
            "sample aspect ratio", change: { $0.display.sampleAspectRatio = Rational(4, 3) },
            missing: field("aspect_ratio_info_present_flag", 1)),
        Feature(
            "25 frames/s", "frameRate", change: { $0.frameRate = Rational(25) },
            missing: { run, plain in
                func rate(_ run: SessionRun) -> Double {
                    Double(run.trace["time_scale"].first ?? 0) / Double(max(run.trace["num_units_in_tick"].first ?? 1, 1)) / 2
                }
                return rate(run) == 25 && rate(plain) == 30 ? nil : "\(rate(run)) frames/s"
            }),
        Feature("requested level", "level", change: { $0.level = 40 }, missing: field("level_idc", 40)),
        Feature(
            "a size that is not a multiple of 16", "size", change: { $0.size = VideoSize(width: 270, height: 134) },
            missing: field("frame_crop_right_offset", 1)),
    ]
}

extension InspectedStream {
    var picturesInOutputOrder: [any InspectedPicture] { pictures.sorted { $0.displayIndex < $1.displayIndex } }
}

extension SessionRun {
    /// The display indices of the IDR pictures.
    var keys: [Int] { inspected.picturesInOutputOrder.filter(\.isIDR).map(\.displayIndex) }
    /// The picture types in display order: I for IDR, i, P and B.
    var types: String {
        inspected.picturesInOutputOrder.map { $0.isIDR ? "I" : $0.isIntra ? "i" : $0.isB ? "B" : "P" }.joined()
    }
    var layers: [Int] { Set(inspected.pictures.compactMap(\.temporalLayer)).sorted() }
    var longestList: Int { inspected.pictures.map(\.referencesInList0).max() ?? 0 }
    var meanQP: Double {
        Double(encoded.reconstruction.pictures.reduce(0) { $0 + $1.qp }) / Double(encoded.reconstruction.pictures.count)
    }
    /// Returns a field of each slice header, in coding order.
    func slices(_ field: String) -> [Int] { trace.units(named: "Slice Header").compactMap { $0[field] } }
    /// Returns the slice QPs of the pictures of a planned type. HEVC's P pictures may have B slices with equal lists.
    func qps(_ kind: H264SliceHeader.SliceType) -> [Int] {
        let pictures = inspected.pictures.filter { $0.isIntra ? kind == .i : $0.isB ? kind == .b : kind == .p }
        return Set(pictures.flatMap(\.sliceQPs)).sorted()
    }
    /// Returns the lowest luma PSNR of an area of the pictures against the source.
    func quality(x: Int, y: Int, _ width: Int, _ height: Int) -> Double {
        func part(_ frame: PlanarFrame) -> PlanarFrame { frame.cropped(x: x, y: y, width: width, height: height) }
        let pairs = zip(encoded.reconstruction.framesInOutputOrder, source)
        return pairs.reduce(0) { $0 + PSNR.luma(part($1.0), part($1.1)) } / Double(source.count)
    }
}
