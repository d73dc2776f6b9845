/// The blocks of a Matroska file with times before 0. A block's time is its cluster's time plus a difference, which may
/// be negative (RFC 9559 11.2). libavformat gives the packets of these blocks no time, or a guessed one.
struct NegativeTimeBlocks {
    private struct Block {
        /// The track number in the file.
        var track: Int
        /// The time in ticks of the track.
        var time: Int64
    }

    // The IDs of elements.
    private static let header = 0x1A45_DFA3
    private static let segment = 0x1853_8067
    private static let cluster = 0x1F43_B675
    private static let timestamp = 0xE7
    private static let simpleBlock = 0xA3
    private static let group = 0xA0
    private static let block = 0xA1
    /// The number of bytes that are read of an element: its head, and a cluster's time or a block's track and time.
    private static let headSize = 24
    /// A block is at most 2^15 ticks before its cluster.
    private static let lastClusterTime = 1 << 15
    /// The search for blocks before 0 ends after this number of consecutive blocks with times from 0 on.
    private static let searchLimit = 256
    /// The search also ends after this number of elements.
    private static let elementLimit = 1 << 16

    /// The blocks, by the offset of their data from the start of the file.
    private var blocks: [Int: Block] = [:]
    /// The earliest time of each track that has blocks before 0.
    private var starts: [Int: Int64] = [:]
    /// The time of the latest cluster; nil before the first.
    private var clusterTime: Int?
    /// The number of consecutive blocks with times from 0 on.
    private var blocksFromZero = 0
    /// The number of elements that were read.
    private var elements = 0
    /// The offset of the next element; nil if the search has ended.
    private var next: Int? = 0
    /// The number of bytes that have arrived (pipes only).
    private var count = 0
    /// The bytes from `next` on (pipes only).
    private var pending: [UInt8] = []

    /// Starts a search in the bytes of a pipe, which `append` receives.
    init() {}

    /// Searches the beginning of a file. The reader's position does not change. Nothing is read from a pipe.
    init(_ reader: ByteReader) throws {
        guard let length = reader.length else { return }
        let start = reader.position
        defer { reader.seek(to: start) }
        while let offset = next, offset < length - start {
            reader.seek(to: start + offset)
            take(try reader.read(min(Self.headSize, length - start - offset)), at: offset)
        }
        next = nil
    }

    /// Processes the next bytes of a pipe.
    mutating func append(_ bytes: Span<UInt8>) {
        guard let first = next else { return }
        let skipped = max(0, first - count)
        count += bytes.count
        guard skipped < bytes.count else { return }
        for index in skipped..<bytes.count { pending.append(bytes[index]) }
        var used = 0
        while let offset = next, pending.count - used >= Self.headSize {
            take(Array(pending[used..<used + Self.headSize]), at: offset)
            if let following = next { used += min(following - offset, pending.count - used) }
        }
        pending.removeFirst(used)
        if next == nil { pending = [] }
    }

    /// Processes the element that begins at `offset` with the bytes of `head`, and finds the next element.
    private mutating func take(_ head: [UInt8], at offset: Int) {
        next = nil
        elements += 1
        guard elements < Self.elementLimit, let first = head.first, first >= 0x10, let element = TruncationCheck.element(head)
        else { return }
        if offset == 0, element.id != Self.header { return }
        var length = element.headerSize
        // The elements inside segments, clusters and groups are processed too.
        if element.id == Self.cluster { clusterTime = nil }
        if ![Self.segment, Self.cluster, Self.group].contains(element.id) {
            guard let size = element.size else { return }
            let content = head[element.headerSize...]
            if element.id == Self.timestamp {
                let time = TruncationCheck.number(content.prefix(min(size, 8)))
                if time > Self.lastClusterTime { return }
                clusterTime = time
            }
            if element.id == Self.simpleBlock || element.id == Self.block {
                note(content, at: offset + element.headerSize)
                if blocksFromZero >= Self.searchLimit { return }
            }
            length += size
        }
        let (following, isOutside) = offset.addingReportingOverflow(length)
        next = isOutside ? nil : following
    }

    /// Processes a block. Its data begin with the track number and the time relative to the cluster (RFC 9559 10.1).
    private mutating func note(_ content: ArraySlice<UInt8>, at offset: Int) {
        guard let clusterTime, let first = content.first else { return }
        let bytes = Array(content)
        let length = first.leadingZeroBitCount + 1
        guard length <= 8, bytes.count >= length + 2 else { return }
        let track = TruncationCheck.number(bytes[..<length]) & (1 << (7 * length) - 1)
        let time = clusterTime + Int(Int16(bitPattern: UInt16(bytes[length]) << 8 | UInt16(bytes[length + 1])))
        guard time < 0 else {
            blocksFromZero += 1
            return
        }
        blocksFromZero = 0
        blocks[offset] = Block(track: track, time: Int64(time))
        starts[track] = min(starts[track] ?? 0, Int64(time))
    }

    var isEmpty: Bool { blocks.isEmpty }

    /// Returns the time of the next packet of the block whose data begin at `offset`, in ticks of its track; nil for
    /// other blocks. A block may contain several packets (RFC 9559 10.3).
    ///
    /// - Parameter duration: The packet's duration in ticks of the track.
    mutating func takeTime(at offset: Int, lasting duration: Int64) -> Int64? {
        guard let block = blocks[offset] else { return nil }
        blocks[offset]?.time = Int64(clamping: Int128(block.time) + Int128(max(duration, 0)))
        return block.time
    }

    /// Returns the earliest time of the track that has a block before 0 at `offset`.
    func start(ofTrackWithBlockAt offset: Int) -> Int64? { blocks[offset].flatMap { starts[$0.track] } }
}
