/// Follows the continuity counters of MPEG-TS. It tells restarts, at which another segment or recording begins, from lost
/// packets, after which counters jump too (ISO/IEC 13818-1 2.4.3.3).
///
/// At a restart, a table (PAT or SDT) comes first. The first packet of each PID begins a PES packet or section, and has
/// the same counter as the PID's first packet in the input. Restarts of multiplexers that begin with arbitrary counters
/// are not found.
struct ContinuityCounters {
    private struct Restart {
        /// The offset of the first packet after the restart.
        let offset: Int
        /// The PIDs whose first packet after the restart was not read yet.
        var waiting: Set<Int>
        /// The offset of each PID's first packet after the restart, if its counter jumps there.
        var jumps: [Int: Int] = [:]
    }

    /// The maximum number of restarts and of jumps of a PID that are kept: the latest ones.
    private static let limit = 4096
    /// The maximum number of restarts to which a packet can belong.
    private static let openLimit = 16
    /// The PID of packets without contents.
    private static let nullPID = 0x1FFF
    /// The PIDs of the program association table and the service description table.
    private static let tables: Set<Int> = [0, 0x11]

    /// The layout of the packets; nil until it is detected from `head`.
    private var layout: TransportPackets?
    /// The first bytes of the input.
    private var head: [UInt8] = []
    /// The bytes of a packet that continues in the next piece of the input.
    private var partial: [UInt8] = []
    /// The offset of the next byte; nil before the first.
    private var next: Int?
    /// The first counter of each PID.
    private var firstCounters: [Int: UInt8] = [:]
    /// The latest counter of each PID.
    private var counters: [Int: UInt8] = [:]
    /// Whether the latest packet of each PID starts a unit.
    private var startsUnits: [Int: Bool] = [:]
    /// The last bytes of the latest packet of each PID.
    private var tails: [Int: UInt64] = [:]
    /// Whether the latest packet of each PID has stuffing, as only the last packet of a unit has.
    private var endsUnits: [Int: Bool] = [:]
    /// The offsets of jumps between two whole units.
    private var wholeJumps: [Int: [Int]] = [:]
    /// The offsets of all jumps.
    private var jumps: [Int: [Int]] = [:]
    private var restarts: [Restart] = []

    /// Processes the next bytes of the input. If they do not follow the previous bytes, the counters become unknown.
    ///
    /// - Parameter offset: The offset of the bytes in the input.
    mutating func append(_ bytes: Span<UInt8>, at offset: Int) {
        if offset != next {
            // The layout begins at offset 0, so the packets are found again at every offset.
            (counters, partial) = ([:], [])
            // libavformat reads the end first, for the duration, and then begins again.
            if offset < next ?? 0 { (jumps, wholeJumps, restarts) = ([:], [:], []) }
            guard offset == 0 || layout != nil else { return }
            if offset == 0 { (layout, head, firstCounters) = (nil, [], [:]) }
        }
        next = offset + bytes.count
        var position = 0
        if layout == nil {
            let missing = TransportPackets.headSize - head.count
            if missing > 0 {
                for index in 0..<min(missing, bytes.count) { head.append(bytes[index]) }
            }
            guard head.count == TransportPackets.headSize, let found = TransportPackets(head) else { return }
            layout = found
            let first = head
            take(first.span, from: 0, at: offset + min(missing, bytes.count) - head.count, found)
            position = min(missing, bytes.count)
        }
        if let layout { take(bytes, from: position, at: offset, layout) }
    }

    /// Processes the bytes from `position` on. `offset` is the offset of the first byte of `bytes`.
    private mutating func take(_ bytes: Span<UInt8>, from position: Int, at offset: Int, _ layout: TransportPackets) {
        var position = position
        while position < bytes.count {
            let inside = (offset + position + layout.size - layout.start) % layout.size
            if inside == 0, bytes.count - position >= layout.size {
                takePacket(bytes, position + layout.syncOffset, at: offset + position)
                position += layout.size
                continue
            }
            // This packet began in an earlier piece. If its beginning is unknown, the rest of it is skipped.
            let count = min(layout.size - inside, bytes.count - position)
            if inside == partial.count { for index in position..<(position + count) { partial.append(bytes[index]) } }
            position += count
            if partial.count == layout.size {
                let whole = partial
                partial = []
                takePacket(whole.span, layout.syncOffset, at: offset + position - layout.size)
            } else if inside + count == layout.size {
                partial = []
            }
        }
    }

