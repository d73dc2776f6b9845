internal import CVA

/// Converts a picture's HEVC buffers into a packet for the decoder. Use it with the display's monitor held.
struct HEVCDecodePlan {
    private let picture: VAPictureParameterBufferHEVC
    private let units: [(slice: VASliceParameterBufferHEVC, unit: [UInt8])]
    private let matrix: VAIQMatrixBufferHEVC?

    /// Validates the buffers. Throws if they contradict each other, or if the driver cannot decode the picture.
    ///
    /// - Parameter maximumDepth: The maximum number of bits per sample.
    init(_ buffers: HEVCDecodeBuffers, maximumDepth: Int) throws {
        guard let picture = buffers.parameters else {
            throw Refusal.invalidParameter("the picture has no picture parameter buffer")
        }
        self.picture = picture
        matrix = buffers.matrix
        units = try buffers.units()
        for (_, unit) in units {
            let type = HEVCDecodeSlice.type(unit)
            try require(
                unit.count > 3 && (type <= 9 || (16...21).contains(type)),
                "the slice data is not an HEVC "
                    + "slice")
        }
        let fields = unsafe picture.pic_fields.bits
        try require(fields.chroma_format_idc == 1, "chroma_format_idc \(fields.chroma_format_idc) is not supported")
        try require(
            picture.bit_depth_luma_minus8 == picture.bit_depth_chroma_minus8 && [8, 10].contains(bitDepth)
                && bitDepth <= maximumDepth, "HEVC with \(bitDepth) bits is not supported")
        let minimum = 8 << min(Int(picture.log2_min_luma_coding_block_size_minus3), 3)
        try require(
            size.width > 0 && size.height > 0 && size.width % minimum == 0 && size.height % minimum == 0,
            "\(size.width)x\(size.height) is not a multiple of the coding block size \(minimum)")
        try require(
            picture.log2_min_luma_coding_block_size_minus3 <= 3 && picture.log2_diff_max_min_luma_coding_block_size <= 3,
            "the sizes of coding blocks are invalid in HEVC")
        try require(
            picture.num_tile_columns_minus1 < 20 && picture.num_tile_rows_minus1 < 22,
            "there are more tiles than HEVC "
                + "allows")
    }

    /// The number of bits per sample.
    var bitDepth: Int { Int(picture.bit_depth_luma_minus8) + 8 }

    /// The coded size in luma samples.
    var size: (width: Int, height: Int) {
        (Int(picture.pic_width_in_luma_samples), Int(picture.pic_height_in_luma_samples))
    }

    /// Returns the packet of the picture and the mark for `target`, and records the picture in `pictures`.
    ///
    /// - Parameter mark: Returns the current mark of a surface.
    /// - Throws: INVALID_PARAMETER if the surfaces of the references do not contain them.
    func packet(
        target: Surface, of context: VAContextID, _ pictures: inout DecodedPictures, mark: (VASurfaceID) -> DecodeMark?
    ) throws -> (packet: DecodePacket, mark: DecodeMark) {
        let referenceSet = HEVCDecodeReferences(picture)
        var slices: [UInt8] = []
        for (slice, unit) in units {
            slices += try HEVCDecodeSlice(picture: picture, references: referenceSet, slice: slice, unit: unit).bytes()
        }
        var packet = DecodePacket(parameterSets: HEVCDecodeSets(picture: picture, matrix: matrix).bytes, slices: slices)
        if (19...20).contains(HEVCDecodeSlice.type(units[0].unit)) {
            pictures.forget()
        } else if try !pictures.check(references, mark: mark) {
            packet.resetsDecoder = pictures.last != nil
            pictures.forget()
        }
        let name = DecodedPictures.Name(top: Int(picture.CurrPic.pic_order_cnt))
        return (packet, pictures.note(name, in: target.id, of: context))
    }

    private var references: [(name: DecodedPictures.Name, surface: VASurfaceID)] {
        FixedArray.values(picture.ReferenceFrames, as: VAPictureHEVC.self, count: 15).filter(\.isValid)
            .map { (DecodedPictures.Name(top: Int($0.pic_order_cnt)), $0.picture_id) }
    }
}
