extension SliceHeader {
    /// Reads a slice header with the parameter sets that it refers to. Returns nil if the data ends too early, if a
    /// value is out of range, or if it is the header of a field or of an SP or SI slice. The bits after the deblocking
    /// fields are not read.
    package init?(_ header: SliceHeaderBits, sequence: SequenceParameterSet, picture: PictureParameterSet) {
        var fields = SliceFields(firstMacroblock: 0..<0, qpDelta: 0..<0)
        self.init(header, sequence: sequence, picture: picture, fields: &fields)
    }

    /// Reads a slice header as above, and stores the positions of some fields in `fields`.
    init?(
        _ header: SliceHeaderBits, sequence: SequenceParameterSet, picture: PictureParameterSet, fields: inout SliceFields
    ) {
        guard let nalHeader = header.prefix.last else { return nil }
        nalRefIdc = Int(nalHeader >> 5 & 3)
        isIDR = nalHeader & 31 == 5
        var bits = HeaderBitReader(header.payload, bitCount: header.bitCount)
        firstMacroblock = bits.unsigned()
        fields.firstMacroblock = 0..<bits.position
        rawType = bits.unsigned()
        guard rawType <= 9, type != nil else { return nil }
        pictureId = bits.unsigned()
        frameNum = Int(bits.get(sequence.log2MaxFrameNum))
        if !sequence.frameMbsOnly && bits.flag() { return nil }
        if isIDR { idrPicId = bits.unsigned() }
        if sequence.pictureOrderCountType == 0 {
            picOrderCntLsb = Int(bits.get(sequence.log2MaxPictureOrderCountLsb))
            if picture.bottomFieldPicOrderPresent { deltaPicOrderCntBottom = bits.signed() }
        } else if sequence.pictureOrderCountType == 1 && !sequence.deltaPicOrderAlwaysZero {
            deltaPicOrderCnt[0] = bits.signed()
            if picture.bottomFieldPicOrderPresent { deltaPicOrderCnt[1] = bits.signed() }
        }
        if picture.redundantPicCntPresent { _ = bits.unsigned() }
        if type == .b { directSpatialMvPred = bits.flag() }
        if listCount > 0 { overridesReferenceCounts = bits.flag() }
        for list in 0..<listCount {
            referenceCounts[list] =
                overridesReferenceCounts ? bits.unsigned() + 1 : picture.defaultReferenceCounts[list]
        }
        guard referenceCounts.allSatisfy({ $0 <= 32 }) else { return nil }
        for list in 0..<listCount where bits.flag() {
            while true {
                let idc = bits.unsigned()
                if idc == 3 { break }
                guard idc < 3, !bits.failed, modifications[list].count <= 32 else { return nil }
                modifications[list].append(Modification(idc: idc, value: bits.unsigned()))
            }
        }
        if hasWeights(picture) { readWeights(&bits) }
        if nalRefIdc != 0 {
            guard readMarking(&bits) else { return nil }
        }
        if picture.cabac && type != .i { cabacInitIdc = bits.unsigned() }
        let start = bits.position
        qpDelta = bits.signed()
        fields.qpDelta = start..<bits.position
        if picture.deblockingControlPresent {
            disableDeblockingFilterIdc = bits.unsigned()
            if disableDeblockingFilterIdc != 1 {
                alphaC0OffsetDiv2 = bits.signed()
                betaOffsetDiv2 = bits.signed()
            }
        }
        fields.end = bits.position
        if bits.failed { return nil }
    }

    private mutating func readWeights(_ bits: inout HeaderBitReader) {
        var table = Weights()
        table.lumaLog2Denominator = bits.unsigned()
        table.chromaLog2Denominator = bits.unsigned()
        for list in 0..<listCount {
            for _ in 0..<referenceCounts[list] {
                var entry = Weights.Entry()
                if bits.flag() { entry.luma = [bits.signed(), bits.signed()] }
                if bits.flag() { entry.chroma = [bits.signed(), bits.signed(), bits.signed(), bits.signed()] }
                table.lists[list].append(entry)
            }
        }
        weights = table
    }

    private mutating func readMarking(_ bits: inout HeaderBitReader) -> Bool {
        if isIDR {
            noOutputOfPriorPics = bits.flag()
            longTermReference = bits.flag()
            return true
        }
        guard bits.flag() else { return true }
        var commands: [MemoryManagement] = []
        while true {
            let operation = bits.unsigned()
            if operation == 0 { break }
            guard operation <= 6, !bits.failed, commands.count < 64 else { return false }
            let operandCount = operation == 3 ? 2 : operation == 5 ? 0 : 1
            commands.append(
                MemoryManagement(operation: operation, operands: (0..<operandCount).map { _ in bits.unsigned() }))
        }
        memoryManagement = commands
        return true
    }
}
