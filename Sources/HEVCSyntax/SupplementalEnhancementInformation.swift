public import NALUnits

extension SEIMessage {
    /// Returns the NAL unit that contains the messages and precedes a picture's slices, without a start code.
    ///
    /// - Parameter temporalID: The TemporalId of the picture.
    public static func prefixUnit(_ messages: [SEIMessage], temporalID: Int = 0) -> [UInt8] {
        NALUnit.bytes(.prefixSEI, temporalID: temporalID, rbsp: rbsp(messages))
    }

    /// Returns the NAL unit that contains the messages and follows a picture's slices, without a start code. Of the
    /// messages here, only the decoded picture hash belongs in it.
    public static func suffixUnit(_ messages: [SEIMessage], temporalID: Int = 0) -> [UInt8] {
        NALUnit.bytes(.suffixSEI, temporalID: temporalID, rbsp: rbsp(messages))
    }
}
