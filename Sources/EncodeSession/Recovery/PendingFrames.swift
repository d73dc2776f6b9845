import VAAPI
import VideoBase

/// The frames that were accepted and whose packets were not delivered, in display order, and the packets that wait for
/// delivery.
///
/// Packets are released in groups that are closed in display order: a packet waits until all frames shown before it
/// have packets. So after a fault, the remaining frames have no gaps. They can restart with a key frame that is shown
/// after everything delivered. Without B pictures, every packet is a group.
struct PendingFrames: Sendable {
    private(set) var frames: [TakenFrame] = []
    /// The packets that wait, in coding order. The first `released` of them no longer wait for other packets.
    private var held: [EncodedPacket] = []
    private var released = 0
    /// The display indices of released packets that are not delivered yet.
    private var leaving: [Int] = []
    /// The display indices of dropped frames.
    private var dropped: Set<Int> = []

    var count: Int { frames.count }

    mutating func add(_ frame: TakenFrame) { frames.append(frame) }

    /// The frames whose packets are not released.
    var unsettled: [TakenFrame] { frames.filter { !leaving.contains($0.index) } }

    /// Takes a packet, in coding order. Returns the number of packets that are released now.
    mutating func take(_ packet: EncodedPacket) -> Int {
        held.append(packet)
        var last = -1
        var end = released
        for position in released..<held.count {
            last = max(last, held[position].displayIndex)
            let before = frames.count { $0.index <= last && !leaving.contains($0.index) }
            if before == position - released + 1 { end = position + 1 }
        }
        return release(end)
    }

    /// Releases the packets that still wait, for a session that ends.
    mutating func releaseHeld() { _ = release(held.count) }

    /// - Parameter end: The number of packets in `held` that are released afterwards.
    private mutating func release(_ end: Int) -> Int {
        defer { released = end }
        for position in released..<end { leaving.append(held[position].displayIndex) }
        return end - released
    }

    /// Removes the next released packet and returns it; nil if there is none.
    mutating func nextReleased() -> EncodedPacket? {
        guard released > 0 else { return nil }
        released -= 1
        return held.removeFirst()
    }

    /// Removes the frame of a delivered packet and returns it.
    mutating func remove(_ displayIndex: Int) -> TakenFrame? {
        if let position = leaving.firstIndex(of: displayIndex) { leaving.remove(at: position) }
        guard let position = frames.firstIndex(where: { $0.index == displayIndex }) else { return nil }
        return frames.remove(at: position)
    }

    /// Discards the packets that wait: their frames are encoded again.
    mutating func forgetHeld() { held.removeSubrange(released...) }

    /// Drops all frames except those whose packets are released. Returns the number of dropped frames.
    mutating func dropUnsettled() -> Int {
        let lost = unsettled.map(\.index)
        held.removeSubrange(released...)
        dropped.formUnion(lost)
        frames = frames.filter { leaving.contains($0.index) }
        return lost.count
    }

    /// Replaces the frames whose packets are not released by copies in other surfaces. Frames without a copy are
    /// removed.
    mutating func replace(with moved: [TakenFrame]) {
        frames = frames.filter { leaving.contains($0.index) } + moved
    }

    /// Returns whether a frame that was accepted was delivered; nil if that is not settled.
    func wasDelivered(_ displayIndex: Int) -> Bool? {
        if frames.contains(where: { $0.index == displayIndex }) { return nil }
        return !dropped.contains(displayIndex)
    }

    func isLeaving(_ displayIndex: Int) -> Bool { leaving.contains(displayIndex) }

    /// Whether there is a frame with an index below `index` that is shown up to that time (nil: any time).
    func contains(until time: MediaTime?, before index: Int = .max) -> Bool {
        frames.contains { frame in frame.index < index && time.map { frame.timing.presentation <= $0 } ?? true }
    }
}
