import CLibAV
import LibAV

/// Packets that the decoder reads instead of the input's next ones. Those that were sent to get the first picture are kept,
/// because another decoder must read them again.
struct PacketReplay {
    /// The packets that were sent to get the first picture.
    private var sent: [PacketCopy] = []
    /// The packets to send before the input's next one.
    private var waiting: [PacketCopy] = []

    /// Keeps a packet that was sent to get the first picture.
    mutating func keep(_ packet: PacketCopy) { sent.append(packet) }

    /// Drops the packets that were kept: no other decoder reads them.
    mutating func forget() { sent = [] }

    /// Sends the packets that were kept again.
    mutating func restart() {
        waiting = sent
        sent = []
    }

    /// Adds a packet after those that wait.
    mutating func add(_ packet: PacketCopy) { waiting.append(packet) }

    /// Makes `packet`, which must be empty, the next packet that waits. Returns false if none waits.
    /// - Throws: If there is no memory.
    mutating func fill(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Bool {
        if waiting.isEmpty { return false }
        try unsafe waiting.removeFirst().fill(packet)
        return true
    }
}