    private mutating func takePacket(_ bytes: Span<UInt8>, _ sync: Int, at offset: Int) {
        guard bytes[sync] == 0x47 else { return }
        let pid = Int(bytes[sync + 1] & 0x1F) << 8 | Int(bytes[sync + 2])
        let (startsUnit, flags) = (bytes[sync + 1] & 0x40 != 0, bytes[sync + 3])
        guard pid != Self.nullPID, flags & 0x10 != 0 else { return }
        let counter = flags & 0x0F
        // discontinuity_indicator: the jump is announced.
        let isAnnounced = flags & 0x20 != 0 && bytes[sync + 4] > 0 && bytes[sync + 5] & 0x80 != 0
        let before = counters.updateValue(counter, forKey: pid)
        // A packet may be sent twice. The second copy has the same counter and payload.
        let tail = (0..<8).reduce(0 as UInt64) { $0 << 8 | UInt64(bytes[sync + 180 + $1]) }
        let isTwin = tails.updateValue(tail, forKey: pid) == tail && counter == before && startsUnits[pid] == startsUnit
        startsUnits[pid] = startsUnit
        let isJump = before.map { counter != ($0 + 1) & 0x0F && !isTwin && !isAnnounced } ?? false
        if isJump { Self.append(offset, to: &jumps[pid, default: []]) }
        if isJump, startsUnit, endsUnits[pid] == true { Self.append(offset, to: &wholeJumps[pid, default: []]) }
        endsUnits[pid] = Self.hasStuffing(bytes, sync: sync, flags: flags)
        let begins = startsUnit && counter == firstCounters[pid, default: counter]
        // At a restart, the counter of a table may continue by chance.
        if begins, before != nil, Self.tables.contains(pid) {
            Self.append(Restart(offset: offset, waiting: Set(counters.keys)), to: &restarts)
        }
        if before == nil, firstCounters[pid] == nil { firstCounters[pid] = counter }
        var index = restarts.count - 1
        while index >= max(0, restarts.count - Self.openLimit) {
            if restarts[index].waiting.remove(pid) != nil {
                if !begins {
                    restarts.remove(at: index)
                } else if isJump {
                    restarts[index].jumps[pid] = offset
                }
            }
            index -= 1
        }
    }

    /// Whether a packet's adaptation field has more bytes than its contents (ISO/IEC 13818-1 2.4.3.4). `flags` is the
    /// fourth byte of the packet.
    private static func hasStuffing(_ bytes: Span<UInt8>, sync: Int, flags: UInt8) -> Bool {
        guard flags & 0x20 != 0 else { return false }
        let length = Int(bytes[sync + 4])
        // A field without bytes is one byte of stuffing.
        if length == 0 { return true }
        // Beside a payload, the field has at most 182 bytes.
        guard length <= 182 else { return false }
        let contents = bytes[sync + 5]
        // The flags, PCR, OPCR and splice_countdown.
        var count = 1 + (contents & 0x10 != 0 ? 6 : 0) + (contents & 0x08 != 0 ? 6 : 0) + (contents & 0x04 != 0 ? 1 : 0)
        // transport_private_data and the extension begin with their lengths.
        for flag in [0x02, 0x01] as [UInt8] where contents & flag != 0 && count < length { count += 1 + Int(bytes[sync + 5 + count]) }
        return count < length
    }

    private static func append<Element>(_ one: Element, to list: inout [Element]) {
        list.append(one)
        if list.count > limit { list.removeFirst(limit / 4) }
    }

    /// Returns the number of gaps in the packets of some PIDs, apart from restarts.
    func losses(of pids: Set<Int>) -> Int {
        pids.reduce(0) { sum, pid in sum + (jumps[pid]?.count { !isRestart(pid: pid, from: $0) } ?? 0) }
    }

    /// Removes a PID's counter jumps between two packets, because another recording begins there. Returns whether there
    /// was one.
    ///
    /// - Parameters:
    ///   - offset: The offset of the packet before the jumps.
    ///   - end: The offset of the last packet to check.
    mutating func removeJumps(pid: Int, from offset: Int, to end: Int) -> Bool {
        let before = jumps[pid]?.count ?? 0
        jumps[pid]?.removeAll { $0 > offset && $0 <= end }
        return jumps[pid]?.count ?? 0 < before
    }

    /// Returns whether the first jump of a PID's counter from an offset on is between two whole units. The units that are
    /// missing there are counted as losses, but the unit before them is complete.
    ///
    /// - Parameter offset: The offset of the packet that libavformat marks as damaged.
    func isBetweenUnits(pid: Int, from offset: Int) -> Bool {
        guard let jump = jumps[pid]?.first(where: { $0 >= offset - 8 }) else { return false }
        return wholeJumps[pid]?.contains(jump) ?? false
    }

    /// Returns whether the first jump of a PID's counter from an offset on is at a restart.
    ///
    /// - Parameter offset: The offset of the packet that libavformat marks as damaged.
    func isRestart(pid: Int, from offset: Int) -> Bool {
        // In M2TS, libavformat's offset is that of the sync byte.
        guard let jump = jumps[pid]?.first(where: { $0 >= offset - 8 }) else { return false }
        return restarts.contains { $0.jumps[pid] == jump && $0.jumps.count > 1 }
    }
}
