internal import CVA

/// A packed header as the client gave it: parameters, then bytes.
struct RenderedHeader {
    /// `VAEncPackedHeader…`.
    var type: UInt32
    var bitCount: Int
    var hasEmulationBytes: Bool
    var bytes: [UInt8]
}

/// What a client has rendered since vaBeginPicture. Values are copied out of the buffers at vaRenderPicture, so that
/// clients may destroy or refill them at once.
struct OpenPicture {
    let target: Surface
    var sequence: VAEncSequenceParameterBufferH264?
    var parameters: VAEncPictureParameterBufferH264?
    var slices: [VAEncSliceParameterBufferH264] = []
    var packed: [RenderedHeader] = []
    /// A packed header's parameters whose bytes have not come yet.
    var announced: VAEncPackedHeaderParameterBuffer?
    var regions: QPRegions?
    var intraRefresh: VAEncMiscParameterRIR?
    var skip: VAEncMiscParameterSkipFrame?

    init(target: Surface) { self.target = target }
}

/// What holds from picture to picture of a stream.
struct StreamState {
    var sequence: VAEncSequenceParameterBufferH264?
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
    /// The client's own parameter sets, by id.
    var parameterSets = ParameterSets()

    static let defaultQuality = 4
    static let worstQuality = 7
}
