import BitstreamInspection
import TestOracles

/// One row of the matrix: a personality of the reference driver, and a value for each option.
struct FeatureCase: CustomStringConvertible {
    /// The capability dumps that have H.264 encoding; nil: the driver without restriction.
    static let personalities: [String?] = [
        nil, "i965-1616", "i965-1916", "i965-3E92", "i965-5916", "iHD-1912", "iHD-3E92", "iHD-4680", "iHD-46A6",
        "iHD-56A0", "iHD-5916", "iHD-8A52", "iHD-9A49", "iHD25nonfree-46A6", "iHD25nonfree-56A0", "iHD25nonfree-5916",
        "iHD25nonfree-7D55", "iHD25nonfree-8A52", "iHD25nonfree-9A49", "iHDnonfree-1912", "iHDnonfree-46A6",
        "iHDnonfree-56A0", "iHDnonfree-5916", "iHDnonfree-8A52", "iHDnonfree-9A49", "radeonsi-navi10",
        "radeonsi-navi21", "radeonsi-raven", "radeonsi-renoir", "radeonsi-vangogh", "radeonsi25-navi10",
        "radeonsi25-navi21", "radeonsi25-navi31", "radeonsi25-phoenix", "radeonsi25-raven", "radeonsi25-rembrandt",
        "radeonsi25-renoir", "radeonsi25-vangogh",
    ]
    static let bFrames = [0, 1, 2, 3, 7]
    static let references: [Int?] = [nil, 1, 2, 4]
    /// GOP, IDR interval, open.
    static let groups: [(length: Int, interval: Int, isOpen: Bool)] = [
        (250, 1, false), (1, 1, false), (5, 1, false), (8, 1, true), (4, 3, false), (6, 2, true),
    ]
    static let rates = [
        "--qp 28", "--qp 30 --qp-i 26 --qp-b 33", "--rate-control cbr --bitrate 500k",
        "--rate-control vbr --bitrate 400k --max-bitrate 700k", "--rate-control icq --quality 28",
        "--rate-control qvbr --bitrate 600k --quality 28", "--rate-control avbr --bitrate 500k",
        "--rate-control cbr --bitrate 500k --rate-controller vaenc",
        "--rate-control vbr --bitrate 400k --max-bitrate 800k --rate-controller vaenc",
    ]
    static let profiles = [
        "--profile high", "--profile baseline", "--profile main --entropy cavlc", "--profile main --entropy cabac",
        "--profile high --entropy cavlc",
    ]
    static let structures = [
        "", "--temporal-layers 2", "--temporal-layers 3", "--intra-refresh", "--ltr 2", "--low-latency",
    ]
    static let extras = [
        "", "--aud", "--roi 16,16,64x64:-6", "--max-slice-bytes 1500", "--deblock off", "--transform8x8 off",
        "--aud --hrd off", "--deblock -2:3", "--max-frame-bytes 20000",
    ]
    static let counts = [
        personalities.count, bFrames.count, 2, references.count, groups.count, 3, rates.count, profiles.count,
        structures.count, extras.count, 2,
    ]

    var personality: String?
    var bFrames: Int
    var isPyramid: Bool
    var references: Int?
    var group: (length: Int, interval: Int, isOpen: Bool)
    var slices: Int
    var rate: String
    var profile: String
    var structure: String
    var extra: String
    var preset: Int

    init(_ row: [Int]) {
        personality = Self.personalities[row[0]]
        bFrames = Self.bFrames[row[1]]
        isPyramid = row[2] == 1
        references = Self.references[row[3]]
        group = Self.groups[row[4]]
        slices = [1, 2, 4][row[5]]
        rate = Self.rates[row[6]]
        profile = Self.profiles[row[7]]
        structure = Self.structures[row[8]]
        extra = Self.extras[row[9]]
        preset = [7, 5][row[10]]
    }

    /// What contradicts itself is a usage error, and no case: tested in CommandLineTests.
    static func allows(_ p: Int, _ a: Int, _ q: Int, _ b: Int) -> Bool {
        switch (p, q) {
        // B pictures need reordering, a profile that has them, and a pyramid two or more.
        case (1, 2): return bFrames[a] > 1 || b == 0
        case (1, 7): return bFrames[a] == 0 || !profiles[b].contains("baseline")
        case (1, 8): return bFrames[a] == 0 || structures[b].isEmpty || structures[b].contains("ltr")
        case (2, 8): return a == 0 || structures[b].isEmpty
        case (1, 4): return bFrames[a] < groups[b].length
        // Refresh takes the place of key frames.
        case (4, 8): return !structures[b].contains("refresh") || groups[a].length > 4 && !groups[a].isOpen
        case (7, 9): return !extras[b].contains("8x8") || profiles[a].contains("high")
        case (5, 9): return !extras[b].contains("slice-bytes") || a == 0
        default: return true
        }
    }

    static let all = PairwiseCover.rows(counts: counts, allows: allows).map(FeatureCase.init)

