/// The codec of a stream under test.
public enum StreamCodec: String, Sendable, Hashable, CaseIterable {
    case h264
    case hevc

    /// FFmpeg's name of the elementary stream's format.
    public var format: String { rawValue }
    /// The extension of elementary stream files.
    public var fileExtension: String {
        switch self {
        case .h264: "h264"
        case .hevc: "h265"
        }
    }

    /// The size of a NAL unit header in bytes.
    public var unitHeaderSize: Int {
        switch self {
        case .h264: 1
        case .hevc: 2
        }
    }

    /// Returns the type of a NAL unit.
    ///
    /// - Parameter header: The first byte of the unit, after the start code.
    public func unitType(_ header: UInt8) -> UInt8 {
        switch self {
        case .h264: header & 31
        case .hevc: header >> 1 & 63
        }
    }

    /// Whether NAL units of a type are coded slices. Data partitions of H.264 are not.
    public func isSlice(type: UInt8) -> Bool {
        switch self {
        case .h264: type == 1 || type == 5
        case .hevc: type < 32
        }
    }

    /// The value of VAENC_REFERENCE_HASH with which pictures contain their hashes; nil if the codec has no message for
    /// them.
    var referenceHash: String? {
        switch self {
        case .h264: nil
        case .hevc: "md5"
        }
    }
}
