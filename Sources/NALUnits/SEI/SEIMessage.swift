/// An sei_message(), which is the same in H.264 7.3.2.3.1 and H.265 7.3.5. The messages of this module also have the
/// same types and payloads in both. Messages of one codec, and the NAL units of messages, are in the syntax module of
/// the codec.
package struct SEIMessage: Sendable, Hashable {
    /// payloadType, H.264 D.1.1, H.265 D.2.1.
    package var payloadType: Int
    /// The bytes of sei_payload().
    package var payload: [UInt8]

    /// Creates a message.
    package init(payloadType: Int, payload: [UInt8]) {
        self.payloadType = payloadType
        self.payload = payload
    }

    /// Creates a message from a payload of bits. An incomplete last byte is filled with a one bit and zero bits.
    package init(payloadType: Int, bits: BitWriter) {
        var w = bits
        if !w.isByteAligned { w.trailingBits() }
        self.init(payloadType: payloadType, payload: w.bytes)
    }

    /// Returns an sei_rbsp() with its trailing bits.
    package static func rbsp(_ messages: [SEIMessage]) -> [UInt8] {
        var w = BitWriter()
        for message in messages {
            writeVariable(message.payloadType, to: &w)
            writeVariable(message.payload.count, to: &w)
            w.append(message.payload)
        }
        w.trailingBits()
        return w.bytes
    }

    /// Writes a payload type or size: a byte 255 for every 255 in the value, then the remainder.
    private static func writeVariable(_ value: Int, to w: inout BitWriter) {
        var value = value
        while value >= 255 {
            w.u(8, 255)
            value -= 255
        }
        w.u(8, value)
    }

    /// The initial removal delays of a schedule in a buffering period message, in ticks of 90 kHz.
    package struct InitialRemovalDelay: Sendable, Hashable {
        /// initial_cpb_removal_delay, greater than 0.
        package var delay: Int
        /// initial_cpb_removal_delay_offset; in H.265, initial_cpb_removal_offset.
        package var offset: Int

        /// Creates delays.
        package init(delay: Int, offset: Int) {
            self.delay = delay
            self.offset = offset
        }

        /// Writes both fields. Values are clamped to the range of `length` bits, and initial_cpb_removal_delay to at
        /// least 1.
        package func write(length: Int, to w: inout BitWriter) {
            let most = 1 << length - 1
            w.u(length, min(max(delay, 1), most))
            w.u(length, min(max(offset, 0), most))
        }
    }
}
