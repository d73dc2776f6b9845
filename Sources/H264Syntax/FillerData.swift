/// filler_data_rbsp(), H.264 7.3.2.7: bytes that only keep a constant rate up.
public enum FillerData {
    /// A NAL unit of `count` bytes (at least 2: the header and the trailing bits), without a start code. It goes after
    /// a picture's slices.
    public static func unit(byteCount count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xFF, count: max(count, 2))
        bytes[0] = NALUnit.header(.filler, refIdc: 0)
        bytes[bytes.count - 1] = 0x80
        return bytes
    }
}
