import CLibAV
import LibAV

/// Packets from the last key packet but one on, to be decoded again by another decoder: leading pictures of the last one may
/// refer to the one before.
struct PacketLog {
    private static let byteLimit = 64 << 20
    private static let countLimit = 4096

    struct Entry {
        var packet: PacketCopy
        var tag: Int64
    }

    private(set) var entries: [Entry] = []
    private var bytes = 0
    /// The stream went on for too long without a key packet: what would be decoded again is not all there.
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
