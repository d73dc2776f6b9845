/// Filler data, filler_data_rbsp(), H.264 7.3.2.7: bytes whose only purpose is to maintain a constant bit rate.
package enum FillerData {
    /// Returns a NAL unit without a start code. It follows a picture's slices.
    ///
    /// - Parameter count: The size of the unit in bytes, at least 2 for the header and the trailing bits.
    package static func unit(byteCount count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xFF, count: max(count, 2))
        bytes[0] = NALUnit.header(.filler, nal_ref_idc: 0)
        bytes[bytes.count - 1] = 0x80
        return bytes
    }
}
