import EncodePlanning
import HEVCSyntax
import NALUnits
import VAAPI
import VideoBase

extension SliceSegmentHeader {
    /// The header of a picture's slice that begins with coding tree block `firstBlock`.
    init(
        _ plan: FramePlan, _ numbers: HEVCPictureNumbers, _ headers: HEVCStreamHeaders, firstBlock: Int, qp: Int
    ) {
        let type = headers.sliceType(plan.type)
        self.init(
            nal_unit_type: numbers.nalUnitType, temporalID: numbers.temporalID, slice_type: type,
            slice_pic_order_cnt_lsb: numbers.pic_order_cnt_lsb, qp: qp)
        slice_segment_address = firstBlock
        shortTermReferences = .explicit(
            ShortTermReferencePictureSet(
                numbers.shortTerm.map { .init(deltaPOC: $0.deltaPOC, isUsed: $0.isUsed) }))
        longTermReferences = numbers.longTerm.map {
            LongTermReference(poc_lsb_lt: $0.poc_lsb_lt, isUsed: $0.isUsed, deltaPOCMsbCycle: $0.deltaPOCMsbCycle)
        }
        // Of I pictures too: without it, no picture behind could take vectors from one before (7.4.7.1).
        slice_temporal_mvp_enabled_flag = headers.sps.sps_temporal_mvp_enabled_flag
        slice_sao_luma_flag = headers.sps.sample_adaptive_offset_enabled_flag
        slice_sao_chroma_flag = slice_sao_luma_flag
        num_ref_idx_l0_active = numbers.list0.count
        list_entry_l0 = numbers.listEntries0
        if plan.type == .p, type == .b {
            // Without pictures shown later, both lists' initial orders are the same (8.3.4).
            num_ref_idx_l1_active = num_ref_idx_l0_active
            list_entry_l1 = list_entry_l0
        } else {
            num_ref_idx_l1_active = numbers.list1.count
            list_entry_l1 = numbers.listEntries1
        }
    }
}

extension HEVCPictureNumbers {
    /// nal_unit_type, Table 7-1. An IDR picture might have leading pictures, as far as its type says: hardware knows no
    /// other.
    var nalUnitType: NALUnitType {
        switch kind {
        case .idr: .idrWithRADL
        case .cra: .cra
        case .skippedLeading: isReference ? .raslR : .raslN
        case .subLayerAccess: isReference ? .tsaR : .tsaN
        case .trailing: isReference ? .trailR : .trailN
        }
    }
}

extension PackedHeader {
    /// A slice segment header, byte_alignment() among it: a NAL unit with its start code, escaped. Its last byte is not
    /// zero, so slice data changes nothing about the escapes.
    init(_ header: SliceSegmentHeader, _ headers: HEVCStreamHeaders) {
        var writer = BitWriter()
        header.write(to: &writer, sps: headers.sps, pps: headers.pps)
        let unit = NALUnit.bytes(header.nal_unit_type, temporalID: header.temporalID, rbsp: writer.bytes)
        self.init(.slice, AnnexB.startCode + unit, hasEmulationBytes: true)
    }
}
