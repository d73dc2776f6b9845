/// filler_data_rbsp, H.264 7.3.2.7.
enum FillerUnit {
    /// Start code, NAL unit header, stop bit.
    static let leastBytes = 5

    /// The NAL unit with its start code, `count` bytes long where that is enough for one.
    static func bytes(_ count: Int) -> [UInt8] {
        [0, 0, 1, 12] + [UInt8](repeating: 0xff, count: max(0, count - leastBytes)) + [0x80]
    }
}
