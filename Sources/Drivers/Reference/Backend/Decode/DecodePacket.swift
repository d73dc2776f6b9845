/// The decoder's input for one picture or field.
struct DecodePacket: Sendable {
    /// The parameter sets with the values of the client's buffers. The decoder gets them only if they have changed.
    var parameterSets: [UInt8]
    /// The NAL units of the slices, with start codes.
    var slices: [UInt8]
    /// Whether the decoder must discard its references first, because the client has begun another sequence.
    var resetsDecoder = false
    /// Whether the packet is the second field of a frame.
    var continues = false

    static let startCode: [UInt8] = [0, 0, 0, 1]

    /// Returns a NAL unit with its start code.
    ///
    /// - Parameters:
    ///   - header: The bytes of the NAL unit header.
    ///   - bits: The RBSP without its trailing bits.
    static func unit(_ header: [UInt8], _ bits: HeaderBitWriter) -> [UInt8] {
        var bits = bits
        bits.putTrailingBits()
        return startCode + EmulationPrevention.escape(bits.bytes, after: header)
    }
}
