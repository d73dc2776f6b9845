import EncodePlanning
import HEVCSyntax
import NALUnits
import VAAPI
import VideoBase

extension SliceSegmentHeader {
    /// Creates the header of a slice that begins with coding tree block `firstBlock`.
    init(
        _ plan: FramePlan, numbers: HEVCPictureNumbers, headers: HEVCStreamHeaders, firstBlock: Int, qp: Int
    ) {
        let type = headers.sliceType(plan.type)
        self.init(
            nal_unit_type: numbers.nal_unit_type, temporalID: numbers.temporalID, slice_type: type,
            slice_pic_order_cnt_lsb: numbers.pic_order_cnt_lsb, qp: qp)
        slice_segment_address = firstBlock
        shortTermReferences = .explicit(
            ShortTermReferencePictureSet(
                numbers.shortTerm.map { .init(deltaPOC: $0.deltaPOC, isUsed: $0.isUsed) }))
        longTermReferences = numbers.longTerm.map {
            LongTermReference(
                poc_lsb_lt: $0.poc_lsb_lt, used_by_curr_pic_lt_flag: $0.isUsed, deltaPOCMsbCycle: $0.deltaPOCMsbCycle)
        }
        // I pictures set it too. Otherwise no later picture could predict vectors from a picture before the I picture
        // (7.4.7.1).
        slice_temporal_mvp_enabled_flag = headers.sps.sps_temporal_mvp_enabled_flag
        slice_sao_luma_flag = headers.sps.sample_adaptive_offset_enabled_flag
        slice_sao_chroma_flag = slice_sao_luma_flag
        num_ref_idx_active[0] = numbers.list0.count
        list_entry[0] = numbers.listEntries0
        if plan.type == .p, type == .b {
            // If no reference is shown later, both lists have the same initial order (8.3.4).
            num_ref_idx_active[1] = num_ref_idx_active[0]
            list_entry[1] = list_entry[0]
        } else {
            num_ref_idx_active[1] = numbers.list1.count
            list_entry[1] = numbers.listEntries1
        }
    }
}

extension HEVCPictureNumbers {
    /// nal_unit_type, Table 7-1. IDR pictures use the type that allows leading pictures, because hardware supports no
    /// other.
    var nal_unit_type: NALUnitType {
        switch kind {
        case .idr: .IDR_W_RADL
        case .cra: .CRA_NUT
        case .skippedLeading: isReference ? .RASL_R : .RASL_N
        case .subLayerAccess: isReference ? .TSA_R : .TSA_N
        case .trailing: isReference ? .TRAIL_R : .TRAIL_N
        }
    }
}

extension PackedHeader {
    /// Creates the packed header of a slice segment: an escaped NAL unit with its start code and byte_alignment(). Its
    /// last byte is not zero, so the slice data does not affect the emulation prevention.
    init(_ header: SliceSegmentHeader, _ headers: HEVCStreamHeaders) {
        var writer = BitWriter()
        header.write(to: &writer, sps: headers.sps, pps: headers.pps)
        let unit = NALUnit.bytes(header.nal_unit_type, temporalID: header.temporalID, rbsp: writer.bytes)
        self.init(.slice, AnnexB.startCode + unit, has_emulation_bytes: true)
    }
}
