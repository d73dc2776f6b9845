/// The rules between the slice segments of one picture.
enum HEVCSliceRules {
    /// Returns the violations by the slice segments of an access unit and by its delimiter.
    static func faults(
        _ unit: HEVCStreamReader.AccessUnit, sps: HEVCSequenceParameterSet, pps: HEVCPictureParameterSet
    ) -> [(Violation.Rule, String)] {
        let headers = unit.slices.map(\.header)
        guard let first = headers.first else { return [] }
        var faults: [(Violation.Rule, String)] = []
        if !first.first_slice_segment_in_pic_flag {
            faults.append((.accessUnit, "the first slice segment starts at \(first.slice_segment_address)"))
        }
        // 7.4.2.2 and 7.4.7.1: these values must be equal in all slices of a picture.
        func check(_ name: String, _ isEqual: (HEVCSliceSegmentHeader) -> Bool) {
            if !headers.allSatisfy(isEqual) { faults.append((.accessUnit, "slices of one picture differ in \(name)")) }
        }
        check("nal_unit_type") { $0.nal_unit_type == first.nal_unit_type }
        check("TemporalId") { $0.temporalID == first.temporalID }
        check("slice_pic_parameter_set_id") { $0.slice_pic_parameter_set_id == first.slice_pic_parameter_set_id }
        check("pic_output_flag") { $0.pic_output_flag == first.pic_output_flag }
        check("no_output_of_prior_pics_flag") { $0.no_output_of_prior_pics_flag == first.no_output_of_prior_pics_flag }
        check("slice_pic_order_cnt_lsb") { $0.slice_pic_order_cnt_lsb == first.slice_pic_order_cnt_lsb }
        check("their reference picture sets") {
            $0.shortTermSet == first.shortTermSet && $0.longTermReferences == first.longTermReferences
        }
        check("slice_temporal_mvp_enabled_flag") {
            $0.slice_temporal_mvp_enabled_flag == first.slice_temporal_mvp_enabled_flag
        }
        if first.isIRAP, headers.contains(where: { $0.slice_type != .i }) {
            faults.append((.syntax, "an IRAP picture has P or B slices"))
        }
        faults += addressFaults(headers, sps: sps, pps: pps)
        if let limits = HEVCLevelLimits(sps), headers.count > limits.maxSliceSegments {
            faults.append(
                (.level, "there are \(headers.count) slice segments, but the level allows \(limits.maxSliceSegments)"))
        }
        if let delimiter = unit.delimiter {
            // Table 7-2. 0 allows I; 1 allows P and I; 2 allows B, P and I.
            let allowed: [HEVCSliceSegmentHeader.SliceType] = [[.i], [.p, .i], [.b, .p, .i]][min(delimiter.type, 2)]
            if headers.contains(where: { !allowed.contains($0.slice_type) }) {
                faults.append((.accessUnit, "the delimiter's pic_type \(delimiter.type) does not allow its slices"))
            }
            if delimiter.temporalID != first.temporalID {
                faults.append((.temporalLayer, "the delimiter's TemporalId is \(delimiter.temporalID)"))
            }
        }
        return faults
    }

    /// Checks that slice segments are in tile scan order. Also checks that each slice and each slice segment contains
    /// only whole tiles or lies in one tile (6.3.1).
    private static func addressFaults(
        _ headers: [HEVCSliceSegmentHeader], sps: HEVCSequenceParameterSet, pps: HEVCPictureParameterSet
    ) -> [(Violation.Rule, String)] {
        var faults: [(Violation.Rule, String)] = []
        // A slice that refers to another PPS can have another SPS, and so an address outside the picture.
        if let address = headers.map(\.slice_segment_address).first(where: { $0 >= sps.sizeInCtbs }) {
            return [(.accessUnit, "slice_segment_address is \(address) of \(sps.sizeInCtbs)")]
        }
        let scan = pps.tiles == nil ? nil : HEVCTileScan(sps, pps)
        let starts = headers.map { header in
            scan?.tileScan(header.slice_segment_address) ?? header.slice_segment_address
        }
        for (index, (a, b)) in zip(starts, starts.dropFirst()).enumerated() where b <= a {
            faults.append(
                (
                    .accessUnit,
                    "a slice segment starts at \(headers[index + 1].slice_segment_address), not after the previous one"
                ))
            return faults
        }
        guard let scan else { return faults }
        func check(_ starts: [Int], _ what: String) {
            for (start, end) in zip(starts, starts.dropFirst() + [sps.sizeInCtbs]) where start < end {
                let isInOneTile = scan.tile(start) == scan.tile(end - 1)
                if !isInOneTile, !scan.isTileStart(start) || !scan.isTileStart(end) {
                    faults.append(
                        (
                            .syntax,
                            "\(what) from \(start) to \(end) in tile scan covers only a part of one tile, and "
                                + "also other tiles"
                        ))
                }
            }
        }
        check(starts, "a slice segment")
        check(zip(starts, headers).filter { !$0.1.dependent_slice_segment_flag }.map(\.0), "a slice")
        return faults
    }

    /// Checks that all slices of a picture have the same collocated picture (7.4.7.1).
    static func collocatedFaults(_ frame: HEVCFrame) -> [(Violation.Rule, String)] {
        var faults: [(Violation.Rule, String)] = []
        var collocated: Set<Int> = []
        for slice in frame.slices where slice.header.slice_temporal_mvp_enabled_flag && slice.header.slice_type != .i {
            let list = slice.lists[slice.header.collocated_from_l0_flag ? 0 : 1]
            guard slice.header.collocated_ref_idx < list.count, let picture = list[slice.header.collocated_ref_idx]
            else {
                faults.append((.referenceList, "there is no collocated picture"))
                break
            }
            collocated.insert(picture)
        }
        if collocated.count > 1 {
            faults.append((.referenceList, "slices of one picture differ in their collocated picture"))
        }
        return faults
    }
}
