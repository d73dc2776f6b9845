import EncodePlanning
import H264Syntax
import NALUnits
import VAAPI
import VideoBase

extension SliceHeader {
    /// Creates the header of a slice that begins with macroblock `firstMacroblock`.
    init(
        _ plan: FramePlan, _ numbers: H264PictureNumbers, firstMacroblock: Int, qp: Int, deblocking: Deblocking = Deblocking()
    ) {
        self.init(
            nal_ref_idc: numbers.nal_ref_idc, isIDR: plan.type == .idr, slice_type: plan.type.sliceType,
            frame_num: numbers.frame_num, pic_order_cnt_lsb: numbers.pic_order_cnt_lsb, qp: qp)
        first_mb_in_slice = firstMacroblock
        idr_pic_id = numbers.idr_pic_id
        num_ref_idx_active[0] = numbers.list0.count
        num_ref_idx_active[1] = numbers.list1.count
        modifications[0] = numbers.modifications0.map(ReferenceListModification.init)
        modifications[1] = numbers.modifications1.map(ReferenceListModification.init)
        disable_deblocking_filter_idc = deblocking.isOn ? 0 : 1
        slice_alpha_c0_offset_div2 = deblocking.alphaOffset
        slice_beta_offset_div2 = deblocking.betaOffset
        marking = numbers.marking
        long_term_reference_flag = numbers.isLongTermReference
    }

    /// Returns the NAL unit up to the slice data, with its start code and without emulation prevention, and its length
    /// in bits.
    func packed(sps: SequenceParameterSet, pps: PictureParameterSet) -> (bytes: [UInt8], bit_length: Int) {
        var writer = BitWriter()
        writer.append(AnnexB.startCode)
        writer.u(8, NALUnit.header(nal_unit_type, nal_ref_idc: nal_ref_idc))
        write(to: &writer, sps: sps, pps: pps)
        return (writer.bytes, writer.bitCount)
    }
}

extension ReferenceListModification {
    init(_ step: H264ListModification) {
        self =
            switch step {
            case .shortTerm(let difference) where difference < 0: .subtract(abs_diff_pic_num: -difference)
            case .shortTerm(let difference): .add(abs_diff_pic_num: difference)
            case .longTerm(let number): .longTerm(long_term_pic_num: number)
            }
    }
}

extension PackedHeader {
    /// Creates the packed header of a slice, up to the slice data.
    init(_ header: SliceHeader, sps: SequenceParameterSet, pps: PictureParameterSet) {
        let packed = header.packed(sps: sps, pps: pps)
        self.init(sliceHeader: packed.bytes, bit_length: packed.bit_length)
    }
}
