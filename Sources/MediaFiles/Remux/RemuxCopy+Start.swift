import LibAV
import VideoBase

/// The beginning of a copy that skips the input's beginning.
extension RemuxCopy {
    /// Seeks to the last key frame at or before the requested start, or prepares a search for it.
    func seek(to seconds: Double) throws {
        guard let leader, let track = tracks[leader], let time = range.requestedStart else { return }
        // The index of AVI lists decoding times, and AVI may have no other times.
        let isUnknown = input.container == "avi" && track.mayLackPresentation
        if !input.isSeekable || input.isBare || !Demuxer.indexed.contains(input.container) || input.hasEarlyTimes || isUnknown {
            beginning.search = RemuxStart(time)
            return
        }
        let base = track.track.timeBase
        let ticks = MediaTime.rounded(
            Int128(time.value) * Int128(base.denominator), by: Int128(time.timescale) * Int128(base.numerator))
        let code = input.seek(leader, to: ticks)
        if code < 0 {
            throw VaencError(
                .badInput, "\(input.name) cannot start at \(seconds) s (\(unsafe LibAV.message(code, input.av)))",
                remedy: "leave out `start`, or copy the input into mp4 or mkv first")
        }
        beginning.lastSeekTicks = ticks
    }

    /// Seeks to an earlier key frame than the leader's packet if necessary, and returns whether it did. The indexes of
    /// some containers list decoding times, so the key frame that they return may be shown after the requested time.
    func seeksBack(from packet: TrackPacket) -> Bool {
        guard let leader, let before = beginning.lastSeekTicks, let requestedStart = range.requestedStart, !range.isOpen, packet.isKey,
            let shown = packet.presentation ?? packet.decode, let ticks = packet.decodeTicks ?? packet.presentationTicks
        else { return false }
        // A key frame after the searched time is the file's first one.
        guard requestedStart < shown, ticks <= before, ticks > .min else {
            beginning.lastSeekTicks = nil
            return false
        }
        beginning.lastSeekTicks = ticks - 1
        if input.seek(leader, to: ticks - 1) < 0 {
            // No earlier key frame exists, so this one is read again.
            beginning.lastSeekTicks = nil
            _ = input.seek(leader, to: before)
        }
        beginning.dropHeld()
        for index in tracks.indices { tracks[index]?.restart() }
        return true
    }

    /// Takes a packet before the copy has begun. Returns whether the packet waits or is left out; otherwise the copy
    /// begins with it.
    func waits(_ packet: TrackPacket, _ index: Int) throws -> Bool {
        guard index == leader else {
            beginning.hold(packet, of: index)
            return true
        }
        let time = packet.presentation ?? packet.decode
        if beginning.search != nil {
            if let first = beginning.search?.add(packet) { try begin(with: first, index) }
            // The copy begins no earlier than here, or there is no such key frame before.
            if packet.isKey, let time, let requestedStart = range.requestedStart, !(requestedStart < time) {
                beginning.dropHeld(before: time)
            }
            return true
        }
        // Nothing can be decoded before the first key frame.
        guard packet.isKey, let time else { return true }
        try begin(at: time)
        try writeHeld()
        return false
    }

    /// Begins the copy with the leader's first packets, from a key frame on.
    func begin(with group: [TrackPacket], _ index: Int) throws {
        guard let first = group.first, let time = first.presentation ?? first.decode else { return }
        try begin(at: time)
        for packet in group where !((packet.presentation ?? time) < time) { try write(packet, index) }
        try writeHeld()
    }

    private func writeHeld() throws {
        for (index, packet) in beginning.takeHeld(from: range.origin) { try write(packet, index) }
    }
}
