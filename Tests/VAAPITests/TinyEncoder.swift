import VideoBase

@testable import VAAPI

/// The minimum that makes a driver encode one IDR picture: no packed headers, one slice, CQP.
struct TinyEncoder {
    let display: Display
    let config: Config
    let context: Context
    let input: Surface
    let reconstruction: Surface
    let output: CodedBuffer

    init(_ display: Display, size: VideoSize = VideoSize(width: 128, height: 128)) throws {
        self.display = display
        config = try Config(
            display, profile: .h264High, entryPoint: TestDevice.entryPoint(display),
            attributes: [.rtFormat: RTFormat.yuv420.rawValue, .rateControl: RateControlModes.cqp.rawValue])
        let surfaces = try Surface.make(display, count: 2, size: size)
        input = surfaces[0]
        reconstruction = surfaces[1]
        context = try Context(config, size: size, targets: surfaces)
        output = try CodedBuffer(context, capacity: size.width * size.height * 2 + 65536)
    }

    func sequence() -> H264SequenceParameters {
        H264SequenceParameters(
            level_idc: 31, intra_period: 1, intra_idr_period: 1, ip_period: 1, max_num_ref_frames: 1,
            picture_width_in_mbs: UInt16(context.size.width / 16),
            picture_height_in_mbs: UInt16(context.size.height / 16),
            log2_max_frame_num_minus4: 4, pic_order_cnt_type: 0, log2_max_pic_order_cnt_lsb_minus4: 4)
    }

    func picture() -> H264PictureParameters {
        let current = H264Picture(
            reconstruction, frame_idx: 0, reference: .none, TopFieldOrderCnt: 0, BottomFieldOrderCnt: 0)
        return H264PictureParameters(
            CurrPic: current, ReferenceFrames: [], coded_buf: output, frame_num: 0, idr_pic_flag: true,
            reference_pic_flag: 1,
            entropy_coding_mode_flag: true)
    }

    func slice() -> H264SliceParameters {
        H264SliceParameters(
            macroblock_address: 0, num_macroblocks: UInt32(context.size.width / 16 * (context.size.height / 16)),
            slice_type: .i)
    }

    func submit(frame: Int? = nil) throws -> SubmittedPicture {
        var picture = Picture(begin: context, on: input, frame: frame)
        try picture.render(sequence())
        try picture.render(self.picture())
        try picture.render(slice())
        return try picture.end(into: output)
    }

    /// Writes a pattern that a wrong pitch or plane order would damage.
    func fill() throws {
        try unsafe input.withUnsafePlanes { planes in
            for plane in 0..<2 {
                for row in 0..<input.format.rows(plane: plane, height: input.size.height) {
                    for column in 0..<input.format.rowBytes(plane: plane, width: input.size.width) {
                        unsafe planes.base(plane).storeBytes(
                            of: Self.sample(plane, row, column), toByteOffset: row * planes.pitch(plane) + column,
                            as: UInt8.self)
                    }
                }
            }
        }
    }

    static func sample(_ plane: Int, _ row: Int, _ column: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: plane * 101 + row * 7 + column * 3)
    }
}
