/// The video codecs whose buffers the driver takes.
package enum DriverCodec: Sendable {
    case h264
    case hevc

    /// Bytes of a NAL unit header.
    var unitHeaderBytes: Int {
        switch self {
        case .h264: 1
        case .hevc: 2
        }
    }

    /// nal_unit_type, out of the first byte of a NAL unit header.
    func unitType(_ header: UInt8) -> UInt8 {
        switch self {
        case .h264: header & 31
        case .hevc: header >> 1 & 63
        }
    }

    /// Types of slices, and of slice segments that a driver could encode.
    func isSlice(_ type: UInt8) -> Bool {
        switch self {
        case .h264: type == 1 || type == 5
        case .hevc: type <= 9 || (16...21).contains(type)
        }
    }

    /// Whether an encoder takes surfaces of another bit depth and converts their samples, as real drivers do.
    var convertsSamples: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Whether `VAENC_REFERENCE_HEVC=0` hides the codec.
    var isOptional: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Bytes that a NAL unit of a client's buffer may begin with, beside a slice's: parameter sets, SEI, delimiters,
    /// filler.
    func isPlausible(_ header: UInt8, _ second: UInt8?) -> Bool {
        switch self {
        case .h264:
            switch header & 31 {
            case 6, 9, 10, 11, 12: header >> 5 == 0
            case 7, 8, 13, 15: header >> 7 == 0 && header >> 5 != 0
            default: false
            }
        case .hevc:
            // nuh_layer_id 0, and a temporal sub-layer.
            header & 0x81 == 0 && (32...40).contains(header >> 1) && second.map { (1...7).contains($0) } ?? false
        }
    }
}
