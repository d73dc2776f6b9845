import VideoBase

/// Detects tables of MP4 and QuickTime files that announce more entries than they have room for. libavformat would
/// first allocate memory for all of them, and then report that memory is missing.
enum BoxCounts {
    private static let containers: Set<String> = ["moov", "trak", "mdia", "minf", "stbl", "edts", "moof", "traf"]
    /// The size of an entry after version, flags and count, in bytes (ISO/IEC 14496-12 8.6 and 8.7).
    private static let entries = ["stts": 8, "ctts": 8, "stss": 4, "stps": 4, "stco": 4, "co64": 8, "stsc": 12, "elst": 12]
    /// The maximum number of boxes that are read.
    private static let boxLimit = 100_000

    /// Returns the message for the first such table; nil if none is found, or if the reader cannot seek. The reader's
    /// position does not change.
    static func fault(_ reader: ByteReader) -> String? {
        guard let length = reader.length else { return nil }
        let start = reader.position
        defer { reader.seek(to: start) }
        var left = boxLimit
        var ends = [length]
        var offset = 0
        while offset < length, left > 0 {
            left -= 1
            while let end = ends.last, ends.count > 1, offset >= end { ends.removeLast() }
            guard let box = try? Box(reader, at: offset, end: ends.last ?? length) else { return nil }
            if containers.contains(box.name) {
                ends.append(box.end)
                offset = box.content
                continue
            }
            if let count = box.count, count > box.room || count > length {
                return "the table \(box.name) states \(count) entries, but has space for \(min(box.room, length))"
            }
            offset = box.end
        }
        return nil
    }

    private struct Box {
        var name: String
        var content: Int
        var end: Int
        /// The number of entries that the box announces; nil for boxes that are not tables.
        var count: Int?
        /// The number of entries that fit into the box.
        var room = Int.max

        /// Reads the header of a box. Returns nil if no box begins at `offset`.
        init?(_ reader: ByteReader, at offset: Int, end limit: Int) throws {
            reader.seek(to: offset)
            let head = try reader.read(16)
            guard head.count >= 8 else { return nil }
            var size = BoxCounts.number(head[0..<4])
            name = String(decoding: head[4..<8], as: UTF8.self)
            content = offset + 8
            if size == 1, head.count == 16 {
                size = BoxCounts.number(head[8..<16])
                content += 8
            }
            if size == 0 { size = limit - offset }
            guard size >= content - offset, size <= limit - offset else { return nil }
            end = offset + size
            reader.seek(to: content)
            let full = try reader.read(min(12, end - content))
            guard full.count >= 8 else { return }
            let rest = end - content - 8
            if let entry = BoxCounts.entries[name] {
                count = BoxCounts.number(full[4..<8])
                room = rest / entry
            } else if name == "stsz", full.count == 12 {
                count = BoxCounts.number(full[8..<12])
                // Samples of equal size have no table.
                if full[4..<8].allSatisfy({ $0 == 0 }) { room = (rest - 4) / 4 }
            } else if name == "trun" {
                count = BoxCounts.number(full[4..<8])
                let flags = BoxCounts.number(full[1..<4])
                let words = [0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 }
                let before = [0x1, 0x4].count { flags & $0 != 0 }
                if words > 0 { room = max(0, rest - 4 * before) / (4 * words) }
            }
        }
    }

    /// Reads a big-endian number. A number that does not fit becomes `Int.max`, which is larger than any file.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 >> 55 != 0 ? .max : $0 << 8 | Int($1) } }
}
