import NALWriting

/// sei_message(), H.264 7.3.2.3.1.
public struct SEIMessage: Sendable, Hashable {
    /// payloadType, D.1.1.
    public var payloadType: Int
    public var payload: [UInt8]

    public init(payloadType: Int, payload: [UInt8]) {
        self.payloadType = payloadType
        self.payload = payload
    }

    /// user_data_unregistered, D.1.7: a UUID of 16 bytes and whatever follows.
    public static func userData(uuid: [UInt8], _ data: some Sequence<UInt8>) -> SEIMessage {
        precondition(uuid.count == 16, "a UUID has 16 bytes")
        return SEIMessage(payloadType: 5, payload: uuid + Array(data))
    }

    /// What vaenc says about itself at the start of a stream: its name and version, and the settings in `text`.
    public static func identifier(_ text: String) -> SEIMessage {
        userData(uuid: identifierUUID, text.utf8)
    }

    /// uuid_iso_iec_11578 of vaenc's identifier.
    public static let identifierUUID: [UInt8] = [
        0x1D, 0x5A, 0x43, 0xE7, 0x90, 0x5B, 0x4C, 0x0E, 0xB6, 0x21, 0x76, 0x61, 0x65, 0x6E, 0x63, 0x01,
    ]

    /// The NAL unit that carries the messages, without a start code.
    public static func unit(_ messages: [SEIMessage]) -> [UInt8] {
        NALUnit.bytes(.sei, refIdc: 0, rbsp: rbsp(messages))
    }

    /// sei_rbsp() with its trailing bits. HEVC's is the same (7.3.2.4, 7.3.5 there), and so are the messages with data
    /// of users.
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

    /// ff_byte for every 255, then the rest.
    private static func writeVariable(_ value: Int, to w: inout BitWriter) {
        var value = value
        while value >= 255 {
            w.u(8, 255)
            value -= 255
        }
        w.u(8, value)
    }
}
