import VAAPI
import VideoBase

/// The frames that were taken and whose packets were not delivered, in display order, and the packets that wait.
///
/// Packets are let through in groups that are closed in display order: when all frames shown before a packet's own
/// have theirs. So what is left after a fault is a run of frames without gaps, which can begin anew with a key frame
/// that is shown after everything delivered. Without B pictures every packet is a group.
struct PendingFrames: Sendable {
    private(set) var frames: [TakenFrame] = []
    /// In coding order.
    private var held: [EncodedPacket] = []
    /// Display indices of packets on their way out.
    private var leaving: Set<Int> = []
    /// Display indices of frames that were given up.
    private var dropped: Set<Int> = []

    var count: Int { frames.count }

    mutating func add(_ frame: TakenFrame) { frames.append(frame) }

    /// Frames whose packets are not on their way out.
    var unsettled: [TakenFrame] { frames.filter { !leaving.contains($0.index) } }

    /// Takes a packet, in coding order, and gives the packets that may go now.
    mutating func take(_ packet: EncodedPacket) -> [EncodedPacket] {
        held.append(packet)
        var last = -1
        var end = 0
        for (position, packet) in held.enumerated() {
            last = max(last, packet.displayIndex)
            let before = frames.count { $0.index <= last && !leaving.contains($0.index) }
            if before == position + 1 { end = position + 1 }
        }
        return release(end)
    }

    /// The packets that still wait, for a session that ends.
    mutating func takeHeld() -> [EncodedPacket] { release(held.count) }

    private mutating func release(_ count: Int) -> [EncodedPacket] {
        let group = Array(held.prefix(count))
        held.removeFirst(count)
        for packet in group { leaving.insert(packet.displayIndex) }
        return group
    }

    /// The packet was delivered: gives its frame.
    mutating func remove(_ displayIndex: Int) -> TakenFrame? {
        leaving.remove(displayIndex)
        guard let position = frames.firstIndex(where: { $0.index == displayIndex }) else { return nil }
        return frames.remove(at: position)
    }

    /// Forgets the packets that wait: their frames are encoded again.
    mutating func forgetHeld() { held = [] }

    /// Gives up all frames but those whose packets are on their way out: how many.
    mutating func dropUnsettled() -> Int {
        let lost = unsettled.map(\.index)
        held = []
        dropped.formUnion(lost)
        frames = frames.filter { leaving.contains($0.index) }
        return lost.count
    }

    /// Replaces frames that are not on their way out by themselves in other surfaces; those not named are dropped.
    mutating func replace(with moved: [TakenFrame]) {
        frames = frames.filter { leaving.contains($0.index) } + moved
    }

    /// What becomes of a frame that was taken: true where its packet was delivered, nil where that is not settled.
    func wasDelivered(_ displayIndex: Int) -> Bool? {
        if frames.contains(where: { $0.index == displayIndex }) { return nil }
        return !dropped.contains(displayIndex)
    }

    func isLeaving(_ displayIndex: Int) -> Bool { leaving.contains(displayIndex) }

    /// Whether there is one shown up to that time (nil: any time), of those taken before that index.
    func contains(until time: MediaTime?, before index: Int = .max) -> Bool {
        frames.contains { frame in frame.index < index && time.map { frame.timing.presentation <= $0 } ?? true }
    }
}
