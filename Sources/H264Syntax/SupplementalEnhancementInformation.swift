public import NALUnits

extension SEIMessage {
    /// The NAL unit that carries the messages, without a start code.
    public static func unit(_ messages: [SEIMessage]) -> [UInt8] {
        NALUnit.bytes(.sei, refIdc: 0, rbsp: rbsp(messages))
    }
}
