/// A picture as the decoder takes it.
struct DecodePacket: Sendable {
    /// Parameter sets that say what the client's buffers say; given to the decoder where they are new.
    var parameterSets: [UInt8]
    /// The slices, with start codes.
    var slices: [UInt8]
    /// The decoder's state is invalid: the client has begun another sequence.
    var begins = false
    /// The second field of a frame.
    var continues = false

    static let startCode: [UInt8] = [0, 0, 0, 1]

    /// A NAL unit with its start code, from its header and an RBSP.
    static func unit(_ header: [UInt8], _ bits: HeaderBitWriter) -> [UInt8] {
        var bits = bits
        bits.putTrailingBits()
        return startCode + EmulationPrevention.escape(bits.bytes, after: header)
    }
}
