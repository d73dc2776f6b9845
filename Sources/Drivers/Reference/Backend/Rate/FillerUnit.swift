/// A filler data NAL unit: filler_data_rbsp of H.264 7.3.2.7 and H.265 7.3.2.8.
struct FillerUnit {
    private let header: [UInt8]

    init(_ codec: DriverCodec) {
        switch codec {
        case .h264: header = [12]
        case .hevc: header = [38 << 1, 1]
        }
    }

    /// The size without filler bytes: the start code, the NAL unit header and the trailing bits.
    var minimumBytes: Int { 4 + header.count }

    /// Returns the NAL unit with its start code. It has `count` bytes, but at least the minimum size.
    func bytes(_ count: Int) -> [UInt8] {
        [0, 0, 1] + header + [UInt8](repeating: 0xff, count: max(0, count - minimumBytes)) + [0x80]
    }
}
