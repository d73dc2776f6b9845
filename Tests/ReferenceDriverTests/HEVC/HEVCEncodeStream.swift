import ReferenceDriver

/// Headers that express everything in a picture job: H.265 7.3.1.2, 7.3.2 and 7.3.6.
struct HEVCEncodeStream {
    /// Any of the sequence's jobs; fields that differ between pictures are not read.
    var job: HEVCPictureJob
    var temporalMotion = false
    var hasSAO = false

    static let pocBits = 8

    private func unit(_ type: UInt8, _ writer: HeaderBitWriter) -> [UInt8] {
        var ended = writer
        ended.putTrailingBits()
        return EmulationPrevention.escape(ended.bytes, after: [0, 0, 0, 1, type << 1, 1])
    }

    private func putProfile(_ writer: inout HeaderBitWriter) {
        let profile = job.bitDepth > 8 ? 2 : 1
        writer.put(UInt32(profile), 8)
        writer.put(0x8000_0000 >> UInt32(profile) | (profile == 1 ? 0x2000_0000 : 0), 32)
        writer.put(0b1001, 4)
        writer.put(0, 32)
        writer.put(0, 12)
        writer.put(153, 8)
    }

    /// The VPS, SPS and PPS with start codes.
    var parameterSets: [UInt8] {
        unit(32, videoParameters) + unit(33, sequenceParameters) + unit(34, pictureParameters)
    }

    private var videoParameters: HeaderBitWriter {
        var vps = HeaderBitWriter()
        vps.put(0b0000_11_000000_000_1, 16)
        vps.put(0xFFFF, 16)
        putProfile(&vps)
        vps.put(true)
        for value in [6, 3, 0] { vps.putUnsigned(value) }
        vps.put(0, 6)
        vps.putUnsigned(0)
        vps.put(0, 2)
        return vps
    }

    private var sequenceParameters: HeaderBitWriter {
        let grid = job.grid
        var sps = HeaderBitWriter()
        sps.put(0b0000_000_1, 8)
        putProfile(&sps)
        for value in [0, 1, grid.width, grid.height] { sps.putUnsigned(value) }
        sps.put(false)
        for value in [job.bitDepth - 8, job.bitDepth - 8, Self.pocBits - 4] { sps.putUnsigned(value) }
        sps.put(true)
        for value in [6, 3, 0] { sps.putUnsigned(value) }
        sps.putUnsigned(grid.log2MinCodingBlock - 3)
        sps.putUnsigned(grid.log2CodingTreeBlock - grid.log2MinCodingBlock)
        sps.putUnsigned(grid.log2MinTransformBlock - 2)
        sps.putUnsigned(grid.log2MaxTransformBlock - grid.log2MinTransformBlock)
        sps.putUnsigned(job.max_transform_hierarchy_depth_inter)
        sps.putUnsigned(job.max_transform_hierarchy_depth_intra)
        // Scaling lists, AMP, SAO and PCM.
        for flag in [false, job.amp_enabled_flag, hasSAO, false] { sps.put(flag) }
        sps.putUnsigned(0)
        // Long-term pictures are allowed, and the SPS lists none.
        sps.put(true)
        sps.putUnsigned(0)
        for flag in [temporalMotion, job.strong_intra_smoothing_enabled_flag, false, false] { sps.put(flag) }
        return sps
    }

    private var pictureParameters: HeaderBitWriter {
        var pps = HeaderBitWriter()
        pps.putUnsigned(0)
        pps.putUnsigned(0)
        pps.put(0, 5)
        pps.put(job.sign_data_hiding_enabled_flag)
        // cabac_init_present_flag.
        pps.put(true)
        for _ in 0..<2 { pps.putUnsigned(0) }
        pps.putSigned(0)
        pps.put(job.constrained_intra_pred_flag)
        pps.put(job.hasTransformSkip)
        pps.put(job.qpDeltaDepth != nil)
        if let depth = job.qpDeltaDepth { pps.putUnsigned(depth) }
        pps.putSigned(job.cbQPOffset)
        pps.putSigned(job.crQPOffset)
        // Chroma offsets in slices, no weights, no bypass.
        pps.put(0b1_0_0_0, 4)
        let tiles = job.tiles
        pps.put(tiles.isEnabled)
        pps.put(false)
        if tiles.isEnabled {
            let columns = zip(tiles.columnBounds, tiles.columnBounds.dropFirst()).map { $1 - $0 }
            let rows = zip(tiles.rowBounds, tiles.rowBounds.dropFirst()).map { $1 - $0 }
            pps.putUnsigned(columns.count - 1)
            pps.putUnsigned(rows.count - 1)
            pps.put(false)
            for size in columns.dropLast() + rows.dropLast() { pps.putUnsigned(size - 1) }
            pps.put(job.loop_filter_across_tiles_enabled_flag)
        }
        // Filters across slices; deblocking control with override, enabled without offsets.
        pps.put(true)
        pps.put(0b1_1_0, 3)
        for _ in 0..<2 { pps.putSigned(0) }
        // No scaling lists; lists may be modified.
        pps.put(0b0_1, 2)
        pps.putUnsigned(job.log2_parallel_merge_level - 2)
        pps.put(0, 2)
        return pps
    }

