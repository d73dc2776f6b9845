/// The type and payload of an sei_message(), not yet interpreted.
struct RawSEIMessage {
    var type: Int
    var payload: [UInt8]

    /// The maximum number of messages in a NAL unit; far more than any real stream has.
    private static let limit = 1000

    /// Returns the messages of an SEI NAL unit's payload (7.3.2.3.1).
    ///
    /// - Throws: `Malformed` if the payload cannot be read.
    static func messages(rbsp: [UInt8]) throws(Malformed) -> [RawSEIMessage] {
        var result: [RawSEIMessage] = []
        var index = 0
        func number() throws(Malformed) -> Int {
            var value = 0
            while index < rbsp.count, rbsp[index] == 255 {
                value += 255
                index += 1
            }
            guard index < rbsp.count else { throw Malformed("an SEI message ends in its header") }
            value += Int(rbsp[index])
            index += 1
            return value
        }
        while index < rbsp.count, !(rbsp[index] == 0x80 && rbsp[(index + 1)...].allSatisfy { $0 == 0 }) {
            guard result.count < limit else { throw Malformed("one SEI NAL unit has more than \(limit) messages") }
            let type = try number()
            let size = try number()
            guard size <= rbsp.count - index else {
                throw Malformed("an SEI message states \(size) bytes, but \(rbsp.count - index) are left")
            }
            result.append(RawSEIMessage(type: type, payload: Array(rbsp[index..<(index + size)])))
            index += size
        }
        if index == rbsp.count { throw Malformed("an SEI NAL unit has no trailing bits") }
        return result
    }
}
