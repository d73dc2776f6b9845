extension HEVCSliceHeader {
    /// Reads a slice segment header with its parameter sets. Returns nil if it is truncated, a value is out of range,
    /// the segment is dependent or weighted prediction is used. `end` receives the number of bits before the entry
    /// points.
    package init?(
        _ header: SliceHeaderBits, sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet, end: inout Int
    ) {
        guard header.prefix.count >= 2, !(picture.weightedPrediction || picture.weightedBipred) else { return nil }
        unitType = Int(header.prefix[header.prefix.count - 2] >> 1 & 63)
        var bits = HeaderBitReader(header.payload, bitCount: header.bitCount)
        let isFirst = bits.flag()
        if isIRAP { noOutputOfPriorPictures = bits.flag() }
        pictureID = bits.unsigned()
        if !isFirst {
            if picture.hasDependentSegments && bits.flag() { return nil }
            address = Int(bits.get(Self.addressBits(sequence)))
            guard address > 0, address < sequence.grid.codingTrees else { return nil }
        }
        extraBits = bits.get(picture.extraSliceBits)
        switch bits.unsigned() {
        case 0: type = .b
        case 1: type = .p
        case 2: type = .i
        default: return nil
        }
        guard !bits.failed else { return nil }
        if picture.hasOutputFlag { isOutput = bits.flag() }
        if !isIDR {
            guard readReferences(&bits, sequence) else { return nil }
        }
        if sequence.sample_adaptive_offset_enabled_flag {
            offsetsLuma = bits.flag()
            offsetsChroma = bits.flag()
        }
        if type != .i {
            guard readInter(&bits, picture) else { return nil }
        }
        qpDelta = bits.signed()
        if picture.hasSliceChromaOffsets {
            cbQPOffset = bits.signed()
            crQPOffset = bits.signed()
        }
        readDeblocking(&bits, picture)
        filtersAcrossSlices = picture.filtersAcrossSlices
        if filtersAcrossSlices && (offsetsLuma || offsetsChroma || !disablesDeblocking) {
            filtersAcrossSlices = bits.flag()
        }
        end = bits.position
        if bits.failed { return nil }
    }

    private mutating func readDeblocking(_ bits: inout HeaderBitReader, _ picture: HEVCPictureParameterSet) {
        let control = picture.deblocking ?? .init()
        if control.canBeOverridden { overridesDeblocking = bits.flag() }
        disablesDeblocking = control.isDisabled
        betaOffsetDiv2 = control.betaOffsetDiv2
        tcOffsetDiv2 = control.tcOffsetDiv2
        guard overridesDeblocking else { return }
        disablesDeblocking = bits.flag()
        if !disablesDeblocking {
            betaOffsetDiv2 = bits.signed()
            tcOffsetDiv2 = bits.signed()
        }
    }

    private mutating func readReferences(_ bits: inout HeaderBitReader, _ sequence: HEVCSequenceParameterSet) -> Bool {
        pictureOrderCountLsb = Int(bits.get(sequence.log2MaxPictureOrderCountLsb))
        let sets = sequence.referenceSets
        if bits.flag() {
            let index = Int(bits.get(Self.bits(for: sets.count)))
            guard index < sets.count else { return false }
            referenceSetIndex = index
            referenceSet = sets[index]
        } else {
            guard let set = HEVCReferenceSet(&bits, after: sets, inSliceHeader: true) else { return false }
            referenceSet = set
        }
        if let known = sequence.longTerm {
            let spsCount = known.isEmpty ? 0 : bits.unsigned()
            let headerCount = bits.unsigned()
            guard !bits.failed, spsCount + headerCount <= 16 else { return false }
            var cycle = 0
            for number in 0..<spsCount + headerCount {
                var entry = LongTerm()
                if number < spsCount {
                    let index = Int(bits.get(Self.bits(for: known.count)))
                    guard index < known.count else { return false }
                    entry.index = index
                    entry.pictureOrderCountLsb = known[index].pictureOrderCountLsb
                    entry.isUsed = known[index].isUsed
                } else {
                    entry.pictureOrderCountLsb = Int(bits.get(sequence.log2MaxPictureOrderCountLsb))
                    entry.isUsed = bits.flag()
                }
                // (7-52): DeltaPocMsbCycleLt accumulates separately for the entries of the sequence parameter set and
                // for the header's own entries.
                if number == 0 || number == spsCount { cycle = 0 }
                if bits.flag() {
                    cycle += bits.unsigned()
                    entry.cycle = cycle
                }
                longTerm.append(entry)
            }
        }
        if sequence.hasTemporalVectors { hasTemporalVectors = bits.flag() }
        return !bits.failed
    }

    private mutating func readInter(_ bits: inout HeaderBitReader, _ picture: HEVCPictureParameterSet) -> Bool {
        overridesReferenceCounts = bits.flag()
        for list in 0..<listCount {
            referenceCounts[list] =
                overridesReferenceCounts ? bits.unsigned() + 1 : picture.defaultReferenceCounts[list]
        }
        let count = currentCount
        guard !bits.failed, referenceCounts.allSatisfy({ $0 <= 15 }), count > 0 else { return false }
        if picture.modifiesLists && count > 1 {
            for list in 0..<listCount where bits.flag() {
                listEntries[list] = (0..<referenceCounts[list]).map { _ in Int(bits.get(Self.bits(for: count))) }
            }
        }
        if type == .b { mvdL1Zero = bits.flag() }
        if picture.hasCABACInit { cabacInit = bits.flag() }
        if hasTemporalVectors {
            if type == .b { isCollocatedFromList0 = bits.flag() }
            if referenceCounts[isCollocatedFromList0 ? 0 : 1] > 1 { collocatedIndex = bits.unsigned() }
            guard collocatedIndex < referenceCounts[isCollocatedFromList0 ? 0 : 1] else { return false }
        }
        mergeCandidates = 5 - bits.unsigned()
        return !bits.failed && (1...5).contains(mergeCandidates)
    }
}