    /// A stored picture.
    struct Stored {
        var poc: Int
        var isLongTerm: Bool
    }

    /// Returns a slice's header up to its entry points. `poc` 0 is an IDR picture.
    func slice(
        _ slice: HEVCSliceJob, poc: Int, stored: [Stored], collocatedIndex: Int = 0, isReference: Bool = true
    ) -> SliceHeaderBits {
        var writer = HeaderBitWriter()
        let grid = job.grid
        let isIDR = poc == 0
        writer.put(slice.firstCodingTree == 0)
        if isIDR { writer.put(false) }
        writer.putUnsigned(0)
        if slice.firstCodingTree > 0 {
            var bits = 0
            while 1 << bits < grid.codingTrees { bits += 1 }
            writer.put(UInt32(slice.firstCodingTree), bits)
        }
        writer.putUnsigned(slice.type == .b ? 0 : slice.type == .p ? 1 : 2)
        // The pictures are in the order of RefPicListTemp0 and RefPicListTemp1.
        let shortTerm = stored.filter { !$0.isLongTerm }
        let before = shortTerm.filter { $0.poc < poc }.sorted { $0.poc > $1.poc }.map(\.poc)
        let after = shortTerm.filter { $0.poc > poc }.sorted { $0.poc < $1.poc }.map(\.poc)
        let longTerm = stored.filter(\.isLongTerm).map(\.poc)
        if !isIDR {
            writer.put(UInt32(poc & (1 << Self.pocBits - 1)), Self.pocBits)
            writer.put(false)
            writer.putUnsigned(before.count)
            writer.putUnsigned(after.count)
            for list in [before, after] {
                var last = poc
                for other in list {
                    writer.putUnsigned(abs(other - last) - 1)
                    writer.put(true)
                    last = other
                }
            }
            writer.putUnsigned(longTerm.count)
            for other in longTerm {
                writer.put(UInt32(other & (1 << Self.pocBits - 1)), Self.pocBits)
                writer.put(true)
                writer.put(false)
            }
            if temporalMotion { writer.put(slice.collocated != nil) }
        }
        if hasSAO {
            writer.put(slice.slice_sao_luma_flag)
            writer.put(slice.slice_sao_chroma_flag)
        }
        if slice.type != .i {
            putLists(slice, [before + after + longTerm, after + before + longTerm], &writer)
            if slice.type == .b { writer.put(slice.mvd_l1_zero_flag) }
            writer.put(slice.cabac_init_flag)
            if slice.collocated != nil {
                if slice.type == .b { writer.put(slice.collocated_from_l0_flag) }
                let count = slice.collocated_from_l0_flag ? slice.list0.count : slice.list1.count
                if count > 1 { writer.putUnsigned(collocatedIndex) }
            }
            writer.putUnsigned(5 - slice.mergeCandidates)
        }
        writer.putSigned(slice.qp - 26)
        writer.putSigned(slice.cbQPOffset - job.cbQPOffset)
        writer.putSigned(slice.crQPOffset - job.crQPOffset)
        writer.put(true)
        writer.put(slice.slice_deblocking_filter_disabled_flag)
        if !slice.slice_deblocking_filter_disabled_flag {
            writer.putSigned(slice.betaOffset / 2)
            writer.putSigned(slice.tcOffset / 2)
        }
        if slice.slice_sao_luma_flag || slice.slice_sao_chroma_flag || !slice.slice_deblocking_filter_disabled_flag {
            writer.put(slice.slice_loop_filter_across_slices_enabled_flag)
        }
        return SliceHeaderBits(
            prefix: [0, 0, 0, 1, (isIDR ? 19 : isReference ? 1 : 0) << 1, 1], payload: writer.bytes,
            bitCount: writer.bitCount)
    }

    private func putLists(_ slice: HEVCSliceJob, _ orders: [[Int]], _ writer: inout HeaderBitWriter) {
        writer.put(true)
        writer.putUnsigned(slice.list0.count - 1)
        if slice.type == .b { writer.putUnsigned(slice.list1.count - 1) }
        guard orders[0].count > 1 else { return }
        var bits = 0
        while 1 << bits < orders[0].count { bits += 1 }
        for (list, order) in zip([slice.list0, slice.list1].prefix(slice.type == .b ? 2 : 1), orders) {
            writer.put(true)
            for reference in list { writer.put(UInt32(order.firstIndex(of: reference.poc)!), bits) }
        }
    }
}
