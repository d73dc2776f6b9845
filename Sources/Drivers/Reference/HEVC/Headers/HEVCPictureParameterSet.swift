/// pic_parameter_set_rbsp, H.265 7.3.2.3, without scaling lists.
package struct HEVCPictureParameterSet: Equatable, Sendable {
    package var id = 0
    package var sequenceID = 0
    /// dependent_slice_segments_enabled_flag.
    package var hasDependentSegments = false
    package var hasOutputFlag = false
    /// num_extra_slice_header_bits.
    package var extraSliceBits = 0
    package var sign_data_hiding_enabled_flag = false
    package var hasCABACInit = false
    /// num_ref_idx_l0_default_active_minus1 + 1, and the same for list 1.
    package var defaultReferenceCounts = [1, 1]
    /// 26 + init_qp_minus26.
    package var initialQP = 26
    package var constrainedIntraPrediction = false
    package var hasTransformSkip = false
    /// diff_cu_qp_delta_depth; nil if cu_qp_delta_enabled_flag is 0.
    package var qpDeltaDepth: Int?
    package var cbQPOffset = 0
    package var crQPOffset = 0
    /// pps_slice_chroma_qp_offsets_present_flag.
    package var hasSliceChromaOffsets = false
    package var weightedPrediction = false
    package var weightedBipred = false
    /// transquant_bypass_enabled_flag.
    package var hasBypass = false
    /// The tiles; nil if tiles_enabled_flag is 0.
    package var tiles: Tiles?
    /// entropy_coding_sync_enabled_flag.
    package var syncsEntropy = false
    package var filtersAcrossSlices = false
    /// The deblocking control; nil if deblocking_filter_control_present_flag is 0.
    package var deblocking: Deblocking?
    package var hasScalingLists = false
    /// lists_modification_present_flag.
    package var modifiesLists = false
    package var log2ParallelMergeLevel = 2
    /// slice_segment_header_extension_present_flag.
    package var hasSliceExtension = false
    /// The bits from pps_extension_present_flag on, as in the stream.
    var extensionBits = HeaderBits()

    package struct Tiles: Equatable, Sendable {
        package var columns = 1
        package var rows = 1
        /// column_width_minus1 + 1 and row_height_minus1 + 1 of all columns and rows but the last. `widths` is nil if
        /// uniform_spacing_flag is 1.
        package var widths: [Int]?
        package var heights: [Int] = []
        package var filtersAcross = true

        package init(columns: Int = 1, rows: Int = 1) {
            self.columns = columns
            self.rows = rows
        }

        /// Returns the tiles with colBd and rowBd, (6-3) and (6-4); nil if the tiles do not fit the picture.
        package func bounds(_ grid: HEVCGrid) -> HEVCTiles? {
            func bounds(_ count: Int, _ given: [Int]?, of size: Int) -> [Int]? {
                guard count <= size else { return nil }
                guard let given else { return (0...count).map { $0 * size / count } }
                let sums = given.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
                return sums.last ?? 0 < size ? sums + [size] : nil
            }
            guard let across = bounds(columns, widths, of: grid.columns),
                let down = bounds(rows, widths == nil ? nil : heights, of: grid.rows)
            else { return nil }
            return HEVCTiles(columnBounds: across, rowBounds: down)
        }
    }

    package struct Deblocking: Equatable, Sendable {
        /// deblocking_filter_override_enabled_flag.
        package var canBeOverridden = false
        package var isDisabled = false
        /// pps_beta_offset_div2 and pps_tc_offset_div2.
        package var betaOffsetDiv2 = 0
        package var tcOffsetDiv2 = 0

        package init(canBeOverridden: Bool = false) { self.canBeOverridden = canBeOverridden }
    }

    package init() {}

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.putUnsigned(id)
        bits.putUnsigned(sequenceID)
        bits.put(hasDependentSegments)
        bits.put(hasOutputFlag)
        bits.put(UInt32(extraSliceBits), 3)
        bits.put(sign_data_hiding_enabled_flag)
        bits.put(hasCABACInit)
        for count in defaultReferenceCounts { bits.putUnsigned(count - 1) }
        bits.putSigned(initialQP - 26)
        bits.put(constrainedIntraPrediction)
        bits.put(hasTransformSkip)
        bits.put(qpDeltaDepth != nil)
        if let qpDeltaDepth { bits.putUnsigned(qpDeltaDepth) }
        bits.putSigned(cbQPOffset)
        bits.putSigned(crQPOffset)
        bits.put(hasSliceChromaOffsets)
        bits.put(weightedPrediction)
        bits.put(weightedBipred)
        bits.put(hasBypass)
        bits.put(tiles != nil)
        bits.put(syncsEntropy)
        if let tiles {
            bits.putUnsigned(tiles.columns - 1)
            bits.putUnsigned(tiles.rows - 1)
            bits.put(tiles.widths == nil)
            if let widths = tiles.widths {
                for size in widths + tiles.heights { bits.putUnsigned(size - 1) }
            }
            bits.put(tiles.filtersAcross)
        }
        bits.put(filtersAcrossSlices)
        bits.put(deblocking != nil)
        if let deblocking {
            bits.put(deblocking.canBeOverridden)
            bits.put(deblocking.isDisabled)
            if !deblocking.isDisabled {
                bits.putSigned(deblocking.betaOffsetDiv2)
                bits.putSigned(deblocking.tcOffsetDiv2)
            }
        }
        bits.put(false)  // pps_scaling_list_data_present_flag
        bits.put(modifiesLists)
        bits.putUnsigned(log2ParallelMergeLevel - 2)
        bits.put(hasSliceExtension)
        if extensionBits == HeaderBits() {
            bits.put(false)  // pps_extension_present_flag
        } else {
            bits.put(extensionBits)
        }
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 34 << 1, 1])
    }

    /// Reads an RBSP, which excludes the NAL unit header. Returns nil if it is truncated or a value is out of range. If
    /// there are scaling lists, the syntax after them is not read.
    package init?(rbsp: [UInt8]) {
        guard let end = HeaderBitReader.end(of: rbsp) else { return nil }
        var bits = HeaderBitReader(rbsp, bitCount: end)
        id = bits.unsigned()
        sequenceID = bits.unsigned()
        hasDependentSegments = bits.flag()
        hasOutputFlag = bits.flag()
        extraSliceBits = Int(bits.get(3))
        sign_data_hiding_enabled_flag = bits.flag()
        hasCABACInit = bits.flag()
        defaultReferenceCounts = [bits.unsigned() + 1, bits.unsigned() + 1]
        initialQP = 26 + bits.signed()
        constrainedIntraPrediction = bits.flag()
        hasTransformSkip = bits.flag()
        if bits.flag() { qpDeltaDepth = bits.unsigned() }
        cbQPOffset = bits.signed()
        crQPOffset = bits.signed()
        hasSliceChromaOffsets = bits.flag()
        weightedPrediction = bits.flag()
        weightedBipred = bits.flag()
        hasBypass = bits.flag()
        let hasTiles = bits.flag()
        syncsEntropy = bits.flag()
        if hasTiles {
            guard let tiles = Tiles(&bits) else { return nil }
            self.tiles = tiles
        }
        filtersAcrossSlices = bits.flag()
        if bits.flag() {
            var control = Deblocking(canBeOverridden: bits.flag())
            control.isDisabled = bits.flag()
            if !control.isDisabled {
                control.betaOffsetDiv2 = bits.signed()
                control.tcOffsetDiv2 = bits.signed()
            }
            deblocking = control
        }
        guard !bits.failed, id <= 63, sequenceID <= 15, defaultReferenceCounts.allSatisfy({ $0 <= 15 }),
            [cbQPOffset, crQPOffset].allSatisfy({ (-12...12).contains($0) })
        else { return nil }
        hasScalingLists = bits.flag()
        if hasScalingLists { return }
        modifiesLists = bits.flag()
        log2ParallelMergeLevel = 2 + bits.unsigned()
        hasSliceExtension = bits.flag()
        extensionBits = bits.rest(endingAt: end)
        guard !bits.failed, extensionBits.count >= 1 else { return nil }
    }
}

extension HEVCPictureParameterSet.Tiles {
    fileprivate init?(_ bits: inout HeaderBitReader) {
        columns = bits.unsigned() + 1
        rows = bits.unsigned() + 1
        // No level of H.265 A.4.1 allows more.
        guard !bits.failed, columns <= 20, rows <= 22 else { return nil }
        if !bits.flag() {
            widths = (1..<columns).map { _ in bits.unsigned() + 1 }
            heights = (1..<rows).map { _ in bits.unsigned() + 1 }
        }
        filtersAcross = bits.flag()
    }
}
