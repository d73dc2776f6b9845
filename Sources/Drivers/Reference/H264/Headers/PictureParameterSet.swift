/// pic_parameter_set_rbsp, H.264 7.3.2.2. It has one slice group and no scaling lists.
package struct PictureParameterSet: Equatable, Sendable {
    package var id = 0
    package var sequenceId = 0
    package var cabac = false
    /// bottom_field_pic_order_in_frame_present_flag.
    package var bottomFieldPicOrderPresent = false
    /// num_ref_idx_l0_default_active_minus1 + 1 and num_ref_idx_l1_default_active_minus1 + 1.
    package var defaultReferenceCounts = [1, 1]
    package var weightedPrediction = false
    package var weightedBipredIdc = 0
    /// 26 + pic_init_qp_minus26.
    package var initialQP = PictureParameterSet.usualQP
    /// The QP for which pic_init_qp_minus26 is 0.
    package static let usualQP = 26
    package var chromaQPIndexOffset = 0
    package var deblockingControlPresent = false
    package var constrainedIntraPrediction = false
    package var redundantPicCntPresent = false
    /// The syntax elements that High profile adds, or nil if they are not present.
    package var highFields: HighFields?

    package struct HighFields: Equatable, Sendable {
        package var transform8x8: Bool
        package var secondChromaQPIndexOffset: Int

        package init(transform8x8: Bool = false, secondChromaQPIndexOffset: Int = 0) {
            self.transform8x8 = transform8x8
            self.secondChromaQPIndexOffset = secondChromaQPIndexOffset
        }
    }

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.putUnsigned(id)
        bits.putUnsigned(sequenceId)
        bits.put(cabac)
        bits.put(bottomFieldPicOrderPresent)
        bits.putUnsigned(0)  // num_slice_groups_minus1
        for count in defaultReferenceCounts { bits.putUnsigned(count - 1) }
        bits.put(weightedPrediction)
        bits.put(UInt32(weightedBipredIdc), 2)
        bits.putSigned(initialQP - 26)
        bits.putSigned(0)  // pic_init_qs_minus26
        bits.putSigned(chromaQPIndexOffset)
        bits.put(deblockingControlPresent)
        bits.put(constrainedIntraPrediction)
        bits.put(redundantPicCntPresent)
        if let highFields {
            bits.put(highFields.transform8x8)
            bits.put(false)  // pic_scaling_matrix_present_flag
            bits.putSigned(highFields.secondChromaQPIndexOffset)
        }
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 0x68])
    }

    package init() {}

    /// Reads the RBSP of a picture parameter set, without its NAL unit header. Returns nil if the data ends too early,
    /// if a value is out of range or if there are several slice groups. Scaling lists are skipped.
    package init?(rbsp: [UInt8]) {
        // The position of the stop bit shows whether the fields of High profile are present.
        guard let last = rbsp.lastIndex(where: { $0 != 0 }) else { return nil }
        let end = 8 * last + 7 - rbsp[last].trailingZeroBitCount
        var bits = HeaderBitReader(rbsp, bitCount: end)
        id = bits.unsigned()
        sequenceId = bits.unsigned()
        cabac = bits.flag()
        bottomFieldPicOrderPresent = bits.flag()
        guard bits.unsigned() == 0 else { return nil }
        defaultReferenceCounts = [bits.unsigned() + 1, bits.unsigned() + 1]
        weightedPrediction = bits.flag()
        weightedBipredIdc = Int(bits.get(2))
        initialQP = 26 + bits.signed()
        _ = bits.signed()
        chromaQPIndexOffset = bits.signed()
        deblockingControlPresent = bits.flag()
        constrainedIntraPrediction = bits.flag()
        redundantPicCntPresent = bits.flag()
        if bits.position < end {
            var fields = HighFields()
            fields.transform8x8 = bits.flag()
            if bits.flag() {
                SequenceParameterSet.skipScalingLists(&bits, count: fields.transform8x8 ? 8 : 6)
            }
            fields.secondChromaQPIndexOffset = bits.signed()
            highFields = fields
        }
        guard !bits.failed, id <= 255, sequenceId <= 31, defaultReferenceCounts.allSatisfy({ $0 <= 32 }) else {
            return nil
        }
    }
}
