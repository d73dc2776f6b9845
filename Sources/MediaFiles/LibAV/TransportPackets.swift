/// The packets of MPEG-TS, which alone have a size: ISO/IEC 13818-1 2.4.3.2. M2TS has four bytes before each, and
/// broadcasts can have 16 bytes of error correction behind each (ETSI EN 300 429).
struct TransportPackets {
    private static let sync: UInt8 = 0x47
    private static let layouts = [(size: 188, place: 0), (size: 192, place: 4), (size: 204, place: 0)]
    /// The bytes that it takes to know them.
    static let headSize = 4 * 204

    /// Bytes of a packet, and the place of its sync byte.
    private let size: Int
    private let place: Int

    /// nil where the first bytes are no such packets.
    init?(_ head: [UInt8]) {
        let layout = Self.layouts.first { size, place in
            head.count > 4 * size && (0..<4).allSatisfy { head[$0 * size + place] == Self.sync }
        }
        guard let layout else { return nil }
        (size, place) = layout
    }

    /// Bytes behind the last whole packet.
    func rest(_ length: Int) -> Int { length % size }

    /// Whether these bytes behind it are a packet that is cut short.
    func isCut(_ rest: some Collection<UInt8>) -> Bool { rest.count > place && rest.dropFirst(place).first == Self.sync }
}

/// What has come from a pipe, as far as it tells whether the last packet of MPEG-TS is whole.
struct PipedBytes {
    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    private var count = 0

    mutating func append(_ bytes: Span<UInt8>) {
        let (wanted, kept) = (TransportPackets.headSize + 1, TransportPackets.headSize)
        for index in 0..<min(bytes.count, max(0, wanted - head.count)) { head.append(bytes[index]) }
        for index in max(0, bytes.count - kept)..<bytes.count { tail.append(bytes[index]) }
        if tail.count > kept { tail.removeFirst(tail.count - kept) }
        count += bytes.count
    }

    /// Its last packet is cut short.
    var isCut: Bool {
        guard let packets = TransportPackets(head) else { return false }
        return packets.isCut(tail.suffix(packets.rest(count)))
    }
}
