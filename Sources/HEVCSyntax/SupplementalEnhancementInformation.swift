import NALWriting

/// sei_message(), H.265 7.3.5.
public struct SEIMessage: Sendable, Hashable {
    /// payloadType, D.2.1.
    public var payloadType: Int
    public var payload: [UInt8]

    public init(payloadType: Int, payload: [UInt8]) {
        self.payloadType = payloadType
        self.payload = payload
    }

    /// A payload of bits: a one and zeros fill the last byte where it is not full (D.2.1).
    init(payloadType: Int, bits: BitWriter) {
        var w = bits
        if !w.isByteAligned { w.trailingBits() }
        self.init(payloadType: payloadType, payload: w.bytes)
    }

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

    /// sei_rbsp() with its trailing bits.
    public static func rbsp(_ messages: [SEIMessage]) -> [UInt8] {
        var w = BitWriter()
        for message in messages {
            writeVariable(message.payloadType, to: &w)
            writeVariable(message.payload.count, to: &w)
            w.append(message.payload)
        }
        w.trailingBits()
        return w.bytes
    }

    /// 255 for every 255, then the rest.
    private static func writeVariable(_ value: Int, to w: inout BitWriter) {
        var value = value
        while value >= 255 {
            w.u(8, 255)
            value -= 255
        }
        w.u(8, value)
    }
}
