/// Messages with user data.
extension SEIMessage {
    /// Creates user_data_unregistered (H.264 D.1.7, H.265 D.2.7) from a UUID of 16 bytes and the payload that follows
    /// it; returns nil if there are fewer bytes.
    package static func userData(_ bytes: [UInt8]) -> SEIMessage? {
        bytes.count < 16 ? nil : SEIMessage(payloadType: 5, payload: bytes)
    }

    /// Creates user_data_unregistered from a UUID of 16 bytes and a payload. Traps if the UUID has another length.
    package static func userData(uuid: [UInt8], _ data: some Sequence<UInt8>) -> SEIMessage {
        precondition(uuid.count == 16, "a UUID has 16 bytes")
        return SEIMessage(payloadType: 5, payload: uuid + Array(data))
    }

    /// Creates the message with which vaenc identifies itself at the start of a stream: its name and version, and the
    /// settings in `text`.
    package static func identifier(_ text: String) -> SEIMessage {
        userData(uuid: identifierUUID, text.utf8)
    }

    /// The uuid_iso_iec_11578 of vaenc's identifier.
    package static let identifierUUID: [UInt8] = [
        0x1D, 0x5A, 0x43, 0xE7, 0x90, 0x5B, 0x4C, 0x0E, 0xB6, 0x21, 0x76, 0x61, 0x65, 0x6E, 0x63, 0x01,
    ]

    /// Creates user_data_registered_itu_t_t35 (H.264 D.1.6, H.265 D.2.6) from the country code and the registered data.
    package static func registeredUserData(countryCode: UInt8, _ data: [UInt8]) -> SEIMessage {
        SEIMessage(payloadType: 4, payload: [countryCode] + data)
    }

    /// Creates the messages for closed captions of A/53 Part 4, with at most 31 cc_data triplets each. An incomplete
    /// triplet at the end is ignored.
    package static func captions(_ triplets: [UInt8]) -> [SEIMessage] {
        let whole = triplets.count / 3 * 3
        return stride(from: 0, to: whole, by: 31 * 3).map { start in
            let data = triplets[start..<min(start + 31 * 3, whole)]
            // The bytes are the provider code of ATSC, "GA94", user_data_type_code 3 (cc_data), process_cc_data_flag
            // with cc_count, and em_data. The country code B5 is the United States. The last byte, FF, is marker_bits.
            let head: [UInt8] = [0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0x40 | UInt8(data.count / 3), 0xFF]
            return registeredUserData(countryCode: 0xB5, head + data + [0xFF])
        }
    }
}
