import CVA
import Glibc
import ReferenceDriver
import TestOracles

/// A plain HEVC encoder on the driver, which writes all headers. Tests change what it sends through `Buffers`.
final class HEVCClient {
    /// One picture of a stream, in coding order.
    struct Plan {
        var order: Int
        /// The slice_type: 0 is B, 1 is P, 2 is I.
        var type: UInt8
        /// The reference lists, by order.
        var lists: [[Int]] = [[], []]
        /// The pictures that are kept for later pictures only.
        var kept: [Int] = []
        var unitType: UInt8
        var longTerm: Set<Int> = []
    }

    struct Buffers {
        var sequence: VAEncSequenceParameterBufferHEVC?
        var picture: VAEncPictureParameterBufferHEVC?
        var slices: [VAEncSliceParameterBufferHEVC]
        var packed: [(type: UInt32, bits: Int, bytes: [UInt8], isEscaped: Bool)] = []
        var misc: [[UInt8]] = []
    }

    let client: Client
    let config: VAConfigID
    let context: VAContextID
    let source: VASurfaceID
    let reconstructions: [VASurfaceID]
    let coded: VABufferID
    let width: Int
    let height: Int
    let isWide: Bool
    /// The log2 sizes of the coding tree block and of the smallest coding block.
    var log2Tree = 6
    var log2Block = 3
    var tiles = (columns: 1, rows: 1)
    private(set) var painted = 0
    /// The pictures to encode instead of the pattern, in display order, repeated without end.
    var frames: [PlanarFrame] = []
    /// The QP of pictures and slices; slices have no delta.
    var qp = 30

    var alignedWidth: Int { (width + (1 << log2Block) - 1) & ~((1 << log2Block) - 1) }
    var alignedHeight: Int { (height + (1 << log2Block) - 1) & ~((1 << log2Block) - 1) }
    var columns: Int { (alignedWidth + (1 << log2Tree) - 1) >> log2Tree }
    var rows: Int { (alignedHeight + (1 << log2Tree) - 1) >> log2Tree }

    static var null: Environment {
        var environment = Environment(isStrict: true)
        environment.isNull = true
        return environment
    }

    init(
        _ environment: Environment = Environment(isStrict: true), width: Int = 136, height: Int = 72, isWide: Bool = false,
        entrypoint: VAEntrypoint = VAEntrypointEncSlice, packedHeaders: UInt32 = 0, rateControl: Int32 = VA_RC_CQP
    ) {
        client = Client(environment)
        self.width = width
        self.height = height
        self.isWide = isWide
        config =
            client.createConfig(
                isWide ? VAProfileHEVCMain10 : VAProfileHEVCMain, entrypoint,
                [
                    (VAConfigAttribEncPackedHeaders, packedHeaders),
                    (VAConfigAttribRateControl, UInt32(bitPattern: rateControl)),
                ]
            ).1
        let format = isWide ? VA_RT_FORMAT_YUV420_10 : VA_RT_FORMAT_YUV420
        source = client.createSurfaces(width, height, format: format).1[0]
        reconstructions = client.createSurfaces(width, height, 16, format: format).1
        context = client.createContext(config, width, height).1
        coded = client.createBuffer(context, VAEncCodedBufferType, size: 1 << 20).1
    }

    /// Returns a stream whose first picture is IDR. Each other picture refers to the `references` pictures before it,
    /// in both lists if `isGeneralized`.
    static func lowDelay(_ count: Int, references: Int = 1, isGeneralized: Bool = false) -> [Plan] {
        (0..<count).map { order in
            guard order > 0 else { return Plan(order: 0, type: 2, unitType: 19) }
            let before = Array((max(0, order - references)..<order).reversed())
            return Plan(
                order: order, type: isGeneralized ? 0 : 1, lists: [before, isGeneralized ? before : []], unitType: 1)
        }
    }

    /// Returns groups of four: a P picture, then one B picture that is a reference, then two that are not.
    static func pyramid(_ groups: Int) -> [Plan] {
        [Plan(order: 0, type: 2, unitType: 19)]
            + (0..<groups).flatMap { group in
                let (first, last) = (4 * group, 4 * group + 4)
                return [
                    Plan(order: last, type: 1, lists: [[first], []], unitType: 1),
                    Plan(order: first + 2, type: 0, lists: [[first, last], [last, first]], unitType: 1),
                    Plan(order: first + 1, type: 0, lists: [[first], [first + 2]], kept: [last], unitType: 0),
                    Plan(order: first + 3, type: 0, lists: [[first + 2], [last]], unitType: 0),
                ]
            }
    }

