/// Filler data, filler_data_rbsp(), H.265 7.3.2.8: bytes whose only purpose is to maintain a constant bit rate.
package enum FillerData {
    /// Returns a NAL unit without a start code. It follows a picture's slices.
    ///
    /// - Parameters:
    ///   - count: The size of the unit in bytes, at least 3 for the header and the trailing bits.
    ///   - temporalID: The TemporalId of the picture (7.4.2.2).
    package static func unit(byteCount count: Int, temporalID: Int = 0) -> [UInt8] {
        let header = NALUnit.header(.filler, temporalID: temporalID)
        return header + [UInt8](repeating: 0xFF, count: max(count, 3) - 3) + [0x80]
    }
}
