public import NALUnits

extension SEIMessage {
    /// The NAL unit that carries the messages before a picture's slices, without a start code.
    ///
    /// - Parameter temporalID: the picture's.
    public static func prefixUnit(_ messages: [SEIMessage], temporalID: Int = 0) -> [UInt8] {
        NALUnit.bytes(.prefixSEI, temporalID: temporalID, rbsp: rbsp(messages))
    }

    /// The NAL unit that carries the messages behind a picture's slices: of those here, the decoded picture hash alone.
    public static func suffixUnit(_ messages: [SEIMessage], temporalID: Int = 0) -> [UInt8] {
        NALUnit.bytes(.suffixSEI, temporalID: temporalID, rbsp: rbsp(messages))
    }
}
