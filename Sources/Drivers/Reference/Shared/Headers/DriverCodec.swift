/// The video codecs that the driver supports.
package enum DriverCodec: Sendable {
    case h264
    case hevc

    /// The number of bytes of a NAL unit header.
    var unitHeaderBytes: Int {
        switch self {
        case .h264: 1
        case .hevc: 2
        }
    }

    /// Returns nal_unit_type from the first byte of a NAL unit header.
    func unitType(_ header: UInt8) -> UInt8 {
        switch self {
        case .h264: header & 31
        case .hevc: header >> 1 & 63
        }
    }

    /// Returns whether a NAL unit type is a slice, or a slice segment that a driver could encode.
    func isSlice(_ type: UInt8) -> Bool {
        switch self {
        case .h264: type == 1 || type == 5
        case .hevc: type <= 9 || (16...21).contains(type)
        }
    }

    /// Whether an encoder accepts surfaces of another bit depth and converts their samples, as real drivers do.
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

    /// Returns whether a NAL unit in a client's buffer may begin with these bytes. Accepts parameter sets, SEI
    /// messages, delimiters and filler data. Slices are not accepted.
    func isPlausible(_ header: UInt8, _ second: UInt8?) -> Bool {
        switch self {
        case .h264:
            switch header & 31 {
            case 6, 9, 10, 11, 12: header >> 5 == 0
            case 7, 8, 13, 15: header >> 7 == 0 && header >> 5 != 0
            default: false
            }
        case .hevc:
            // nuh_layer_id must be 0, and nuh_temporal_id_plus1 1…7.
            header & 0x81 == 0 && (32...40).contains(header >> 1) && second.map { (1...7).contains($0) } ?? false
        }
    }
}
