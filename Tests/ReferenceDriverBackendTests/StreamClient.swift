import CVA
import Glibc
import TestOracles
import Testing

/// A plain encoder on the driver: I and P pictures with one reference; the driver writes all headers. Tests change what
/// it sends through `Buffers`.
final class StreamClient {
    let client: Client
    let config: VAConfigID
    let context: VAContextID
    let sources: [VASurfaceID]
    let reconstructions: [VASurfaceID]
    let coded: VABufferID
    let width: Int
    let height: Int
    private(set) var index = 0
    /// The pictures to encode instead of the pattern, repeated without end.
    var frames: [PlanarFrame] = []

    var columns: Int { (width + 15) / 16 }
    var rows: Int { (height + 15) / 16 }

    /// The buffers of a picture; slices are in order.
    struct Buffers {
        var sequence: VAEncSequenceParameterBufferH264?
        var picture: VAEncPictureParameterBufferH264?
        var slices: [VAEncSliceParameterBufferH264]
        /// The type and bytes of packed headers, and whether they have emulation prevention bytes; they precede or
        /// follow the slices.
        var packed: [(type: UInt32, bits: Int, bytes: [UInt8], isEscaped: Bool)] = []
        var slicesFirst = false
        var misc: [[UInt8]] = []
    }

    static let allHeaders: UInt32 = 0x1f

    init(
        _ client: Client = Client(), width: Int = 64, height: Int = 48, profile: VAProfile = VAProfileH264High,
        entrypoint: VAEntrypoint = VAEntrypointEncSlice, packedHeaders: UInt32 = 0, rateControl: Int32 = VA_RC_CQP,
        codedBytes: Int = 1 << 16, kept: Int = 2
    ) {
        self.client = client
        self.width = width
        self.height = height
        config =
            client.createConfig(
                profile, entrypoint,
                [
                    (VAConfigAttribEncPackedHeaders, packedHeaders),
                    (VAConfigAttribRateControl, UInt32(bitPattern: rateControl)),
                ]
            ).1
        sources = client.createSurfaces(width, height, 2).1
        reconstructions = client.createSurfaces(width, height, kept).1
        context = client.createContext(config, width, height, targets: sources).1
        coded = client.createBuffer(context, VAEncCodedBufferType, size: codedBytes).1
    }

    /// Fills the next source surface with a moving pattern.
    func paint() {
        let (_, image) = client.derive(sources[index % 2])
        guard let base = client.map(image.buf).1?.assumingMemoryBound(to: UInt8.self) else { return }
        defer {
            _ = client.unmap(image.buf)
            _ = client.table.vaDestroyImage(client.context, image.image_id)
        }
        if !frames.isEmpty {
            let frame = frames[index % frames.count]
            let (columns, area) = (width / 2, width * height)
            for y in 0..<height {
                for x in 0..<width {
                    base[Int(image.offsets.0) + y * Int(image.pitches.0) + x] = frame.bytes[y * width + x]
                }
            }
            for y in 0..<height / 2 {
                for x in 0..<width {
                    let plane = area + x % 2 * (area / 4)
                    base[Int(image.offsets.1) + y * Int(image.pitches.1) + x] = frame.bytes[plane + y * columns + x / 2]
                }
            }
            return
        }
        for y in 0..<height {
            for x in 0..<width {
                let value = (x * 7 + y * 5 + index * 9) ^ (x * y / 16)
                base[Int(image.offsets.0) + y * Int(image.pitches.0) + x] = UInt8(truncatingIfNeeded: value)
            }
        }
        for y in 0..<(height + 1) / 2 {
            for x in 0..<(width + 1) / 2 * 2 {
                base[Int(image.offsets.1) + y * Int(image.pitches.1) + x] = UInt8(truncatingIfNeeded: 90 + x + 2 * y)
            }
        }
    }

