import ReferenceDriver

/// The plainest headers that express the picture job of random syntax: H.265 7.3.1.2, 7.3.2 and 7.3.6.
struct HEVCSyntaxHeaders {
    var grid: HEVCGrid
    var tiles: HEVCTiles
    var bitDepth = 8
    var max_transform_hierarchy_depth_inter = 0
    var max_transform_hierarchy_depth_intra = 0
    var amp_enabled_flag = false
    var hasSAO = false
    var temporalMotion = false
    var strong_intra_smoothing_enabled_flag = false
    var constrained_intra_pred_flag = false
    var hasTransformSkip = false
    var sign_data_hiding_enabled_flag = false
    var qpDeltaDepth: Int?
    var log2_parallel_merge_level = 2
    var hasHeaderExtension = false
    var cbQPOffset = 0
    var crQPOffset = 0

    private func unit(_ type: UInt8, _ writer: HeaderBitWriter) -> [UInt8] {
        EmulationPrevention.escape(writer.bytes, after: [0, 0, 0, 1, type << 1, 1])
    }

    private func putProfile(_ writer: inout HeaderBitWriter) {
        let profile = bitDepth > 8 ? 2 : 1
        writer.put(UInt32(profile), 8)
        writer.put(0x8000_0000 >> UInt32(profile) | (profile == 1 ? 0x2000_0000 : 0), 32)
        writer.put(0b1001, 4)
        writer.put(0, 32)
        writer.put(0, 12)
        writer.put(120, 8)
    }

    /// The VPS, SPS and PPS with start codes.
    var parameterSets: [UInt8] {
        var vps = HeaderBitWriter()
        vps.put(0b0000_11_000000_000_1, 16)
        vps.put(0xFFFF, 16)
        putProfile(&vps)
        vps.put(true)
        for value in [4, 0, 0] { vps.putUnsigned(value) }
        vps.put(0, 6)
        vps.putUnsigned(0)
        vps.put(0, 2)
        vps.putTrailingBits()

        var sps = HeaderBitWriter()
        sps.put(0b0000_000_1, 8)
        putProfile(&sps)
        for value in [0, 1, grid.width, grid.height] { sps.putUnsigned(value) }
        sps.put(false)
        for value in [bitDepth - 8, bitDepth - 8, 4] { sps.putUnsigned(value) }
        sps.put(true)
        for value in [4, 0, 0] { sps.putUnsigned(value) }
        sps.putUnsigned(grid.log2MinCodingBlock - 3)
        sps.putUnsigned(grid.log2CodingTreeBlock - grid.log2MinCodingBlock)
        sps.putUnsigned(grid.log2MinTransformBlock - 2)
        sps.putUnsigned(grid.log2MaxTransformBlock - grid.log2MinTransformBlock)
        sps.putUnsigned(max_transform_hierarchy_depth_inter)
        sps.putUnsigned(max_transform_hierarchy_depth_intra)
        // Scaling lists, AMP, SAO and PCM.
        for flag in [false, amp_enabled_flag, hasSAO, false] { sps.put(flag) }
        sps.putUnsigned(0)
        for flag in [false, temporalMotion, strong_intra_smoothing_enabled_flag, false, false] { sps.put(flag) }
        sps.putTrailingBits()

        var pps = HeaderBitWriter()
        pps.putUnsigned(0)
        pps.putUnsigned(0)
        pps.put(0, 5)
        pps.put(sign_data_hiding_enabled_flag)
        // cabac_init_present_flag.
        pps.put(true)
        for _ in 0..<2 { pps.putUnsigned(0) }
        pps.putSigned(0)
        pps.put(constrained_intra_pred_flag)
        pps.put(hasTransformSkip)
        pps.put(qpDeltaDepth != nil)
        if let qpDeltaDepth { pps.putUnsigned(qpDeltaDepth) }
        pps.putSigned(cbQPOffset)
        pps.putSigned(crQPOffset)
        pps.put(0, 4)
        pps.put(tiles.isEnabled)
        pps.put(false)
        if tiles.isEnabled {
            let columns = zip(tiles.columnBounds, tiles.columnBounds.dropFirst()).map { $1 - $0 }
            let rows = zip(tiles.rowBounds, tiles.rowBounds.dropFirst()).map { $1 - $0 }
            pps.putUnsigned(columns.count - 1)
            pps.putUnsigned(rows.count - 1)
            pps.put(false)
            for size in columns.dropLast() + rows.dropLast() { pps.putUnsigned(size - 1) }
            pps.put(true)
        }
        pps.put(true)
        // Deblocking control: no override, enabled, no offsets.
        pps.put(0b1_0_0, 3)
        for _ in 0..<2 { pps.putSigned(0) }
        pps.put(0, 2)
        pps.putUnsigned(log2_parallel_merge_level - 2)
        pps.put(hasHeaderExtension)
        pps.put(false)
        pps.putTrailingBits()
        return unit(32, vps) + unit(33, sps) + unit(34, pps)
    }

    /// Returns a slice's header up to its entry points. `poc` 0 is an IDR picture; the lists of other pictures hold the
    /// pictures directly before them.
    func slice(
        _ slice: HEVCSliceJob, poc: Int, stored: Int, usesTemporalMotion: Bool, collocatedIndex: Int
    ) -> SliceHeaderBits {
        var writer = HeaderBitWriter()
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
        if !isIDR {
            writer.put(UInt32(poc & 255), 8)
            writer.put(false)
            writer.putUnsigned(stored)
            writer.putUnsigned(0)
            for _ in 0..<stored {
                writer.putUnsigned(0)
                writer.put(true)
            }
            if temporalMotion { writer.put(usesTemporalMotion) }
        }
        if hasSAO {
            writer.put(slice.slice_sao_luma_flag)
            writer.put(slice.slice_sao_chroma_flag)
        }
        if slice.type != .i {
            writer.put(true)
            writer.putUnsigned(slice.list0.count - 1)
            if slice.type == .b {
                writer.putUnsigned(slice.list1.count - 1)
                writer.put(slice.mvd_l1_zero_flag)
            }
            writer.put(slice.cabac_init_flag)
            if usesTemporalMotion {
                if slice.type == .b { writer.put(slice.collocated_from_l0_flag) }
                let count = slice.collocated_from_l0_flag ? slice.list0.count : slice.list1.count
                if count > 1 { writer.putUnsigned(collocatedIndex) }
            }
            writer.putUnsigned(5 - slice.mergeCandidates)
        }
        writer.putSigned(slice.qp - 26)
        writer.put(slice.slice_loop_filter_across_slices_enabled_flag)
        return SliceHeaderBits(
            prefix: [0, 0, 0, 1, (isIDR ? 19 : 1) << 1, 1], payload: writer.bytes, bitCount: writer.bitCount)
    }
}