    func surface(_ order: Int) -> VASurfaceID { reconstructions[order & 15] }

    private func entry(_ order: Int, flags: Int32) -> VAPictureHEVC {
        var picture = VAPictureHEVC()
        picture.picture_id = surface(order)
        picture.pic_order_cnt = Int32(order)
        picture.flags = UInt32(flags)
        return picture
    }

    private static func fill<Array>(_ array: inout Array, _ pictures: [VAPictureHEVC]) {
        withUnsafeMutableBytes(of: &array) {
            let list = $0.bindMemory(to: VAPictureHEVC.self)
            for index in list.indices {
                list[index].picture_id = VA_INVALID_ID
                list[index].flags = UInt32(VA_PICTURE_HEVC_INVALID)
                if index < pictures.count { list[index] = pictures[index] }
            }
        }
    }

    /// Returns the buffers of a picture.
    func buffers(_ plan: Plan, slices count: Int = 1) -> Buffers {
        var sequence = VAEncSequenceParameterBufferHEVC()
        sequence.general_profile_idc = isWide ? 2 : 1
        sequence.general_level_idc = 120
        sequence.intra_period = 30
        sequence.ip_period = 4
        sequence.pic_width_in_luma_samples = UInt16(alignedWidth)
        sequence.pic_height_in_luma_samples = UInt16(alignedHeight)
        sequence.seq_fields.bits.chroma_format_idc = 1
        sequence.seq_fields.bits.bit_depth_luma_minus8 = isWide ? 2 : 0
        sequence.seq_fields.bits.bit_depth_chroma_minus8 = isWide ? 2 : 0
        sequence.seq_fields.bits.amp_enabled_flag = 1
        sequence.seq_fields.bits.sps_temporal_mvp_enabled_flag = 1
        sequence.seq_fields.bits.strong_intra_smoothing_enabled_flag = 1
        sequence.log2_min_luma_coding_block_size_minus3 = UInt8(log2Block - 3)
        sequence.log2_diff_max_min_luma_coding_block_size = UInt8(log2Tree - log2Block)
        sequence.log2_diff_max_min_transform_block_size = UInt8(min(log2Tree, 5) - 2)
        sequence.max_transform_hierarchy_depth_inter = 1
        sequence.max_transform_hierarchy_depth_intra = 1

        var picture = VAEncPictureParameterBufferHEVC()
        picture.decoded_curr_pic = entry(plan.order, flags: 0)
        let used = Array(Set(plan.lists.joined())).sorted { first, second in
            let order = plan.lists[0] + plan.lists[1]
            return order.firstIndex(of: first)! < order.firstIndex(of: second)!
        }
        func flag(_ order: Int) -> Int32 {
            if plan.longTerm.contains(order) {
                return VA_PICTURE_HEVC_RPS_LT_CURR | VA_PICTURE_HEVC_LONG_TERM_REFERENCE
            }
            return order < plan.order ? VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE : VA_PICTURE_HEVC_RPS_ST_CURR_AFTER
        }
        Self.fill(
            &picture.reference_frames,
            used.map { entry($0, flags: flag($0)) } + plan.kept.map { entry($0, flags: 0) })
        picture.coded_buf = coded
        picture.collocated_ref_pic_index = plan.type == 2 ? 0xff : 0
        picture.pic_init_qp = UInt8(qp)
        picture.nal_unit_type = plan.unitType
        picture.pic_fields.bits.idr_pic_flag = plan.unitType == 19 || plan.unitType == 20 ? 1 : 0
        picture.pic_fields.bits.coding_type = plan.type == 2 ? 1 : plan.type == 1 ? 2 : 3
        picture.pic_fields.bits.reference_pic_flag = plan.unitType == 0 ? 0 : 1
        picture.pic_fields.bits.cu_qp_delta_enabled_flag = 1
        picture.pic_fields.bits.pps_loop_filter_across_slices_enabled_flag = 1
        picture.num_tile_columns_minus1 = UInt8(tiles.columns - 1)
        picture.num_tile_rows_minus1 = UInt8(tiles.rows - 1)
        picture.pic_fields.bits.tiles_enabled_flag = tiles.columns * tiles.rows > 1 ? 1 : 0
        picture.pic_fields.bits.loop_filter_across_tiles_enabled_flag = 1
        withUnsafeMutableBytes(of: &picture.column_width_minus1) { bytes in
            for index in 0..<min(tiles.columns, bytes.count) {
                bytes[index] = UInt8(columns * (index + 1) / tiles.columns - columns * index / tiles.columns - 1)
            }
        }
        withUnsafeMutableBytes(of: &picture.row_height_minus1) { bytes in
            for index in 0..<min(tiles.rows, bytes.count) {
                bytes[index] = UInt8(rows * (index + 1) / tiles.rows - rows * index / tiles.rows - 1)
            }
        }
        let slices = (0..<count).map { number in
            var slice = VAEncSliceParameterBufferHEVC()
            let first = rows * number / count * columns
            slice.slice_segment_address = UInt32(first)
            slice.num_ctu_in_slice = UInt32(rows * (number + 1) / count * columns - first)
            slice.slice_type = plan.type
            slice.max_num_merge_cand = 5
            slice.num_ref_idx_l0_active_minus1 = UInt8(max(plan.lists[0].count, 1) - 1)
            slice.num_ref_idx_l1_active_minus1 = UInt8(max(plan.lists[1].count, 1) - 1)
            slice.slice_fields.bits.slice_temporal_mvp_enabled_flag = 1
            slice.slice_fields.bits.collocated_from_l0_flag = 1
            slice.slice_fields.bits.slice_loop_filter_across_slices_enabled_flag = 1
            slice.slice_fields.bits.last_slice_of_pic_flag = number == count - 1 ? 1 : 0
            Self.fill(&slice.ref_pic_list0, plan.lists[0].map { entry($0, flags: flag($0)) })
            Self.fill(&slice.ref_pic_list1, plan.lists[1].map { entry($0, flags: flag($0)) })
            return slice
        }
        return Buffers(sequence: plan.unitType == 19 ? sequence : nil, picture: picture, slices: slices)
    }

