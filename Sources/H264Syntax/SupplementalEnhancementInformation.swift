package import NALUnits

extension SEIMessage {
    /// Returns the NAL unit that contains the messages, without a start code.
    package static func unit(_ messages: [SEIMessage]) -> [UInt8] {
        NALUnit.bytes(.sei, nal_ref_idc: 0, rbsp: rbsp(messages))
    }
}
