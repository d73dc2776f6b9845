internal import CVA

/// A packed header as the client gave it: parameters, then bytes.
struct RenderedHeader {
    /// `VAEncPackedHeader…`.
    var type: UInt32
    var bitCount: Int
    var hasEmulationBytes: Bool
    var bytes: [UInt8]

    /// nal_unit_type of the slice, which a delimiter may precede; nil without one.
    func sliceType(_ codec: DriverCodec) -> UInt8? {
        bytes.indices.dropLast(3).lazy.filter { bytes[$0...].starts(with: [0, 0, 1]) }
            .map { codec.unitType(bytes[$0 + 3]) }.first { codec.isSlice($0) }
    }
}

/// What a client has rendered of a picture to encode, since vaBeginPicture. Values are copied out of the buffers at vaRenderPicture, so that
/// clients may destroy or refill them at once.
struct EncodePicture {
    let target: Surface
    var buffers: ClientBuffers
    var packed: [RenderedHeader] = []
    /// A packed header's parameters whose bytes have not come yet.
    var announced: VAEncPackedHeaderParameterBuffer?
    var regions: QPRegions?
    var intraRefresh: VAEncMiscParameterRIR?
    var skip: VAEncMiscParameterSkipFrame?

    init(target: Surface, codec: DriverCodec) {
        self.target = target
        buffers = ClientBuffers(codec)
    }
}

/// What holds from picture to picture of a stream.
struct StreamState {
    var h264 = H264Stream()
    var hevc = HEVCStream()
    /// 1 best … 7 fastest.
    var quality = StreamState.defaultQuality
    /// Bits; 0: none.
    var maximumFrameBits = 0
    /// 0: no limit.
    var maximumSliceBytes = 0
    var rate = RateParameters()
    var trellis = Trellis()
    /// mb_rate_control: 0 the driver's default, 1 on, 2 off.
    var macroblockRateControl: UInt32 = 0
    /// Pictures since the last IDR picture, which is 0.
    var pictureNumber = 0
    /// Luma samples of a side of the blocks that intra refresh counts.
    var refreshBlock = 16
    /// The picture in areas of 16×16 samples, H.264's macroblocks: the context's, or fewer where the sequence is smaller.
    var columns: Int
    var rows: Int
    /// A picture has been encoded.
    var hasBegun = false

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Takes over the size of a sequence, which is `width` × `height` luma samples.
    mutating func setSize(width: Int, height: Int, _ context: Context) throws {
        let (columns, rows) = ((width + 15) / 16, (height + 15) / 16)
        let refusal = Refusal.invalidParameter(
            "a sequence of \(width)x\(height) in a context of \(16 * context.widthInMacroblocks)x"
                + "\(16 * context.heightInMacroblocks)")
        guard columns > 0, rows > 0, columns <= context.widthInMacroblocks, rows <= context.heightInMacroblocks else {
            throw refusal
        }
        if (columns, rows) != (context.widthInMacroblocks, context.heightInMacroblocks) {
            try context.environment.tolerate(.contextSize, refusal)
        }
        (self.columns, self.rows) = (columns, rows)
    }

    /// Notes that a picture begins, and whether a decoder can begin with it.
    mutating func begin(isRandomAccess: Bool, _ environment: Environment) throws {
        try environment.prefer(
            hasBegun || isRandomAccess, .firstPicture, "the first picture of the stream is not a random access picture")
        hasBegun = true
    }

    static let defaultQuality = 4
    static let worstQuality = 7
}

/// What an H.264 stream said so far.
struct H264Stream {
    var sequence: VAEncSequenceParameterBufferH264?
    /// The client's own parameter sets, by id.
    var parameterSets = ParameterSets()
}
