import CVA
import Testing
import VideoBase

@testable import VAAPI

/// Compares the bytes that HEVC encoders get with C structs and with words packed by hand.
@Suite struct HEVCParametersTests {
    private func bytes(_ parameters: some ParameterBuffer, _ type: BufferType) -> [UInt8] {
        var result: [UInt8] = []
        unsafe parameters.withBuffers { actual, bytes in
            #expect(actual == type)
            unsafe result += bytes
        }
        return result
    }

    private func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32($1 * 8) }
    }

    private func sequence() -> HEVCSequenceParameters {
        HEVCSequenceParameters(
            generalProfileIDC: 2, generalLevelIDC: 123, intraPeriod: 250, intraIDRPeriod: 500, ipPeriod: 3,
            picWidthInLumaSamples: 1920, picHeightInLumaSamples: 1088, log2MinLumaCodingBlockSizeMinus3: 0,
            log2DiffMaxMinLumaCodingBlockSize: 3, log2MinTransformBlockSizeMinus2: 0,
            log2DiffMaxMinTransformBlockSize: 3, maxTransformHierarchyDepthInter: 2, maxTransformHierarchyDepthIntra: 1)
    }

    @Test func sequenceFieldsHaveTheirOffsets() {
        var sequence = sequence()
        let plain = bytes(sequence, .sequence)
        #expect(plain.count == MemoryLayout<VAEncSequenceParameterBufferHEVC>.size)
        // There are three bytes, one of padding, four words and two halves; then chroma_format_idc 1 alone.
        #expect(Array(plain[0..<4]) == [2, 123, 0, 0])
        #expect([4, 8, 12, 16].map { word(plain, at: $0) } == [250, 500, 3, 0])
        #expect(word(plain, at: 20) == 1920 | 1088 << 16)
        #expect(word(plain, at: 24) == 1)
        #expect(Array(plain[28..<34]) == [0, 3, 0, 3, 2, 1])
        #expect(plain[34...].allSatisfy { $0 == 0 })

        sequence.generalHighTier = true
        sequence.bitsPerSecond = 6_000_000
        sequence.bitDepthLumaMinus8 = 2
        sequence.bitDepthChromaMinus8 = 2
        sequence.temporalMVP = true
        sequence.sampleAdaptiveOffset = true
        let actual = bytes(sequence, .sequence)
        #expect(actual[2] == 1 && word(actual, at: 16) == 6_000_000)
        // The depths begin at bits 3 and 6; sample adaptive offset is bit 12, temporal MVP bit 15.
        #expect(word(actual, at: 24) == 1 | 2 << 3 | 2 << 6 | 1 << 12 | 1 << 15)
    }

    @Test func eachSequenceFlagSetsOnlyItsBit() {
        let flags: [(WritableKeyPath<HEVCSequenceParameters, Bool>, Int)] = [
            (\HEVCSequenceParameters.separateColourPlane, 2), (\.scalingListEnabled, 9), (\.strongIntraSmoothing, 10),
            (\.ampEnabled, 11), (\.sampleAdaptiveOffset, 12), (\.temporalMVP, 15), (\.lowDelay, 16), (\.hierarchical, 17),
        ]
        for (flag, bit) in flags {
            var sequence = self.sequence()
            sequence[keyPath: flag] = true
            #expect(unsafe sequence.lowered.seq_fields.value == 1 | 1 << UInt32(bit))
        }
    }

    @Test func sequencePCMAndVUIAreWritten() {
        var sequence = sequence()
        sequence.pcm = .init(
            sampleBitDepthLumaMinus1: 7, sampleBitDepthChromaMinus1: 6, log2MinLumaCodingBlockSizeMinus3: 1,
            log2MaxLumaCodingBlockSizeMinus3: 2)
        sequence.pcm?.loopFilterDisabled = true
        sequence.paletteMode = true
        var c = sequence.lowered
        #expect(unsafe c.seq_fields.value == 1 | 1 << 13 | 1 << 14)
        #expect(c.pcm_sample_bit_depth_luma_minus1 == 7 && c.pcm_sample_bit_depth_chroma_minus1 == 6)
        #expect(c.log2_min_pcm_luma_coding_block_size_minus3 == 1)
        #expect(c.log2_max_pcm_luma_coding_block_size_minus3 == 2)
        #expect(unsafe c.scc_fields.value == 1)
        #expect(c.vui_parameters_present_flag == 0)

        var vui = HEVCSequenceParameters.VUI()
        sequence.vui = vui
        c = sequence.lowered
        #expect(unsafe c.vui_parameters_present_flag == 1 && c.vui_fields.value == 0)
        vui.aspectRatioIDC = 255
        (vui.sarWidth, vui.sarHeight) = (40, 33)
        vui.neutralChromaIndication = true
        vui.fieldSequence = true
        vui.timing = .init(numUnitsInTick: 1001, timeScale: 30000)
        var restriction = HEVCSequenceParameters.Restriction()
        restriction.log2MaxMVLengthVertical = 14
        restriction.minSpatialSegmentationIDC = 300
        restriction.maxBytesPerPicDenom = 2
        restriction.maxBitsPerMinCUDenom = 1
        vui.restriction = restriction
        sequence.vui = vui
        c = sequence.lowered
        // Aspect, neutral chroma, fields, timing and restriction; motion vectors over boundaries is bit 6; 15 << 8 and
        // 14 << 13.
        #expect(unsafe c.vui_fields.value == 0b11111 | 1 << 6 | 15 << 8 | 14 << 13)
        #expect(c.aspect_ratio_idc == 255 && c.sar_width == 40 && c.sar_height == 33)
        #expect(c.vui_num_units_in_tick == 1001 && c.vui_time_scale == 30000)
        #expect(c.min_spatial_segmentation_idc == 300 && c.max_bytes_per_pic_denom == 2)
        #expect(c.max_bits_per_min_cu_denom == 1)
        sequence.vui?.restriction?.motionVectorsOverPicBoundaries = false
        sequence.vui?.restriction?.tilesFixedStructure = true
        sequence.vui?.restriction?.restrictedRefPicLists = true
        #expect(unsafe sequence.lowered.vui_fields.value == 0b11111 | 1 << 5 | 1 << 7 | 15 << 8 | 14 << 13)
    }

    /// Returns two surfaces and a coded buffer of an H.264 encoder; the test needs only their identifiers.
    private func objects() throws -> (surfaces: [Surface], output: CodedBuffer) {
        let display = try TestDevice.open()
        let size = VideoSize(width: 64, height: 64)
        let surfaces = try Surface.make(display, count: 2, size: size)
        let config = try Config(display, profile: .h264High, entryPoint: TestDevice.entryPoint(display))
        let context = try Context(config, size: size, targets: surfaces)
        return (surfaces, try CodedBuffer(context, capacity: 65536))
    }

    private func picture(_ surfaces: [Surface], _ output: CodedBuffer) -> HEVCPictureParameters {
        HEVCPictureParameters(
            current: HEVCPicture(surfaces[0], pictureOrderCount: 8, role: .none),
            references: [
                HEVCPicture(surfaces[1], pictureOrderCount: 4, role: .shortTermBefore),
                HEVCPicture(surfaces[1], pictureOrderCount: 12, role: .shortTermAfter),
                HEVCPicture(surfaces[1], pictureOrderCount: -3, role: .longTerm),
                HEVCPicture(surfaces[1], pictureOrderCount: 2, role: .longTermKept),
                HEVCPicture(surfaces[1], pictureOrderCount: 3, role: .none),
            ],
            codedBuffer: output, nalUnitType: 1, isIDR: false, codingType: .b, isReference: true)
    }

    @Test func pictureReferencesFillTheArrays() throws {
        let (surfaces, output) = try objects()
        var picture = picture(surfaces, output)
        let actual = bytes(picture, .picture)
        #expect(actual.count == MemoryLayout<VAEncPictureParameterBufferHEVC>.size)
        // A VAPictureHEVC has seven words: the surface, the order count, the flags, four reserved.
        #expect(word(actual, at: 0) == surfaces[0].identifier && word(actual, at: 4) == 8 && word(actual, at: 8) == 0)
        let references = (0..<15).map { 28 + 28 * $0 }
        #expect(references.prefix(5).map { word(actual, at: $0 + 8) } == [0x10, 0x20, 0x48, 0x8, 0])
        #expect(references.prefix(5).map { Int32(bitPattern: word(actual, at: $0 + 4)) } == [4, 12, -3, 2, 3])
        #expect(references.prefix(5).allSatisfy { word(actual, at: $0) == surfaces[1].identifier })
        #expect(
            references.dropFirst(5).allSatisfy { word(actual, at: $0) == 0xffff_ffff && word(actual, at: $0 + 8) == 1 })
        #expect(word(actual, at: 28 * 16) == output.identifier)
        // There is no collocated picture; init_qp 26 is the third byte.
        #expect(Array(actual[452..<456]) == [0xff, 0, 26, 0])
        let c = picture.lowered
        #expect(unsafe c.pic_fields.value == 3 << 1 | 1 << 4 && c.nal_unit_type == 1)

        picture.collocatedReference = 1
        picture.lastPicture = 1
        picture.picInitQP = 30
        picture.diffCUQPDeltaDepth = 2
        picture.cbQPOffset = -3
        picture.crQPOffset = 4
        picture.log2ParallelMergeLevelMinus2 = 1
        picture.maxCTUBits = 9
        picture.numRefIdxL0DefaultActiveMinus1 = 2
        picture.numRefIdxL1DefaultActiveMinus1 = 1
        picture.slicePicParameterSetID = 5
        picture.hierarchicalLevelPlus1 = 3
        picture.currPicRef = true
        let full = picture.lowered
        #expect(full.collocated_ref_pic_index == 1 && full.last_picture == 1 && full.pic_init_qp == 30)
        #expect(full.diff_cu_qp_delta_depth == 2 && full.pps_cb_qp_offset == -3 && full.pps_cr_qp_offset == 4)
        #expect(full.log2_parallel_merge_level_minus2 == 1 && full.ctu_max_bitsize_allowed == 9)
        #expect(full.num_ref_idx_l0_default_active_minus1 == 2 && full.num_ref_idx_l1_default_active_minus1 == 1)
        #expect(full.slice_pic_parameter_set_id == 5 && full.hierarchical_level_plus1 == 3)
        #expect(unsafe full.scc_fields.value == 1)
    }

    @Test func tilesStayWithinTheArrays() throws {
        let (surfaces, output) = try objects()
        var picture = picture(surfaces, output)
        picture.tiles = .init(columnWidthsMinus1: [9, 9, 8], rowHeightsMinus1: [7, 6])
        var c = picture.lowered
        #expect(c.num_tile_columns_minus1 == 2 && c.num_tile_rows_minus1 == 1)
        #expect(c.column_width_minus1.0 == 9 && c.column_width_minus1.2 == 8 && c.column_width_minus1.3 == 0)
        #expect(c.row_height_minus1.0 == 7 && c.row_height_minus1.1 == 6 && c.row_height_minus1.2 == 0)
        #expect(unsafe c.pic_fields.value == 3 << 1 | 1 << 4 | 1 << 13)
        picture.tiles = .init(
            columnWidthsMinus1: [UInt8](repeating: 1, count: 25), rowHeightsMinus1: [UInt8](repeating: 2, count: 25))
        c = picture.lowered
        #expect(c.column_width_minus1.18 == 1 && c.row_height_minus1.0 == 2 && c.row_height_minus1.20 == 2)
        #expect(c.log2_parallel_merge_level_minus2 == 0)
    }

    @Test func eachPictureFlagSetsOnlyItsBit() throws {
        let flags: [(WritableKeyPath<HEVCPictureParameters, Bool>, Int)] = [
            (\HEVCPictureParameters.isIDR, 0), (\.dependentSliceSegments, 5), (\.signDataHiding, 6),
            (\.constrainedIntraPred, 7), (\.transformSkip, 8), (\.cuQPDelta, 9), (\.weightedPred, 10),
            (\.weightedBipred, 11), (\.transquantBypass, 12), (\.entropyCodingSync, 14), (\.loopFilterAcrossTiles, 15),
            (\.loopFilterAcrossSlices, 16), (\.scalingListDataPresent, 17), (\.screenContent, 18), (\.deviceWeights, 19),
            (\.noOutputOfPriorPics, 20),
        ]
        let (surfaces, output) = try objects()
        for (flag, bit) in flags {
            var picture = self.picture(surfaces, output)
            picture.codingType = .p
            picture.isReference = false
            picture[keyPath: flag] = true
            #expect(unsafe picture.lowered.pic_fields.value == 2 << 1 | 1 << UInt32(bit))
        }
    }

    @Test func sliceReferencesFillTheLists() throws {
        let (surfaces, _) = try objects()
        var slice = HEVCSliceParameters(sliceSegmentAddress: 30, numCTUs: 60, sliceType: .p, isLastOfPicture: true)
        slice.refPicList0 = [HEVCPicture(surfaces[0], pictureOrderCount: 4, role: .shortTermBefore)]
        let actual = bytes(slice, .slice)
        #expect(actual.count == MemoryLayout<VAEncSliceParameterBufferHEVC>.size)
        #expect(word(actual, at: 0) == 30 && word(actual, at: 4) == 60 && Array(actual[8..<12]) == [1, 0, 0, 0])
        #expect(word(actual, at: 12) == surfaces[0].identifier && word(actual, at: 20) == 0x10)
        for entry in 1..<30 {
            #expect(word(actual, at: 12 + 28 * entry) == 0xffff_ffff && word(actual, at: 20 + 28 * entry) == 1)
        }
        var c = slice.lowered
        #expect(unsafe c.max_num_merge_cand == 5 && c.slice_fields.value == 1 | 1 << 13)

        slice.sliceType = .b
        slice.refPicList1 = slice.refPicList0
        slice.picParameterSetID = 3
        slice.numRefIdxL0ActiveMinus1 = 2
        slice.numRefIdxL1ActiveMinus1 = 1
        slice.maxNumMergeCand = 3
        slice.sliceQPDelta = -4
        slice.sliceCbQPOffset = 1
        slice.sliceCrQPOffset = -1
        slice.sliceBetaOffsetDiv2 = 2
        slice.sliceTcOffsetDiv2 = -2
        slice.predWeightTableBitOffset = 77
        slice.predWeightTableBitLength = 12
        c = slice.lowered
        #expect(c.slice_type == 0 && c.slice_pic_parameter_set_id == 3)
        #expect(c.num_ref_idx_l0_active_minus1 == 2 && c.num_ref_idx_l1_active_minus1 == 1)
        #expect(c.ref_pic_list1.0.picture_id == surfaces[0].identifier && c.ref_pic_list1.1.flags == 1)
        #expect(c.max_num_merge_cand == 3 && c.slice_qp_delta == -4)
        #expect(c.slice_cb_qp_offset == 1 && c.slice_cr_qp_offset == -1)
        #expect(c.slice_beta_offset_div2 == 2 && c.slice_tc_offset_div2 == -2)
        #expect(c.pred_weight_table_bit_offset == 77 && c.pred_weight_table_bit_length == 12)
    }

    @Test func eachSliceFlagSetsOnlyItsBit() {
        let flags: [(WritableKeyPath<HEVCSliceParameters, Bool>, Int)] = [
            (\HEVCSliceParameters.isLastOfPicture, 0), (\.isDependent, 1), (\.temporalMVP, 4), (\.saoLuma, 5),
            (\.saoChroma, 6), (\.numRefIdxActiveOverride, 7), (\.mvdL1Zero, 8), (\.cabacInit, 9),
            (\.deblockingFilterDisabled, 10), (\.loopFilterAcrossSlices, 12), (\.collocatedFromL0, 13),
        ]
        for (flag, bit) in flags {
            var slice = HEVCSliceParameters(sliceSegmentAddress: 0, numCTUs: 1, sliceType: .i, isLastOfPicture: false)
            slice.collocatedFromL0 = false
            slice.colourPlaneID = 2
            slice[keyPath: flag] = true
            #expect(unsafe slice.lowered.slice_fields.value == 2 << 2 | 1 << UInt32(bit))
        }
    }

    @Test func predictionWeightsHaveTheirOffsets() {
        var slice = HEVCSliceParameters(sliceSegmentAddress: 0, numCTUs: 1, sliceType: .b, isLastOfPicture: true)
        func entry(_ first: Int8) -> HEVCSliceParameters.Weights.Entry {
            var entry = HEVCSliceParameters.Weights.Entry()
            entry.deltaLumaWeight = first
            entry.lumaOffset = first + 1
            entry.deltaCbWeight = first + 2
            entry.deltaCrWeight = first + 3
            entry.cbOffset = first + 4
            entry.crOffset = first + 5
            return entry
        }
        slice.weights = .init(
            lumaLog2Denom: 6, deltaChromaLog2Denom: -1, list0: [entry(10), entry(20)], list1: [entry(-30)])
        let actual = bytes(slice, .slice)
        // After the lists there are two bytes; then for each list 15 weights, 15 offsets, and 15 pairs of each for
        // chroma.
        let start = 12 + 28 * 30
        func signed(_ offset: Int) -> Int8 { Int8(bitPattern: actual[start + offset]) }
        #expect(signed(0) == 6 && signed(1) == -1)
        #expect([2, 3, 4].map(signed) == [10, 20, 0] && [17, 18, 19].map(signed) == [11, 21, 0])
        #expect((32..<37).map(signed) == [12, 13, 22, 23, 0] && (62..<67).map(signed) == [14, 15, 24, 25, 0])
        #expect(signed(92) == -30 && signed(107) == -29)
        #expect([122, 123].map(signed) == [-28, -27] && [152, 153].map(signed) == [-26, -25])
        #expect(signed(182) == 5)
    }
}
