internal import CVA

extension HEVCBackend {
    /// The parameter sets that the client's slice headers refer to, and those in the stream.
    struct Sets {
        var asked: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet)
        var written: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet)
    }

    /// Returns the parameter sets of a picture, and inserts those that the driver writes into `units`.
    func parameterSets(
        _ sequence: VAEncSequenceParameterBufferHEVC, _ parameters: VAEncPictureParameterBufferHEVC,
        _ units: inout StreamUnits, _ stream: inout StreamState
    ) throws -> Sets {
        let isRandomAccess = parameters.nal_unit_type >= 16
        let changesQP = context.config.rateMode != nil || stream.hevc.hasRegions
        var asked = (HEVCSequenceParameterSet(sequence), HEVCPictureParameterSet(parameters))
        if behavior.writesOwnSets {
            asked = behavior.generatedSets(
                asked, features, packed: stream.hevc.parameterSets.lastPackedSequence, changesQP: changesQP)
            units.rewrite { type, _ in (32...35).contains(type) ? [] : nil }
            let sets = try stream.hevc.parameterSets.resolve(asked, isRandomAccess: isRandomAccess)
            units.insert(sets.written)
            units.insertFirst([0, 0, 0, 1, 35 << 1, 1, UInt8(parameters.audType << 5 | 0x10)])
            return Sets(asked: (sets.sequence, sets.picture), written: (sets.sequence, sets.picture))
        }
        let sets = try stream.hevc.parameterSets.resolve(asked, isRandomAccess: isRandomAccess)
        units.insert(sets.written)
        let found = (sets.sequence, sets.picture)
        guard behavior.rewritesHeaders else { return Sets(asked: found, written: found) }
        let (behavior, features) = (behavior, features)
        var hasPicture = false
        units.rewrite { type, rbsp in
            switch type {
            case 33:
                return HEVCSequenceParameterSet(rbsp: rbsp).map {
                    behavior.rewritten(($0, found.1), features, changesQP: changesQP).sequence.nalUnit()
                }
            case 34:
                hasPicture = true
                return HEVCPictureParameterSet(rbsp: rbsp).map {
                    behavior.rewritten((found.0, $0), features, changesQP: changesQP).picture.nalUnit()
                }
            default: return nil
            }
        }
        let written = behavior.rewritten(found, features, changesQP: changesQP)
        if !hasPicture && stream.hevc.writtenPicture != written.picture { units.insert([written.picture.nalUnit()]) }
        stream.hevc.writtenPicture = written.picture
        return Sets(asked: found, written: written)
    }

    private var features: HEVCFeatures { HEVCFeatures(context.config.entry, behavior) }

    /// Throws if there are more tiles than the stream's level allows (A.4.1).
    func checkLevel(_ tiles: HEVCTiles, _ sequence: HEVCSequenceParameterSet) throws {
        let (columns, rows) = (tiles.columnBounds.count - 1, tiles.rowBounds.count - 1)
        let most = sequence.profileTierLevel.maxTiles
        try require(
            columns <= most.columns && rows <= most.rows,
            "\(columns)x\(rows) tiles at general_level_idc \(sequence.profileTierLevel.general_level_idc), which allows"
                + " \(most.columns)x\(most.rows)")
    }

    /// Throws unless the slices cover every coding tree unit once, in tile scan order. A slice that contains coding
    /// tree units of several tiles must contain these tiles completely (6.3.1).
    func checkCoverage(_ slices: [VAEncSliceParameterBufferHEVC], _ tiles: HEVCTiles, _ grid: HEVCGrid) throws {
        try require(!slices.isEmpty, "the picture has no slices")
        var next = 0
        for slice in slices {
            let (first, count) = (Int(slice.slice_segment_address), Int(slice.num_ctu_in_slice))
            try require(
                first < grid.codingTrees && tiles.tileScan[first] == next && count > 0
                    && count <= grid.codingTrees - next,
                "a slice of \(count) coding trees from \(first) on, after \(next) of \(grid.codingTrees)")
            let end = next + count
            func startsTile(_ index: Int) -> Bool {
                index == 0 || index == grid.codingTrees
                    || tiles.tileID[tiles.rasterScan[index]] != tiles.tileID[tiles.rasterScan[index - 1]]
            }
            let isInOne = tiles.tileID[tiles.rasterScan[next]] == tiles.tileID[tiles.rasterScan[end - 1]]
            try require(isInOne || startsTile(next) && startsTile(end), "a slice contains parts of several tiles")
            next = end
        }
        try require(next == grid.codingTrees, "slices cover \(next) of \(grid.codingTrees) coding trees")
    }

    func checkOffsets(_ slices: [VAEncSliceParameterBufferHEVC]) throws {
        guard behavior.needsUniformOffsets, let first = slices.first else { return }
        let flags = { (slice: VAEncSliceParameterBufferHEVC) in
            let fields = unsafe slice.slice_fields.bits
            return [fields.slice_sao_luma_flag, fields.slice_sao_chroma_flag]
        }
        try require(
            slices.allSatisfy { flags($0) == flags(first) }, "the slices of one picture have different slice_sao flags")
    }

    /// Checks the reference lists of a slice against VAConfigAttribPredictionDirection.
    ///
    /// If both lists must be used, P slices are not supported. The lists must then be equal if only past references are
    /// supported, and are limited further on VDEnc.
    func checkLists(
        _ slice: VAEncSliceParameterBufferHEVC, _ lists: [[ListedReference]], _ picture: EncodePicture
    ) throws {
        let entry = context.config.entry
        let direction = Int32(bitPattern: entry.value(VAConfigAttribPredictionDirection) ?? 0)
        guard slice.slice_type != 2, direction & VA_PREDICTION_DIRECTION_BI_NOT_EMPTY != 0 else { return }
        try require(slice.slice_type == 0, "P slices are not supported: both lists must name pictures")
        let isSame = lists[0].map(\.reference.poc) == lists[1].map(\.reference.poc)
        if isSame { return }
        try require(
            direction & VA_PREDICTION_DIRECTION_FUTURE != 0,
            "the lists differ, but the driver supports only past "
                + "references")
        // VDEnc: if the lists differ, list 0 has at most two references and list 1 one, and there is no intra refresh.
        guard entry.maximumReferences == (3, 3) else { return }
        try require(lists[0].count <= 2 && lists[1].count <= 1, "lists that differ can have at most 2 and 1 references")
        try require(picture.intraRefresh == nil, "intra refresh is not supported if the lists differ")
    }
}

extension VAEncPictureParameterBufferHEVC {
    /// The pic_type of the access unit delimiter, table 7-2.
    fileprivate var audType: UInt32 { unsafe min(max(pic_fields.bits.coding_type, 1), 3) - 1 }
}
