package import NALUnits

extension SEIMessage {
    /// Returns the NAL unit that contains the messages and precedes a picture's slices, without a start code.
    ///
    /// - Parameter temporalID: The TemporalId of the picture.
    package static func prefixUnit(_ messages: [SEIMessage], temporalID: Int = 0) -> [UInt8] {
        NALUnit.bytes(.prefixSEI, temporalID: temporalID, rbsp: rbsp(messages))
    }
}
