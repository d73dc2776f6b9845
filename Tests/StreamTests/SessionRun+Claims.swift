import BitstreamInspection
import TestOracles
import VideoBase

/// Compares the claims of the effective configuration with the stream.
extension SessionRun {
    /// Returns the claims that the stream contradicts.
    func contradictions(_ requested: EncoderConfiguration) -> [String] {
        structureFaults(requested)
            + (codec == .h264 ? pictureFaults(requested) + headerFaults(requested) : hevcFaults(requested))
            + commonHeaderFaults(requested) + rateFaults(requested)
    }

    func number(_ option: String) -> Int? { used(option).flatMap { Int($0) } }
    func isOn(_ option: String) -> Bool { used(option) == "on" }

    private func structureFaults(_ requested: EncoderConfiguration) -> [String] {
        var faults: [String] = []
        let frames = inspected.picturesInOutputOrder
        let (keys, intra) = expectedIntra(requested, count: frames.count)
        let foundKeys = frames.filter(\.isIDR).map(\.displayIndex)
        let foundIntra = frames.filter(\.isIntra).map(\.displayIndex)
        if foundKeys != keys { faults.append("IDR pictures at \(foundKeys), not \(keys)") }
        if foundIntra != intra { faults.append("intra pictures at \(foundIntra), not \(intra)") }
        let longest = frames.split { !$0.isB }.map(\.count).max() ?? 0
        let b = number("bFrames") ?? 0
        if longest > b { faults.append("\(longest) B pictures in a row, not \(b)") }
        // The longest run between intra pictures holds all B pictures and a P picture after them.
        let room = zip(intra, intra.dropFirst() + [frames.count]).map { $1 - $0 - 1 }.max() ?? 0
        if b > 0, room > b, longest != b { faults.append("\(longest) B pictures in a row, not \(b)") }
        let kept = frames.contains { $0.isB && $0.isReference }
        if kept, !isOn("bPyramid") { faults.append("a B picture is a reference") }
        if isOn("bPyramid"), room > b, !kept { faults.append("no B picture is a reference") }
        // If whole groups of B and P pictures do not fill the GOP, pictures are left over before an I picture.
        let leaves = requested.structure.forcedKeyFrames.isEmpty && b > 0 && ((number("gop") ?? 1) - 1) % (b + 1) > 0
        if isOn("openGOP"), leaves, foundIntra.count > foundKeys.count, !hasLeadingPictures {
            faults.append("no picture leads an I picture")
        }
        if !isOn("openGOP"), hasLeadingPictures { faults.append("a picture crosses the border of a closed group") }
        let references = number("references") ?? 1
        let most = frames.map(\.referencesInList0).max() ?? 0
        if most > references { faults.append("\(most) pictures in list 0, not \(references)") }
        let layers = Set(frames.compactMap(\.temporalLayer))
        let expected = number("temporalLayers") ?? 1
        if expected > 1,
            layers.isEmpty || layers.contains(where: { $0 >= expected }) || (room > 8 && layers.count != expected)
        {
            faults.append("layers \(layers.sorted()), not \(expected)")
        }
        // With one layer, H.264 writes no layer; HEVC always writes it.
        if expected == 1, !layers.isSubset(of: codec == .h264 ? [] : [0]) { faults.append("layers \(layers.sorted())") }
        let isLongTerm = frames.contains(where: \.isLongTerm)
        if isLongTerm != (number("longTermReferences") ?? 0 > 0) {
            faults.append("long-term references: \(isLongTerm)")
        }
        let passes = frames.contains { !$0.isIntra && $0.hasRecoveryPoint }
        if passes != (isOn("intraRefresh") && frames.count > 1) {
            faults.append("a refresh's recovery point: \(passes)")
        }
        return faults
    }

    /// Returns the display indices of IDR pictures and of all intra pictures, found by counting.
    private func expectedIntra(_ requested: EncoderConfiguration, count: Int) -> (keys: [Int], intra: [Int]) {
        let interval = isOn("intraRefresh") ? Int.max : number("gop") ?? Int.max
        let period = number("idrInterval") ?? (isOn("openGOP") ? Int.max : 1)
        var keys: [Int] = []
        var intra: [Int] = []
        var ordinal = 0
        // A forced time means the first frame at that time or later.
        let times = Set(requested.structure.forcedKeyTimes.map { Int(($0.seconds * requested.frameRate.value).rounded(.up)) })
        for index in 0..<count {
            let isForced = index == 0 || requested.structure.forcedKeyFrames.contains(index) || times.contains(index)
            guard isForced || index - (intra.last ?? 0) >= interval else { continue }
            ordinal = isForced ? 0 : ordinal + 1
            if isForced || ordinal >= period {
                ordinal = 0
                keys.append(index)
            }
            intra.append(index)
        }
        return (keys, intra)
    }

    /// Whether a picture that precedes an I picture in output order and follows it in coding order predicts from it and
    /// from a picture before it.
    private var hasLeadingPictures: Bool {
        let pictures = inspected.pictures
        return pictures.contains { frame in
            frame.type == .b
                && pictures[..<frame.index].contains { intra in
                    intra.isIntra && intra.displayIndex > frame.displayIndex
                        && frame.references.contains { $0 >= intra.index }
                        && frame.references.contains { $0 < intra.index }
                }
        }
    }

