import BitstreamInspection
import TestOracles
import VideoBase

/// Compares the claims of the effective configuration that concern HEVC alone with the stream.
extension SessionRun {
    func hevcFaults(_ requested: EncoderConfiguration) -> [String] {
        var faults: [String] = []
        let isMain10 = used("profile").map { $0.hasSuffix("Main 10") } ?? false
        for sps in hevc.sequenceSets {
            let general = sps.profileTierLevel.general
            if general.profile_idc != (isMain10 ? 2 : 1) { faults.append("general_profile_idc \(general.profile_idc)") }
            let parts = (used("level") ?? "").split(separator: ".").compactMap { Int($0) }
            let level = parts.isEmpty ? 0 : 30 * parts[0] + 3 * (parts.count > 1 ? parts[1] : 0)
            if sps.profileTierLevel.general_level_idc != level {
                faults.append("general_level_idc \(sps.profileTierLevel.general_level_idc), not \(level)")
            }
            let depth = encoded.reconstruction.frames.first?.bitDepth ?? 8
            if sps.bit_depth_luma != depth || sps.bit_depth_chroma != depth {
                faults.append("\(sps.bit_depth_luma) bits, not \(depth)")
            }
        }
        if hevc.videoSets.count != 1 || hevc.sequenceSets.count != 1 {
            faults.append("\(hevc.videoSets.count) different VPS, \(hevc.sequenceSets.count) SPS")
        }
        return faults + filterFaults() + randomAccessFaults()
    }

    /// The size in bytes of the largest slice that could have been divided, because it has more than one coding tree
    /// block.
    var largestDivisibleSlice: Int {
        hevc.frames.flatMap { frame in
            let starts = frame.slices.map(\.header.slice_segment_address)
            let ends = Array(starts.dropFirst()) + [hevc.sequenceSets[frame.sequenceSet].sizeInCtbs]
            let divisible = frame.slices.indices.filter { ends[$0] - starts[$0] > 1 }
            return divisible.map { hevc.nalUnits[frame.slices[$0].nalUnit].payload.count }
        }.max() ?? 0
    }

    private func filterFaults() -> [String] {
        let headers = hevc.frames.flatMap { $0.slices.map(\.header) }
        let found = Set(
            headers.map { header in
                header.slice_deblocking_filter_disabled_flag
                    ? [] : [header.slice_tc_offset_div2, header.slice_beta_offset_div2]
            })
        let expected: [Int]
        switch used("deblocking") {
        case "off": expected = []
        case "on"?, nil: expected = [0, 0]
        case let offsets?: expected = offsets.split(separator: ":").compactMap { Int($0) }
        }
        return found == [expected] ? [] : ["deblocking \(found), not \(expected)"]
    }

    /// Decoders can start at every I picture unless later pictures may refer to pictures before it: long-term
    /// references do so at every I picture, and a rolling refresh has no I pictures.
    private func randomAccessFaults() -> [String] {
        let reachesBehind = number("longTermReferences") ?? 0 > 0 || isOn("intraRefresh")
        return hevc.frames.filter { $0.kind == .i }.compactMap { frame in
            if frame.isIDR || frame.isCRA && !reachesBehind { return nil }
            if !frame.isIRAP, reachesBehind { return nil }
            return "picture \(frame.index) is \(frame.unitName)"
        }
    }
}
