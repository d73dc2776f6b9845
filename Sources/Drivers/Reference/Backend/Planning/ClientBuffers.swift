internal import CVA

/// The parameter buffers of one picture of a codec.
struct PictureBuffers<Sequence, Parameters, Slice> {
    var sequence: Sequence?
    var parameters: Parameters?
    var slices: [Slice] = []

    fileprivate mutating func take(_ buffer: Buffer, maximumSlices: Int) throws {
        switch buffer.type {
        case VAEncSequenceParameterBufferType: sequence = try buffer.element(Sequence.self)
        case VAEncPictureParameterBufferType: parameters = try buffer.element(Parameters.self)
        default:
            guard slices.count + buffer.elementCount <= maximumSlices else {
                throw Refusal(VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "there are more than \(maximumSlices) slices")
            }
            for index in 0..<buffer.elementCount { slices.append(try buffer.element(Slice.self, at: index)) }
        }
    }
}

typealias H264Buffers = PictureBuffers<
    VAEncSequenceParameterBufferH264, VAEncPictureParameterBufferH264, VAEncSliceParameterBufferH264
>
typealias HEVCBuffers = PictureBuffers<
    VAEncSequenceParameterBufferHEVC, VAEncPictureParameterBufferHEVC, VAEncSliceParameterBufferHEVC
>

/// The sequence, picture and slice parameters that a client rendered, by the codec of its config.
enum ClientBuffers {
    case h264(H264Buffers)
    case hevc(HEVCBuffers)

    init(_ codec: DriverCodec) {
        switch codec {
        case .h264: self = .h264(H264Buffers())
        case .hevc: self = .hevc(HEVCBuffers())
        }
    }

    /// Copies the contents of a sequence, picture or slice parameter buffer.
    mutating func take(_ buffer: Buffer, maximumSlices: Int) throws {
        switch self {
        case .h264(var buffers):
            try buffers.take(buffer, maximumSlices: maximumSlices)
            self = .h264(buffers)
        case .hevc(var buffers):
            try buffers.take(buffer, maximumSlices: maximumSlices)
            self = .hevc(buffers)
        }
    }
}