    var options: [String] {
        var text = "--codec h264 --bframes \(bFrames) --gop \(group.length) --slices \(slices) --preset \(preset) "
        if structure.contains("low-latency") { text = text.replacing("--bframes 0 ", with: "") }
        if isPyramid { text += "--b-pyramid " }
        if let references { text += "--refs \(references) " }
        if group.interval > 1 { text += "--idr-interval \(group.interval) " }
        if group.isOpen { text += "--open-gop " }
        text += [rate, profile, structure, extra].joined(separator: " ")
        return text.split(separator: " ").map(String.init)
    }

    var description: String { "\(personality ?? "unrestricted"): \(options.joined(separator: " "))" }

    func has(_ option: String) -> Bool { options.contains(option) }
}

extension FeatureCase {
    /// What the stream must show, and the name in the effective configuration by which it may be excused.
    func missing(in stream: H264Stream) -> [(option: String, what: String)] {
        var missing: [(String, String)] = []
        func require(_ option: String, _ holds: Bool, _ what: String) { if !holds { missing.append((option, what)) } }
        let frames = stream.framesInOutputOrder
        let intra = frames.filter { $0.kind == .i }.map(\.displayIndex)
        let slices = stream.frames.flatMap(\.slices)
        if bFrames > 0 {
            let longest = frames.split { $0.kind != .b }.map(\.count).max() ?? 0
            require("bFrames", longest == bFrames, "\(longest) B pictures in a row")
        } else {
            require("bFrames", !frames.contains { $0.kind == .b }, "B pictures")
        }
        if isPyramid {
            require("bPyramid", frames.contains { $0.kind == .b && $0.isReference }, "no B picture is a reference")
        }
        if let references {
            let most = slices.map { Set($0.lists[0].compactMap(\.self)).count }.max() ?? 0
            require("references", most <= references, "\(most) pictures in list 0")
            if bFrames == 0, group.length == 250, references > 1, structure.isEmpty {
                require("references", most == references, "\(most) pictures in list 0")
            }
        }
        if !structure.contains("refresh") {
            require(
                "gop", intra == Array(stride(from: 0, to: frames.count, by: group.length)),
                "intra pictures at \(intra)")
            let period = group.length * group.interval
            let keys = frames.filter(\.isIDR).map(\.displayIndex)
            require(
                "idrInterval", keys == Array(stride(from: 0, to: frames.count, by: period)), "IDR pictures at \(keys)")
        }
        if group.isOpen, bFrames > 0, group.interval > 1 {
            let leading = stream.frames.contains { frame in
                frame.kind == .b
                    && stream.frames[..<frame.index].contains {
                        $0.kind == .i && $0.index > 0 && $0.displayIndex > frame.displayIndex
                    }
            }
            require("openGOP", leading, "no picture leads an intra picture")
        }
        if !has("--max-slice-bytes") {
            require("slices", stream.frames.allSatisfy { $0.slices.count == self.slices }, "other counts of slices")
        } else {
            let largest = slices.map { stream.nalUnits[$0.nalUnit].payload.count }.max() ?? 0
            require("maxSliceBytes", largest <= 1500, "a slice of \(largest) bytes")
        }
        let sps = stream.sequenceSets[0]
        let pps = stream.pictureSets[0]
        let number = has("baseline") ? 66 : has("main") ? 77 : 100
        require("profile", sps.profile_idc == number, "profile_idc \(sps.profile_idc)")
        if profile.contains("entropy") {
            require("entropy", pps.entropy_coding_mode_flag == has("cabac"), "the other entropy coder")
        }
        if has("--transform8x8") { require("transform8x8", !pps.transform_8x8_mode_flag, "8×8 transforms") }
        if has("--deblock") {
            let value = has("off") && !has("--hrd") ? 1 : 0
            require(
                "deblocking",
                slices.allSatisfy {
                    $0.header.disable_deblocking_filter_idc == value
                        && (value == 1 || $0.header.slice_alpha_c0_offset_div2 == -2)
                }, "other filter parameters")
        }
        if has("--aud") {
            require("accessUnitDelimiters", stream.nalUnits.filter { $0.type == 9 }.count == frames.count, "no AUD")
        }
        if structure.contains("refresh") {
            require("intraRefresh", intra == [0], "intra pictures at \(intra)")
            require("intraRefresh", frames.contains { $0.recoveryPoint != nil }, "no recovery point")
        }
        if rate.hasPrefix("--qp") {
            let expected = rate == "--qp 28" ? [28, 28, 28] : [26, 30, 33]
            let wrong = frames.first { $0.qp != expected[$0.kind == .i ? 0 : $0.kind == .p ? 1 : 2] }
            if rate != "--qp 28" || bFrames == 0 {
                require("qp", wrong == nil, "QP \(wrong?.qp ?? 0) in a picture of type \(wrong?.typeName ?? "")")
            }
        }
        return missing
    }
}
