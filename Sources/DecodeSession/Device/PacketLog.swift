import CLibAV
import LibAV

/// The packets since the second last key packet, so that another decoder can decode them again. Leading pictures of the
/// last key picture may refer to the key picture before it.
struct PacketLog {
    private static let byteLimit = 64 << 20
    private static let countLimit = 4096

    struct Entry {
        var packet: PacketCopy
        var tag: Int64
    }

    private(set) var entries: [Entry] = []
    private var bytes = 0
    /// Whether the log exceeded its limits without a key packet. The packets that would be needed are then incomplete.
    private(set) var isBroken = false

    mutating func append(_ packet: PacketCopy, tag: Int64) {
        if packet.isKey {
            isBroken = false
            if let latest = entries.lastIndex(where: { $0.packet.isKey }) { drop(latest) }
        }
        if isBroken { return }
        entries.append(Entry(packet: packet, tag: tag))
        bytes += packet.byteCount
        if bytes > Self.byteLimit || entries.count > Self.countLimit {
            drop(entries.count)
            isBroken = true
        }
    }

    mutating func clear() {
        drop(entries.count)
        isBroken = false
    }

    private mutating func drop(_ count: Int) {
        for entry in entries.prefix(count) { bytes -= entry.packet.byteCount }
        entries.removeFirst(count)
    }
}