    private func pictureFaults(_ requested: EncoderConfiguration) -> [String] {
        var faults: [String] = []
        func expect(_ field: String, _ value: Int) {
            let found = Set(trace[field])
            if found != [value] { faults.append("\(field) is \(found), not \(value)") }
        }
        expect("entropy_coding_mode_flag", used("entropy") == "cabac" ? 1 : 0)
        if used("transform8x8") == "on" { expect("transform_8x8_mode_flag", 1) }
        if used("transform8x8") == "off", trace["transform_8x8_mode_flag"].contains(1) {
            faults.append("8×8 transforms")
        }
        switch used("deblocking") {
        case "off": expect("disable_deblocking_filter_idc", 1)
        case "on"?, nil:
            if trace["disable_deblocking_filter_idc"].contains(1) { faults.append("no deblocking") }
            if trace["slice_alpha_c0_offset_div2"].contains(where: { $0 != 0 }) { faults.append("filter offsets") }
        case let offsets?:
            let parts = offsets.split(separator: ":").compactMap { Int($0) }
            expect("disable_deblocking_filter_idc", 0)
            expect("slice_alpha_c0_offset_div2", parts[0])
            expect("slice_beta_offset_div2", parts[1])
        }
        return faults
    }

    private func headerFaults(_ requested: EncoderConfiguration) -> [String] {
        var faults: [String] = []
        let number = used("profile") == "High" ? 100 : used("profile") == "Main" ? 77 : 66
        if Set(trace["profile_idc"]) != [number] { faults.append("profile_idc \(Set(trace["profile_idc"]))") }
        let parts = (used("level") ?? "").split(separator: ".").compactMap { Int($0) }
        // Level 1b is 11 with a constraint flag, except in High (A.3.1, A.3.4).
        let is1b = used("level") == "1b"
        let level = is1b ? (number == 100 ? 9 : 11) : parts[0] * 10 + (parts.count > 1 ? parts[1] : 0)
        if Set(trace["level_idc"]) != [level] { faults.append("level_idc \(Set(trace["level_idc"])), not \(level)") }
        return faults
    }

    /// Returns the faults of slices and headers that both codecs share.
    private func commonHeaderFaults(_ requested: EncoderConfiguration) -> [String] {
        var faults: [String] = []
        let counts = Set(inspected.pictures.map(\.sliceCount))
        if let limit = number("maxSliceBytes") {
            let largest = codec == .h264 ? inspected.largestSlice : largestDivisibleSlice
            if largest > limit { faults.append("a slice of \(largest) bytes, not \(limit)") }
        } else if counts != [number("slices") ?? 1] {
            faults.append("\(counts) slices, not \(number("slices") ?? 1)")
        }
        let delimiters = trace.units(named: "Access Unit Delimiter").count
        if delimiters != (isOn("accessUnitDelimiters") ? inspected.pictures.count : 0) {
            faults.append("\(delimiters) delimiters")
        }
        let name = encoded.stream.firstRange(of: Array("vaenc ".utf8)) != nil
        if name != isOn("identifier") { faults.append("the identifier: \(name)") }
        if inspected.visibleSize ?? (0, 0) != (requested.size.width, requested.size.height) {
            faults.append("the visible size")
        }
        return faults
    }

    private func rateFaults(_ requested: EncoderConfiguration) -> [String] {
        var faults: [String] = []
        let mode = used("rateControl") ?? ""
        let hasHRD = isOn("hrdParameters")
        // In HEVC only hrd_parameters() has this flag.
        var flags = Set(trace["nal_hrd_parameters_present_flag"])
        if codec == .hevc, flags.isEmpty { flags = [0] }
        if flags != [hasHRD ? 1 : 0] { faults.append("nal_hrd_parameters_present_flag \(flags)") }
        if hasHRD, Set(trace["cbr_flag[0]"]) != [mode == "cbr" ? 1 : 0] { faults.append("cbr_flag") }
        if hasHRD, let size = number("vbvSize") {
            let schedules =
                codec == .h264
                ? stream.sequenceSets[0].vui?.nal_hrd_parameters?.schedules
                : hevc.sequenceSets[0].vui?.hrd?.subLayers.last?.nal
            let found = schedules?.first?.cpbSize ?? 0
            if found > size || found < size - 16 * 64 { faults.append("a buffer of \(found), not \(size)") }
        }
        if hasHRD, inspected.pictures.contains(where: { !$0.hasPictureTiming }) { faults.append("no picture timing") }
        let low = number("minQP") ?? 0
        let high = number("maxQP") ?? 51
        for (frame, picture) in zip(inspected.pictures, encoded.reconstruction.pictures) {
            // Macroblocks of a region may exceed the limits.
            let isPlain = requested.coding.regionsOfInterest.isEmpty
            if isPlain, !(low...high).contains(picture.qp) {
                faults.append("picture \(frame.index): QP \(picture.qp), not \(low)…\(high)")
            }
            guard mode == "cqp", isPlain else { continue }
            let expected = frame.isIntra ? number("qpI") : frame.isB ? number("qpB") : number("qp")
            if let expected, frame.qp != expected {
                faults.append("picture \(frame.index): QP \(frame.qp), not \(expected)")
            }
        }
        if let limit = number("maxFrameBytes"), let most = inspected.pictures.map(\.byteCount).max(), most > limit {
            faults.append("a picture of \(most) bytes, not \(limit)")
        }
        return faults
    }
}
