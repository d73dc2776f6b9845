internal import CVA

/// The fields of slice parameters that all codecs share. They locate the slice in the slice data buffer.
protocol DecodeSlice {
    var slice_data_size: UInt32 { get }
    var slice_data_offset: UInt32 { get }
    var slice_data_flag: UInt32 { get }
}

extension VASliceParameterBufferH264: DecodeSlice {}
extension VASliceParameterBufferHEVC: DecodeSlice {}

/// The buffers of a picture to decode, in the types of one codec.
struct DecodeBuffers<Parameters, Matrix, Slice: DecodeSlice> {
    var parameters: Parameters?
    var matrix: Matrix?
    /// The elements of each slice parameter buffer.
    private var slices: [[Slice]] = []
    /// The bytes of each slice data buffer.
    private var data: [[UInt8]] = []

    /// Copies the values of a rendered buffer. Throws if its type is not supported or if it is too small.
    mutating func take(_ buffer: Buffer) throws {
        switch buffer.type {
        case VAPictureParameterBufferType: parameters = try buffer.element(Parameters.self)
        case VAIQMatrixBufferType: matrix = try buffer.element(Matrix.self)
        case VASliceParameterBufferType:
            slices.append(try (0..<buffer.elementCount).map { try buffer.element(Slice.self, at: $0) })
        case VASliceDataBufferType:
            data.append(try buffer.data().bytes(count: buffer.elementSize * buffer.elementCount))
        default:
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type \(buffer.type.rawValue) is not rendered")
        }
    }

    /// Returns the slices in the order of their buffers, each with its NAL unit.
    ///
    /// The n-th data buffer belongs to the n-th parameter buffer. A single data buffer belongs to all of them. A slice
    /// may consist of several parts, which are joined. Throws INVALID_PARAMETER if the buffers contradict each other.
    func units() throws -> [(slice: Slice, unit: [UInt8])] {
        guard !slices.isEmpty else { throw Refusal.invalidParameter("the picture has no slices") }
        guard data.count == slices.count || data.count == 1 else {
            throw Refusal.invalidParameter(
                "there are \(slices.count) slice parameter buffers, but \(data.count) slice "
                    + "data buffers")
        }
        var units: [(slice: Slice, unit: [UInt8])] = []
        var isOpen = false
        for (index, group) in slices.enumerated() {
            let bytes = data[data.count == 1 ? 0 : index]
            for slice in group {
                let (start, count) = (Int(slice.slice_data_offset), Int(slice.slice_data_size))
                guard count > 0, start <= bytes.count, count <= bytes.count - start else {
                    throw Refusal.invalidParameter(
                        "slice data \(start)+\(count) exceeds the buffer of \(bytes.count) "
                            + "bytes")
                }
                let part = bytes[start..<start + count]
                let isFirst = slice.slice_data_flag & ~UInt32(VA_SLICE_DATA_FLAG_BEGIN) == 0
                guard isFirst != isOpen else { throw Refusal.invalidParameter("the parts of a slice are out of order") }
                if isFirst { units.append((slice, Array(part))) } else { units[units.count - 1].unit += part }
                isOpen = [UInt32(VA_SLICE_DATA_FLAG_BEGIN), UInt32(VA_SLICE_DATA_FLAG_MIDDLE)].contains(slice.slice_data_flag)
            }
        }
        guard !isOpen else { throw Refusal.invalidParameter("the end of a slice is missing") }
        return units
    }
}

typealias H264DecodeBuffers = DecodeBuffers<
    VAPictureParameterBufferH264, VAIQMatrixBufferH264, VASliceParameterBufferH264
>
typealias HEVCDecodeBuffers = DecodeBuffers<
    VAPictureParameterBufferHEVC, VAIQMatrixBufferHEVC, VASliceParameterBufferHEVC
>

/// A picture to decode, from vaBeginPicture to vaEndPicture. vaRenderPicture copies the values of the buffers.
struct DecodePicture {
    enum Buffers {
        case h264(H264DecodeBuffers)
        case hevc(HEVCDecodeBuffers)
    }

    let target: Surface
    var buffers: Buffers

    init(target: Surface, codec: DriverCodec) {
        self.target = target
        switch codec {
        case .h264: buffers = .h264(H264DecodeBuffers())
        case .hevc: buffers = .hevc(HEVCDecodeBuffers())
        }
    }

    mutating func take(_ buffer: Buffer) throws {
        switch buffers {
        case .h264(var list):
            try list.take(buffer)
            buffers = .h264(list)
        case .hevc(var list):
            try list.take(buffer)
            buffers = .hevc(list)
        }
    }
}
