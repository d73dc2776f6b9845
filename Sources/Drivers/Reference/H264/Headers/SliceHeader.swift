/// slice_header of frames, H.264 7.3.3.
package struct SliceHeader: Equatable, Sendable {
    package var nalRefIdc = 0
    /// Whether nal_unit_type is 5. Otherwise it is 1.
    package var isIDR = false
    package var firstMacroblock = 0
    /// slice_type as it is coded, 0…9.
    package var rawType = 0
    package var pictureId = 0
    package var frameNum = 0
    package var idrPicId = 0
    package var picOrderCntLsb = 0
    package var deltaPicOrderCntBottom = 0
    package var deltaPicOrderCnt = [0, 0]
    package var directSpatialMvPred = false
    /// num_ref_idx_active of both lists as it applies to the slice, whether overridden or not. It is 0 if the slice
    /// type has no such list.
    package var referenceCounts = [0, 0]
    package var overridesReferenceCounts = false
    /// ref_pic_list_modification of both lists, without the final 3.
    package var modifications: [[Modification]] = [[], []]
    /// pred_weight_table, or nil if the syntax does not contain it.
    package var weights: Weights?
    package var noOutputOfPriorPics = false
    package var longTermReference = false
    /// memory_management_control_operation with its operands, without the final 0. nil means sliding window marking.
    package var memoryManagement: [MemoryManagement]?
    package var cabacInitIdc = 0
    package var qpDelta = 0
    package var disableDeblockingFilterIdc = 0
    package var alphaC0OffsetDiv2 = 0
    package var betaOffsetDiv2 = 0

    package struct Modification: Equatable, Sendable {
        /// modification_of_pic_nums_idc, 0…2.
        package var idc: Int
        /// abs_diff_pic_num_minus1 or long_term_pic_num.
        package var value: Int

        package init(idc: Int, value: Int) {
            self.idc = idc
            self.value = value
        }
    }

    package struct MemoryManagement: Equatable, Sendable {
        /// 1…6.
        package var operation: Int
        package var operands: [Int]

        package init(operation: Int, operands: [Int]) {
            self.operation = operation
            self.operands = operands
        }
    }

    /// pred_weight_table, 7.3.3.2, with the entries of both lists by refIdx.
    package struct Weights: Equatable, Sendable {
        package var lumaLog2Denominator = 0
        package var chromaLog2Denominator = 0
        package var lists: [[Entry]] = [[], []]

        package init() {}

        package struct Entry: Equatable, Sendable {
            /// Weight and offset, or nil if the flag is 0.
            package var luma: [Int]?
            /// Weight and offset of Cb, then of Cr, or nil if the flag is 0.
            package var chroma: [Int]?

            package init() {}
        }
    }

    package init() {}

    /// The slice type, or nil for SP and SI slices.
    package var type: SliceType? { rawType % 5 < 3 ? SliceType(rawValue: UInt8(rawType % 5)) : nil }

    /// Returns whether the syntax contains pred_weight_table.
    package func hasWeights(_ picture: PictureParameterSet) -> Bool {
        type == .p && picture.weightedPrediction || type == .b && picture.weightedBipredIdc == 1
    }

    /// The number of reference lists of the slice type.
    package var listCount: Int {
        switch type {
        case .p: 1
        case .b: 2
        default: 0
        }
    }
}

// MARK: Writing

extension SliceHeader {
    /// Returns the header as bits after a start code. The start code has four bytes in the first slice of a picture,
    /// otherwise three.
    package func bits(sequence: SequenceParameterSet, picture: PictureParameterSet) -> SliceHeaderBits {
        var bits = HeaderBitWriter()
        write(to: &bits, sequence: sequence, picture: picture)
        let startCode: [UInt8] = firstMacroblock == 0 ? [0, 0, 0, 1] : [0, 0, 1]
        return SliceHeaderBits(
            prefix: startCode + [UInt8(nalRefIdc & 3) << 5 | (isIDR ? 5 : 1)], payload: bits.bytes,
            bitCount: bits.bitCount)
    }

    private func write(to bits: inout HeaderBitWriter, sequence: SequenceParameterSet, picture: PictureParameterSet) {
        bits.putUnsigned(firstMacroblock)
        bits.putUnsigned(rawType)
        bits.putUnsigned(pictureId)
        bits.put(UInt32(frameNum) & (1 << UInt32(sequence.log2MaxFrameNum) - 1), sequence.log2MaxFrameNum)
        if !sequence.frameMbsOnly { bits.put(false) }  // field_pic_flag
        if isIDR { bits.putUnsigned(idrPicId) }
        if sequence.pictureOrderCountType == 0 {
            let size = sequence.log2MaxPictureOrderCountLsb
            bits.put(UInt32(truncatingIfNeeded: picOrderCntLsb) & (1 << UInt32(size) - 1), size)
            if picture.bottomFieldPicOrderPresent { bits.putSigned(deltaPicOrderCntBottom) }
        } else if sequence.pictureOrderCountType == 1 && !sequence.deltaPicOrderAlwaysZero {
            bits.putSigned(deltaPicOrderCnt[0])
            if picture.bottomFieldPicOrderPresent { bits.putSigned(deltaPicOrderCnt[1]) }
        }
        if picture.redundantPicCntPresent { bits.putUnsigned(0) }
        if type == .b { bits.put(directSpatialMvPred) }
        if listCount > 0 {
            bits.put(overridesReferenceCounts)
            if overridesReferenceCounts {
                for list in 0..<listCount { bits.putUnsigned(referenceCounts[list] - 1) }
            }
        }
        for list in 0..<listCount {
            bits.put(!modifications[list].isEmpty)
            if !modifications[list].isEmpty {
                for modification in modifications[list] {
                    bits.putUnsigned(modification.idc)
                    bits.putUnsigned(modification.value)
                }
                bits.putUnsigned(3)
            }
        }
        if hasWeights(picture) { write(weights ?? Weights(), to: &bits) }
        if nalRefIdc != 0 { writeMarking(to: &bits) }
        if picture.cabac && type != .i { bits.putUnsigned(cabacInitIdc) }
        bits.putSigned(qpDelta)
        if picture.deblockingControlPresent {
            bits.putUnsigned(disableDeblockingFilterIdc)
            if disableDeblockingFilterIdc != 1 {
                bits.putSigned(alphaC0OffsetDiv2)
                bits.putSigned(betaOffsetDiv2)
            }
        }
    }

    private func write(_ weights: Weights, to bits: inout HeaderBitWriter) {
        bits.putUnsigned(weights.lumaLog2Denominator)
        bits.putUnsigned(weights.chromaLog2Denominator)
        for list in 0..<listCount {
            for index in 0..<referenceCounts[list] {
                let entry = index < weights.lists[list].count ? weights.lists[list][index] : Weights.Entry()
                for values in [entry.luma, entry.chroma] {
                    bits.put(values != nil)
                    for value in values ?? [] { bits.putSigned(value) }
                }
            }
        }
    }

    /// Writes dec_ref_pic_marking, 7.3.3.3.
    private func writeMarking(to bits: inout HeaderBitWriter) {
        if isIDR {
            bits.put(noOutputOfPriorPics)
            bits.put(longTermReference)
        } else {
            bits.put(memoryManagement != nil)
            if let memoryManagement {
                for command in memoryManagement {
                    bits.putUnsigned(command.operation)
                    for operand in command.operands { bits.putUnsigned(operand) }
                }
                bits.putUnsigned(0)
            }
        }
    }
}
