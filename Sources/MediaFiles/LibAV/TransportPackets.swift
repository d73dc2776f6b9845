/// The packets of MPEG-TS, the only structure in it with a known size (ISO/IEC 13818-1 2.4.3.2). M2TS has four bytes
/// before each packet, and broadcasts can have 16 bytes of error correction after each packet (ETSI EN 300 429).
struct TransportPackets {
    private static let sync: UInt8 = 0x47
    private static let layouts = [(size: 188, syncOffset: 0), (size: 192, syncOffset: 4), (size: 204, syncOffset: 0)]
    /// The size of four packets in the largest layout, in bytes. The detection needs at least one byte more.
    static let headSize = 4 * 204

    /// The size of a packet in bytes, and the offset of its sync byte.
    let size: Int
    let syncOffset: Int

    /// Returns nil if the first bytes are not MPEG-TS packets.
    init?(_ head: [UInt8]) {
        let layout = Self.layouts.first { size, syncOffset in
            head.count > 4 * size && (0..<4).allSatisfy { head[$0 * size + syncOffset] == Self.sync }
        }
        guard let layout else { return nil }
        (size, syncOffset) = layout
    }

    /// Returns the number of bytes after the last complete packet.
    func rest(_ length: Int) -> Int { length % size }

    /// Whether the bytes after the last complete packet are a truncated packet.
    func isCut(_ rest: some Collection<UInt8>) -> Bool {
        rest.count > syncOffset && rest.dropFirst(syncOffset).first == Self.sync
    }
}

/// The bytes from a pipe that are needed to determine whether the last MPEG-TS packet is complete.
struct PipedBytes {
    private var head: [UInt8] = []
    private var lastBytes: [UInt8] = []
    private var count = 0

    mutating func append(_ bytes: Span<UInt8>) {
        let (headLimit, lastLimit) = (TransportPackets.headSize + 1, TransportPackets.headSize)
        for index in 0..<min(bytes.count, max(0, headLimit - head.count)) { head.append(bytes[index]) }
        for index in max(0, bytes.count - lastLimit)..<bytes.count { lastBytes.append(bytes[index]) }
        if lastBytes.count > lastLimit { lastBytes.removeFirst(lastBytes.count - lastLimit) }
        count += bytes.count
    }

    /// Whether the last packet is truncated.
    var isCut: Bool {
        guard let packets = TransportPackets(head) else { return false }
        return packets.isCut(lastBytes.suffix(packets.rest(count)))
    }
}
