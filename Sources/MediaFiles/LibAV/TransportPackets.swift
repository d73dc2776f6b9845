/// The packets of MPEG-TS, the only structure in it with a known size (ISO/IEC 13818-1 2.4.3.2). M2TS has four bytes
/// before each packet, and broadcasts can have 16 bytes of error correction after each packet (ETSI EN 300 429).
struct TransportPackets {
    private static let sync: UInt8 = 0x47
    private static let layouts = [(size: 188, syncOffset: 0), (size: 192, syncOffset: 4), (size: 204, syncOffset: 0)]
    /// The bytes that the detection needs: nine packets of the largest layout, and one byte more. Fewer are enough for
    /// an input that begins with a packet: four packets and one byte more.
    static let headSize = 9 * 204 + 1

    /// The size of a packet in bytes.
    let size: Int
    /// The offset of the sync byte in a packet.
    let syncOffset: Int
    /// The offset of the first complete packet. A recording may begin inside a packet.
    let start: Int

    /// Detects the size of the packets. Returns nil if the first bytes are not MPEG-TS packets.
    init?(_ head: [UInt8]) {
        func begins(at start: Int, _ layout: (size: Int, syncOffset: Int), count: Int) -> Bool {
            head.count > start + count * layout.size
                && (0..<count).allSatisfy { head[start + $0 * layout.size + layout.syncOffset] == Self.sync }
        }
        if let layout = Self.layouts.first(where: { begins(at: 0, $0, count: 4) }) {
            (size, syncOffset, start) = (layout.size, layout.syncOffset, 0)
            return
        }
        for layout in Self.layouts {
            guard let found = (1..<layout.size).first(where: { begins(at: $0, layout, count: 8) }) else { continue }
            (size, syncOffset, start) = (layout.size, layout.syncOffset, found)
            return
        }
        return nil
    }

    /// Returns the number of bytes after the last complete packet of an input.
    ///
    /// - Parameter length: The length of the input.
    func rest(_ length: Int) -> Int { max(0, length - start) % size }

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
        let (headLimit, lastLimit) = (TransportPackets.headSize, TransportPackets.headSize)
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
