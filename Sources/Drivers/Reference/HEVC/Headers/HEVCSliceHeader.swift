/// slice_segment_header, H.265 7.3.6.1, of an independent slice segment without weighted prediction.
package struct HEVCSliceHeader: Equatable, Sendable {
    /// nal_unit_type.
    package var unitType = 1
    package var noOutputOfPriorPictures = false
    package var pictureID = 0
    /// slice_segment_address.
    package var address = 0
    /// The slice_reserved_flag bits.
    package var extraBits: UInt32 = 0
    package var type = SliceType.i
    package var isOutput = true
    /// slice_pic_order_cnt_lsb. IDR pictures have neither this element nor the reference pictures.
    package var pictureOrderCountLsb = 0
    /// short_term_ref_pic_set_idx; nil if the header contains its own set.
    package var referenceSetIndex: Int?
    package var referenceSet = HEVCReferenceSet()
    package var longTerm: [LongTerm] = []
    package var hasTemporalVectors = false
    package var offsetsLuma = false
    package var offsetsChroma = false
    /// num_ref_idx_active_override_flag, and the number of references in each list.
    package var overridesReferenceCounts = false
    package var referenceCounts = [0, 0]
    /// list_entry_l0 and list_entry_l1; nil if the list is not modified.
    package var listEntries: [[Int]?] = [nil, nil]
    package var mvdL1Zero = false
    package var cabacInit = false
    package var isCollocatedFromList0 = true
    package var collocatedIndex = 0
    /// MaxNumMergeCand.
    package var mergeCandidates = 5
    package var qpDelta = 0
    package var cbQPOffset = 0
    package var crQPOffset = 0
    package var overridesDeblocking = false
    package var disablesDeblocking = false
    package var betaOffsetDiv2 = 0
    package var tcOffsetDiv2 = 0
    package var filtersAcrossSlices = false

    package struct LongTerm: Equatable, Sendable {
        /// lt_idx_sps; nil for an entry whose values are in the header.
        package var index: Int?
        package var pictureOrderCountLsb = 0
        package var isUsed = true
        /// DeltaPocMsbCycleLt; nil if the low bits identify the picture.
        package var cycle: Int?

        package init(index: Int? = nil, pictureOrderCountLsb: Int = 0, isUsed: Bool = true, cycle: Int? = nil) {
            self.index = index
            self.pictureOrderCountLsb = pictureOrderCountLsb
            self.isUsed = isUsed
            self.cycle = cycle
        }
    }

    package init() {}

    package var isIDR: Bool { unitType == 19 || unitType == 20 }
    /// Whether the picture is a BLA, IDR or CRA picture, or has a type reserved for IRAP pictures.
    package var isIRAP: Bool { (16...23).contains(unitType) }
    package var listCount: Int { type == .b ? 2 : type == .p ? 1 : 0 }

    /// NumPicTotalCurr, (7-55).
    package var currentCount: Int {
        isIDR ? 0 : referenceSet.usedCount + longTerm.count { $0.isUsed }
    }

    /// Returns the header's bits up to the entry points, preceded by a start code and a NAL unit header with temporal
    /// sub-layer 0.
    package func bits(sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet) -> SliceHeaderBits {
        var bits = HeaderBitWriter()
        bits.put(address == 0)
        if isIRAP { bits.put(noOutputOfPriorPictures) }
        bits.putUnsigned(pictureID)
        if address != 0 {
            if picture.hasDependentSegments { bits.put(false) }
            bits.put(UInt32(address), Self.addressBits(sequence))
        }
        bits.put(extraBits, picture.extraSliceBits)
        bits.putUnsigned(Int(type == .b ? 0 : type == .p ? 1 : 2))
        if picture.hasOutputFlag { bits.put(isOutput) }
        if !isIDR { putReferences(&bits, sequence) }
        if sequence.sample_adaptive_offset_enabled_flag {
            bits.put(offsetsLuma)
            bits.put(offsetsChroma)
        }
        if type != .i { putInter(&bits, picture) }
        bits.putSigned(qpDelta)
        if picture.hasSliceChromaOffsets {
            bits.putSigned(cbQPOffset)
            bits.putSigned(crQPOffset)
        }
        if picture.deblocking?.canBeOverridden ?? false { bits.put(overridesDeblocking) }
        if overridesDeblocking {
            bits.put(disablesDeblocking)
            if !disablesDeblocking {
                bits.putSigned(betaOffsetDiv2)
                bits.putSigned(tcOffsetDiv2)
            }
        }
        if picture.filtersAcrossSlices && (offsetsLuma || offsetsChroma || !disablesDeblocking) {
            bits.put(filtersAcrossSlices)
        }
        return SliceHeaderBits(
            prefix: [0, 0, 0, 1, UInt8(unitType << 1), 1], payload: bits.bytes, bitCount: bits.bitCount)
    }

    private func putReferences(_ bits: inout HeaderBitWriter, _ sequence: HEVCSequenceParameterSet) {
        let lsbBits = sequence.log2MaxPictureOrderCountLsb
        bits.put(UInt32(pictureOrderCountLsb), lsbBits)
        bits.put(referenceSetIndex != nil)
        if let referenceSetIndex {
            if sequence.referenceSets.count > 1 {
                bits.put(UInt32(referenceSetIndex), Self.bits(for: sequence.referenceSets.count))
            }
        } else {
            referenceSet.write(to: &bits, index: sequence.referenceSets.count)
        }
        if let known = sequence.longTerm {
            let listed = longTerm.filter { $0.index != nil }
            if !known.isEmpty { bits.putUnsigned(listed.count) }
            bits.putUnsigned(longTerm.count - listed.count)
            for part in [listed, longTerm.filter { $0.index == nil }] {
                var last = 0
                for entry in part {
                    if let index = entry.index {
                        if known.count > 1 { bits.put(UInt32(index), Self.bits(for: known.count)) }
                    } else {
                        bits.put(UInt32(entry.pictureOrderCountLsb), lsbBits)
                        bits.put(entry.isUsed)
                    }
                    bits.put(entry.cycle != nil)
                    if let cycle = entry.cycle {
                        bits.putUnsigned(cycle - last)
                        last = cycle
                    }
                }
            }
        }
        if sequence.hasTemporalVectors { bits.put(hasTemporalVectors) }
    }

    private func putInter(_ bits: inout HeaderBitWriter, _ picture: HEVCPictureParameterSet) {
        bits.put(overridesReferenceCounts)
        if overridesReferenceCounts {
            for list in 0..<listCount { bits.putUnsigned(referenceCounts[list] - 1) }
        }
        if picture.modifiesLists && currentCount > 1 {
            for list in 0..<listCount {
                bits.put(listEntries[list] != nil)
                for entry in listEntries[list] ?? [] { bits.put(UInt32(entry), Self.bits(for: currentCount)) }
            }
        }
        if type == .b { bits.put(mvdL1Zero) }
        if picture.hasCABACInit { bits.put(cabacInit) }
        if hasTemporalVectors {
            if type == .b { bits.put(isCollocatedFromList0) }
            if referenceCounts[isCollocatedFromList0 ? 0 : 1] > 1 { bits.putUnsigned(collocatedIndex) }
        }
        bits.putUnsigned(5 - mergeCandidates)
    }

    /// Returns Ceil(Log2(`count`)).
    static func bits(for count: Int) -> Int { count > 1 ? Int.bitWidth - (count - 1).leadingZeroBitCount : 0 }

    static func addressBits(_ sequence: HEVCSequenceParameterSet) -> Int { bits(for: sequence.grid.codingTrees) }

    /// A reference picture as the header identifies it: by its PicOrderCntVal, or by the low bits of it.
    package struct Reference: Equatable, Sendable {
        package var pictureOrderCount: Int
        package var isLongTerm: Bool
        /// Whether only the low bits of the count are known.
        package var isLsb = false
    }

    /// Returns RefPicList0 and RefPicList1 of a picture with PicOrderCntVal `count`, 8.3.4. Returns nil if the header
    /// has no reference pictures, or if a list entry is out of range.
    package func lists(pictureOrderCount count: Int, sequence: HEVCSequenceParameterSet) -> [[Reference]]? {
        guard listCount > 0 else { return [[], []] }
        func used(_ entries: [HEVCReferenceSet.Entry]) -> [Reference] {
            entries.filter(\.isUsed).map { Reference(pictureOrderCount: count + $0.delta, isLongTerm: false) }
        }
        let size = 1 << sequence.log2MaxPictureOrderCountLsb
        let distant = longTerm.filter(\.isUsed).map { entry in
            let msb = entry.cycle.map { count - $0 * size - (count & (size - 1)) }
            return Reference(
                pictureOrderCount: entry.pictureOrderCountLsb + (msb ?? 0), isLongTerm: true, isLsb: msb == nil)
        }
        let (before, after) = (used(referenceSet.before), used(referenceSet.after))
        let initial = [before + after + distant, after + before + distant]
        guard !initial[0].isEmpty, currentCount == initial[0].count else { return nil }
        var lists: [[Reference]] = []
        for list in 0..<2 {
            let indices = listEntries[list] ?? (0..<referenceCounts[list]).map { $0 % currentCount }
            guard list < listCount else {
                lists.append([])
                continue
            }
            guard indices.count == referenceCounts[list], indices.allSatisfy({ $0 < currentCount }) else { return nil }
            lists.append(indices.map { initial[list][$0] })
        }
        return lists
    }
}