    /// Returns the buffers of picture `index`.
    func buffers(slices count: Int = 1, cabac: Bool = false) -> Buffers {
        var sequence = VAEncSequenceParameterBufferH264()
        sequence.level_idc = 40
        sequence.max_num_ref_frames = 1
        sequence.picture_width_in_mbs = UInt16(columns)
        sequence.picture_height_in_mbs = UInt16(rows)
        sequence.seq_fields.bits.chroma_format_idc = 1
        sequence.seq_fields.bits.frame_mbs_only_flag = 1
        sequence.seq_fields.bits.direct_8x8_inference_flag = 1
        sequence.seq_fields.bits.log2_max_frame_num_minus4 = 4
        sequence.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = 4
        if width % 16 != 0 || height % 16 != 0 {
            sequence.frame_cropping_flag = 1
            sequence.frame_crop_right_offset = UInt32((16 * columns - width) / 2)
            sequence.frame_crop_bottom_offset = UInt32((16 * rows - height) / 2)
        }
        var picture = VAEncPictureParameterBufferH264()
        withUnsafeMutableBytes(of: &picture.ReferenceFrames) { $0.bindMemory(to: VAPictureH264.self).invalidate() }
        picture.CurrPic = frame(index)
        if index > 0 { picture.ReferenceFrames.0 = frame(index - 1) }
        picture.coded_buf = coded
        picture.pic_init_qp = 26
        picture.frame_num = UInt16(index & 0xff)
        picture.pic_fields.bits.idr_pic_flag = index == 0 ? 1 : 0
        picture.pic_fields.bits.reference_pic_flag = 1
        picture.pic_fields.bits.entropy_coding_mode_flag = cabac ? 1 : 0
        picture.pic_fields.bits.deblocking_filter_control_present_flag = 1
        let slices = (0..<count).map { number in
            var slice = VAEncSliceParameterBufferH264()
            let first = rows * number / count * columns
            slice.macroblock_address = UInt32(first)
            slice.num_macroblocks = UInt32(rows * (number + 1) / count * columns - first)
            slice.macroblock_info = VA_INVALID_ID
            slice.slice_type = index == 0 ? 2 : 0
            slice.pic_order_cnt_lsb = UInt16(2 * index & 0xff)
            withUnsafeMutableBytes(of: &slice.RefPicList0) { $0.bindMemory(to: VAPictureH264.self).invalidate() }
            if index > 0 { slice.RefPicList0.0 = frame(index - 1) }
            return slice
        }
        return Buffers(sequence: index == 0 ? sequence : nil, picture: picture, slices: slices)
    }

    /// Returns picture `index` as buffers name it.
    func frame(_ index: Int) -> VAPictureH264 {
        var picture = VAPictureH264()
        picture.picture_id = reconstructions[index % reconstructions.count]
        picture.frame_idx = UInt32(index)
        picture.flags = UInt32(VA_PICTURE_H264_SHORT_TERM_REFERENCE)
        picture.TopFieldOrderCnt = Int32(2 * index)
        picture.BottomFieldOrderCnt = Int32(2 * index)
        return picture
    }

    /// Begins, renders and ends a picture; returns the first status that is no success. The picture is always ended.
    func send(_ buffers: Buffers) -> VAStatus {
        let table = client.table
        var status = table.vaBeginPicture(client.context, context, sources[index % 2])
        guard status == VA_STATUS_SUCCESS else { return status }
        var ids: [VABufferID] = []
        if let sequence = buffers.sequence {
            ids.append(client.createBuffer(context, VAEncSequenceParameterBufferType, sequence))
        }
        if let picture = buffers.picture {
            ids.append(client.createBuffer(context, VAEncPictureParameterBufferType, picture))
        }
        ids += buffers.misc.map { client.createBuffer(context, VAEncMiscParameterBufferType, bytes: $0) }
        let slices = buffers.slices.map { client.createBuffer(context, VAEncSliceParameterBufferType, $0) }
        let packed = buffers.packed.flatMap { header in
            var parameters = VAEncPackedHeaderParameterBuffer()
            parameters.type = header.type
            parameters.bit_length = UInt32(header.bits)
            parameters.has_emulation_bytes = header.isEscaped ? 1 : 0
            return [
                client.createBuffer(context, VAEncPackedHeaderParameterBufferType, parameters),
                client.createBuffer(context, VAEncPackedHeaderDataBufferType, bytes: header.bytes),
            ]
        }
        ids += buffers.slicesFirst ? slices + packed : packed + slices
        status = client.render(context, ids)
        for id in ids { _ = client.destroy(id) }
        let end = table.vaEndPicture(client.context, context)
        return status == VA_STATUS_SUCCESS ? end : status
    }

    /// Advances to the next picture.
    func advance() { index += 1 }

    /// Paints and encodes the next picture; returns nil if a call fails.
    func encode(_ buffers: Buffers? = nil) -> [UInt8]? {
        paint()
        guard send(buffers ?? self.buffers()) == VA_STATUS_SUCCESS, let result = client.coded(coded) else { return nil }
        index += 1
        return result.bytes
    }
}

extension UnsafeMutableBufferPointer<VAPictureH264> {
    func invalidate() {
        for index in indices {
            self[index].picture_id = VA_INVALID_ID
            self[index].flags = UInt32(VA_PICTURE_H264_INVALID)
        }
    }
}

extension StreamClient {
    /// Returns a client that has already sent a first picture, which occupies the encoder for a while.
    static func busy(_ client: Client = Client(), width: Int, height: Int) -> StreamClient {
        let stream = StreamClient(client, width: width, height: height, codedBytes: 16 << 20)
        var buffers = stream.buffers(cabac: true)
        var misc: [UInt8] = []
        for word in [VAEncMiscParameterTypeQualityLevel.rawValue, 1, 0, 0, 0, 0] {
            withUnsafeBytes(of: word) { misc += $0 }
        }
        buffers.misc = [misc]
        stream.paint()
        #expect(stream.send(buffers) == VA_STATUS_SUCCESS)
        return stream
    }
}
