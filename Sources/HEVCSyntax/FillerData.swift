/// filler_data_rbsp(), H.265 7.3.2.8: bytes that only keep a constant rate up.
public enum FillerData {
    /// A NAL unit of `count` bytes (at least 3: the header and the trailing bits), without a start code. It goes after
    /// a picture's slices.
    ///
    /// - Parameter temporalID: the picture's (7.4.2.2).
    public static func unit(byteCount count: Int, temporalID: Int = 0) -> [UInt8] {
        let header = NALUnit.header(.filler, temporalID: temporalID)
        return header + [UInt8](repeating: 0xFF, count: max(count, 3) - 3) + [0x80]
    }
}
