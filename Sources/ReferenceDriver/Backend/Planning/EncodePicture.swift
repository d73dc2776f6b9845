internal import CVA

/// A packed header as the client gave it: parameters, then bytes.
struct RenderedHeader {
    /// `VAEncPackedHeader…`.
    var type: UInt32
    var bitCount: Int
    var hasEmulationBytes: Bool
    var bytes: [UInt8]
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

    static let defaultQuality = 4
    static let worstQuality = 7
}

/// What an H.264 stream said so far.
struct H264Stream {
    var sequence: VAEncSequenceParameterBufferH264?
    /// The client's own parameter sets, by id.
    var parameterSets = ParameterSets()
}
