import CVA

/// A client with a context for decoding.
struct DecodeClient {
    let client: Client
    let context: VAContextID
    let surfaces: [VASurfaceID]

    init(_ profile: VAProfile, on client: Client = Client(), width: Int = 64, height: Int = 64, format: Int32 = VA_RT_FORMAT_YUV420) {
        self.client = client
        let config = client.createConfig(profile, VAEntrypointVLD).1
        surfaces = client.createSurfaces(width, height, 3, format: format).1
        context = client.createContext(config, width, height, targets: surfaces).1
    }

    func begin(_ surface: VASurfaceID) -> VAStatus { client.table.vaBeginPicture(client.context, context, surface) }
    func end() -> VAStatus { client.table.vaEndPicture(client.context, context) }
    func sync(_ surface: VASurfaceID) -> VAStatus { client.table.vaSyncSurface(client.context, surface) }

    /// Sends an H.264 picture with one slice.
    func send(
        _ surface: VASurfaceID, _ parameters: VAPictureParameterBufferH264, data: [UInt8],
        change: (inout VASliceParameterBufferH264) -> Void = { _ in }
    ) -> VAStatus {
        guard begin(surface) == VA_STATUS_SUCCESS else { return .max }
        var slice = VASliceParameterBufferH264()
        slice.slice_data_size = UInt32(data.count)
        slice.slice_type = 2
        change(&slice)
        let buffers = [
            client.createBuffer(context, VAPictureParameterBufferType, parameters),
            client.createBuffer(context, VASliceParameterBufferType, slice),
            client.createBuffer(context, VASliceDataBufferType, bytes: data),
        ]
        guard client.render(context, buffers) == VA_STATUS_SUCCESS else { return .max }
        return end()
    }

    /// Returns the parameters of a picture without references.
    /// - Parameter size: the number of macroblocks per side.
    static func parameters(_ surface: VASurfaceID, size: Int = 4) -> VAPictureParameterBufferH264 {
        var picture = VAPictureParameterBufferH264()
        picture.CurrPic.picture_id = surface
        withUnsafeMutableBytes(of: &picture.ReferenceFrames) { bytes in
            for frame in bytes.bindMemory(to: VAPictureH264.self).indices {
                bytes.bindMemory(to: VAPictureH264.self)[frame].picture_id = VA_INVALID_ID
                bytes.bindMemory(to: VAPictureH264.self)[frame].flags = UInt32(VA_PICTURE_H264_INVALID)
            }
        }
        picture.picture_width_in_mbs_minus1 = UInt16(size - 1)
        picture.picture_height_in_mbs_minus1 = UInt16(size - 1)
        picture.num_ref_frames = 1
        picture.seq_fields.bits.chroma_format_idc = 1
        picture.seq_fields.bits.frame_mbs_only_flag = 1
        picture.seq_fields.bits.direct_8x8_inference_flag = 1
        picture.seq_fields.bits.pic_order_cnt_type = 2
        return picture
    }

    /// A hand-written IDR slice header: first_mb 0, type 7, set 0, frame_num 0 of 4 bits, idr_pic_id 0, marking 00,
    /// slice_qp_delta 0; then 16 macroblocks that are cut off.
    static let cutOff: [UInt8] = [0x65, 0x88, 0x84, 0x00, 0x10, 0xff, 0xfe, 0xf6]
}
