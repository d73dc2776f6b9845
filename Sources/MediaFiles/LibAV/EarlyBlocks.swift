/// The blocks of a Matroska file whose times lie before 0: a block's time is its cluster's and a difference, which may be negative
/// (RFC 9559 11.2). libavformat gives the packets of such blocks no time, or one that it guesses.
struct EarlyBlocks {
    private struct Block {
        /// The track's number in the file.
        var track: Int
        /// In ticks of the track.
        var time: Int64
    }

    /// IDs of elements.
    private static let header = 0x1A45_DFA3
    private static let segment = 0x1853_8067
    private static let cluster = 0x1F43_B675
    private static let timestamp = 0xE7
    private static let simpleBlock = 0xA3
    private static let group = 0xA0
    private static let block = 0xA1
    /// Bytes that are looked at: the head of an element, and a cluster's time or a block's track and time.
    private static let headSize = 24
    /// A block lies 2^15 ticks before its cluster at most.
    private static let lastClusterTime = 1 << 15
    /// Blocks of times from 0 on, in a row, behind which none before 0 is looked for.
    private static let patience = 256
    private static let elementLimit = 1 << 16

    /// By the place of a block's data, counted from the start of the file.
    private var blocks: [Int: Block] = [:]
    /// The earliest time of each track that has such blocks.
    private var starts: [Int: Int64] = [:]
    private var clusterTime: Int?
    private var blocksFromZero = 0
    private var elements = 0
    /// Where the next element begins; nil once no more are looked at.
    private var next: Int? = 0
    /// Of a pipe: how many bytes have come, and those of them that lie from `next` on.
    private var count = 0
    private var pending: [UInt8] = []

    /// Of what comes through a pipe, which `append` takes.
    init() {}

    /// Looks through the beginning of a file. The reader's position stays; of a pipe nothing is read.
    init(_ reader: ByteReader) throws {
        guard let length = reader.length else { return }
        let start = reader.position
        defer { reader.seek(to: start) }
        while let place = next, place < length - start {
            reader.seek(to: start + place)
            take(try reader.read(min(Self.headSize, length - start - place)), at: place)
        }
        next = nil
    }

    /// Takes the next bytes of a pipe.
    mutating func append(_ bytes: Span<UInt8>) {
        guard let first = next else { return }
        let skipped = max(0, first - count)
        count += bytes.count
        guard skipped < bytes.count else { return }
        for index in skipped..<bytes.count { pending.append(bytes[index]) }
        var used = 0
        while let place = next, pending.count - used >= Self.headSize {
            take(Array(pending[used..<used + Self.headSize]), at: place)
            if let following = next { used += min(following - place, pending.count - used) }
        }
        pending.removeFirst(used)
        if next == nil { pending = [] }
    }

    /// Takes note of the element that begins at a place with these bytes, and finds where the next one begins.
    private mutating func take(_ head: [UInt8], at place: Int) {
        next = nil
        elements += 1
        guard elements < Self.elementLimit, let first = head.first, first >= 0x10, let element = FileEnd.element(head) else { return }
        if place == 0, element.id != Self.header { return }
        var length = element.headerSize
        // Segments, clusters and groups are gone into.
        if element.id == Self.cluster { clusterTime = nil }
        if ![Self.segment, Self.cluster, Self.group].contains(element.id) {
            guard let size = element.size else { return }
            let content = head[element.headerSize...]
            if element.id == Self.timestamp {
                let time = FileEnd.number(content.prefix(min(size, 8)))
                if time > Self.lastClusterTime { return }
                clusterTime = time
            }
            if element.id == Self.simpleBlock || element.id == Self.block {
                note(content, at: place + element.headerSize)
                if blocksFromZero >= Self.patience { return }
            }
            length += size
        }
        let (following, isOutside) = place.addingReportingOverflow(length)
        next = isOutside ? nil : following
    }

    /// Takes note of a block, whose data begin with the track's number and the time from its cluster's on (RFC 9559 10.1).
    private mutating func note(_ content: ArraySlice<UInt8>, at place: Int) {
        guard let clusterTime, let first = content.first else { return }
        let bytes = Array(content)
        let length = first.leadingZeroBitCount + 1
        guard length <= 8, bytes.count >= length + 2 else { return }
        let track = FileEnd.number(bytes[..<length]) & (1 << (7 * length) - 1)
        let time = clusterTime + Int(Int16(bitPattern: UInt16(bytes[length]) << 8 | UInt16(bytes[length + 1])))
        guard time < 0 else {
            blocksFromZero += 1
            return
        }
        blocksFromZero = 0
        blocks[place] = Block(track: track, time: Int64(time))
        starts[track] = min(starts[track] ?? 0, Int64(time))
    }

    var isEmpty: Bool { blocks.isEmpty }

    /// The time of the next packet of the block whose data begin at a place, in ticks of its track; nil of others. A block may hold
    /// several packets (RFC 9559 10.3).
    ///
    /// - Parameter duration: how long the packet lasts.
    mutating func takeTime(at place: Int, lasting duration: Int64) -> Int64? {
        guard let block = blocks[place] else { return nil }
        blocks[place]?.time = Int64(clamping: Int128(block.time) + Int128(max(duration, 0)))
        return block.time
    }

    /// The earliest time of the track that has such a block at a place.
    func start(ofTrackWithBlockAt place: Int) -> Int64? { blocks[place].flatMap { starts[$0.track] } }
}