    /// Begins, renders and ends a picture; returns the first status that is no success. The picture is always ended.
    func send(_ buffers: Buffers) -> VAStatus {
        let table = client.table
        var status = table.vaBeginPicture(client.context, context, source)
        guard status == VA_STATUS_SUCCESS else { return status }
        var ids: [VABufferID] = []
        if let sequence = buffers.sequence {
            ids.append(client.createBuffer(context, VAEncSequenceParameterBufferType, sequence))
        }
        if let picture = buffers.picture {
            ids.append(client.createBuffer(context, VAEncPictureParameterBufferType, picture))
        }
        ids += buffers.misc.map { client.createBuffer(context, VAEncMiscParameterBufferType, bytes: $0) }
        for header in buffers.packed {
            var parameters = VAEncPackedHeaderParameterBuffer()
            parameters.type = header.type
            parameters.bit_length = UInt32(header.bits)
            parameters.has_emulation_bytes = header.isEscaped ? 1 : 0
            ids.append(client.createBuffer(context, VAEncPackedHeaderParameterBufferType, parameters))
            ids.append(client.createBuffer(context, VAEncPackedHeaderDataBufferType, bytes: header.bytes))
        }
        ids += buffers.slices.map { client.createBuffer(context, VAEncSliceParameterBufferType, $0) }
        status = client.render(context, ids)
        for id in ids { _ = client.destroy(id) }
        let end = table.vaEndPicture(client.context, context)
        return status == VA_STATUS_SUCCESS ? end : status
    }

    /// Paints and encodes a picture; returns nil if a call fails.
    func encode(_ buffers: Buffers) -> [UInt8]? {
        paint(Int(buffers.picture?.decoded_curr_pic.pic_order_cnt ?? 0))
        painted += 1
        guard send(buffers) == VA_STATUS_SUCCESS, let result = client.coded(coded) else { return nil }
        return result.bytes
    }

    /// Returns the nal_unit_type of each NAL unit.
    static func types(_ bytes: [UInt8]) -> [UInt8] {
        (3..<bytes.count).filter { bytes[$0 - 3..<$0].elementsEqual([0, 0, 1]) }.map { bytes[$0] >> 1 }
    }
}
