internal import CVA

/// A packed header from the client: its parameters and its bytes.
struct RenderedHeader {
    /// The type, `VAEncPackedHeader…`.
    var type: UInt32
    var bitCount: Int
    var hasEmulationBytes: Bool
    var bytes: [UInt8]

    /// Returns the nal_unit_type of the first slice NAL unit, which an access unit delimiter may precede; nil if there
    /// is no slice.
    func sliceType(_ codec: DriverCodec) -> UInt8? {
        bytes.indices.dropLast(3).lazy.filter { bytes[$0...].starts(with: [0, 0, 1]) }
            .map { codec.unitType(bytes[$0 + 3]) }.first { codec.isSlice($0) }
    }
}

/// The buffers that a client has rendered since vaBeginPicture for a picture to encode. vaRenderPicture copies their
/// values, so that clients may destroy or refill the buffers at once.
struct EncodePicture {
    let target: Surface
    let codec: DriverCodec
    var buffers: ClientBuffers
    var packed: [RenderedHeader] = []
    /// The parameters of a packed header whose data buffer is not rendered yet.
    var pendingHeader: VAEncPackedHeaderParameterBuffer?
    var regions: QPRegions?
    var intraRefresh: VAEncMiscParameterRIR?
    var skip: VAEncMiscParameterSkipFrame?

    init(target: Surface, codec: DriverCodec) {
        self.target = target
        self.codec = codec
        buffers = ClientBuffers(codec)
    }
}

/// The parameters of a stream that apply from one picture to the next.
struct StreamState {
    var h264 = H264Stream()
    var hevc = HEVCStream()
    /// The quality level: 1 (best) to 7 (fastest).
    var quality = StreamState.defaultQuality
    /// The maximum size of a coded picture in bits; 0: no limit.
    var maximumFrameBits = 0
    /// The maximum size of a slice in bytes; 0: no limit.
    var maximumSliceBytes = 0
    var rate = RateParameters()
    var trellis = Trellis()
    /// mb_rate_control: 0 is the driver's default, 1 on, 2 off.
    var macroblockRateControl: UInt32 = 0
    /// The number of pictures since the last IDR picture; 0 for the IDR picture itself.
    var pictureNumber = 0
    /// The width and height, in luma samples, of the blocks in which intra refresh is specified.
    var refreshBlock = 16
    /// The picture size in areas of 16×16 luma samples (H.264 macroblocks). It is the context's size, or the sequence's
    /// if that is smaller.
    var columns: Int
    var rows: Int
    /// Whether the stream has a picture.
    var hasBegun = false
    /// Whether the current picture is the stream's first.
    var isFirst = false

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Sets the picture size to that of a sequence, in luma samples. Throws if it exceeds the context's size, and with
    /// VAENC_REFERENCE_STRICT=1 also if it is smaller.
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

    /// Begins a picture. The first picture of the stream should be a random access picture.
    mutating func begin(isRandomAccess: Bool, _ environment: Environment) throws {
        try environment.prefer(
            hasBegun || isRandomAccess, .firstPicture, "the first picture of the stream is not a random access picture")
        isFirst = !hasBegun
        hasBegun = true
    }

    static let defaultQuality = 4
    static let worstQuality = 7
}

/// The sequence parameters and parameter sets of an H.264 stream so far.
struct H264Stream {
    var sequence: VAEncSequenceParameterBufferH264?
    /// The parameter sets in the stream.
    var parameterSets = H264ParameterSets()
}
