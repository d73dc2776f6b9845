/// sei_message(), H.264 7.3.2.3.1 and H.265 7.3.5, which are the same; so are the types and payloads of the messages
/// here. A codec's own messages, and the NAL units around them, are its syntax module's.
public struct SEIMessage: Sendable, Hashable {
    /// payloadType, H.264 D.1.1, H.265 D.2.1.
    public var payloadType: Int
    public var payload: [UInt8]

    public init(payloadType: Int, payload: [UInt8]) {
        self.payloadType = payloadType
        self.payload = payload
    }

    /// A payload of bits: a one and zeros fill the last byte where it is not full.
    public init(payloadType: Int, bits: BitWriter) {
        var w = bits
        if !w.isByteAligned { w.trailingBits() }
        self.init(payloadType: payloadType, payload: w.bytes)
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

    /// The initial delays of a buffering period's schedule, in ticks of 90 kHz.
    public struct InitialRemovalDelay: Sendable, Hashable {
        /// initial_cpb_removal_delay, above 0.
        public var delay: Int
        /// initial_cpb_removal_delay_offset, in H.265 initial_cpb_removal_offset.
        public var offset: Int

        public init(delay: Int, offset: Int) {
            self.delay = delay
            self.offset = offset
        }

        /// Both fields, the nearest values that `length` bits hold: initial_cpb_removal_delay may not be 0.
        public func write(length: Int, to w: inout BitWriter) {
            let most = 1 << length - 1
            w.u(length, min(max(delay, 1), most))
            w.u(length, min(max(offset, 0), most))
        }
    }
}
