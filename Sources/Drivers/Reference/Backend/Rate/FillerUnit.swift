/// filler_data_rbsp, H.264 7.3.2.7 and H.265 7.3.2.8.
struct FillerUnit {
    private let header: [UInt8]

    init(_ codec: DriverCodec) {
        switch codec {
        case .h264: header = [12]
        case .hevc: header = [38 << 1, 1]
        }
    }

    /// Start code, NAL unit header, stop bit.
    var leastBytes: Int { 4 + header.count }

    /// The NAL unit with its start code, `count` bytes long where that is enough for one.
    func bytes(_ count: Int) -> [UInt8] {
        [0, 0, 1] + header + [UInt8](repeating: 0xff, count: max(0, count - leastBytes)) + [0x80]
    }
}
