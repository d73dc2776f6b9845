/// Detects files that end before the end that their structure announces, for formats that state the sizes of their
/// parts. libavformat accepts some of these files as complete, because it meets the end while it searches for the
/// streams.
enum TruncationCheck {
    /// Whether the file is truncated. Supports Matroska (RFC 8794, RFC 9559), the ISO base media file format (ISO/IEC
    /// 14496-12 4.2), AVI (OpenDML 1.02: several RIFF lists) and MPEG-TS (ISO/IEC 13818-1 2.4.3.2, where only packets
    /// have a size). Returns false for other formats, and if the reader cannot seek. The reader's position does not
    /// change.
    static func isTruncated(_ reader: ByteReader) throws -> Bool {
        guard let length = reader.length else { return false }
        let start = reader.position
        defer { reader.seek(to: start) }
        func bytes(_ count: Int, at offset: Int) throws -> [UInt8] {
            reader.seek(to: offset)
            return try reader.read(min(count, max(0, length - offset)))
        }
        let first = try bytes(12, at: start)
        if first.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return try matroska(start, length: length, bytes: bytes) }
        let brands = ["ftyp", "moov", "mdat", "free", "skip", "wide", "styp"]
        if first.count >= 8, brands.contains(String(decoding: first[4..<8], as: UTF8.self)) {
            return try boxes(start, length: length, bytes: bytes)
        }
        if first.count == 12, first.starts(with: "RIFF".utf8), first[8..<12].elementsEqual("AVI ".utf8) {
            // A chunk of silent sound contains only zeros too, so more bytes are checked.
            return try lists(start, length: length, bytes: bytes) || endsInZeros(65536, from: start, length: length, bytes: bytes)
        }
        let isStream = first.starts(with: [0, 0, 1]) || first.starts(with: [0, 0, 0, 1]) || first.starts(with: "FLV".utf8)
        if isStream { return try endsInZeros(4096, from: start, length: length, bytes: bytes) }
        return try transportPackets(start, length: length, bytes: bytes)
    }

    /// Whether the last bytes of a file are zeros: space that was reserved and never written, as in an unfinished
    /// download.
    private static func endsInZeros(_ count: Int, from start: Int, length: Int, bytes: Bytes) throws -> Bool {
        guard length - start > 2 * count else { return false }
        return try bytes(count, length - count).allSatisfy { $0 == 0 }
    }

    /// Checks RIFF lists. A program that cannot seek leaves their sizes at 0 or at the largest number.
    private static func lists(_ start: Int, length: Int, bytes: Bytes) throws -> Bool {
        var offset = start
        while offset < length {
            let header = try bytes(8, offset)
            guard header.count == 8, header.starts(with: "RIFF".utf8) else { return false }
            let size = header[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
            if size == 0 || size >= 0xFFFF_FFFE { return false }
            guard size <= length - offset - 8 else { return true }
            offset += 8 + size + size % 2
        }
        return false
    }

    private typealias Bytes = (_ count: Int, _ offset: Int) throws -> [UInt8]

    /// Whether the last packet is truncated.
    private static func transportPackets(_ start: Int, length: Int, bytes: Bytes) throws -> Bool {
        guard let packets = TransportPackets(try bytes(TransportPackets.headSize, start)) else { return false }
        let rest = packets.rest(length - start)
        return try packets.isCut(try bytes(rest, length - rest)) || endsInZeros(4096, from: start, length: length, bytes: bytes)
    }

    private static func boxes(_ start: Int, length: Int, bytes: Bytes) throws -> Bool {
        var offset = start
        while offset < length {
            let header = try bytes(16, offset)
            // The following bytes may be padding, or may belong to another program.
            guard header.count >= 8, header[4..<8].allSatisfy({ $0 >= 0x20 && $0 < 0x7F || $0 == 0xA9 }) else { return false }
            var size = number(header[0..<4])
            if size == 1 {
                guard header.count == 16 else { return true }
                size = number(header[8..<16])
            }
            // Size 0 means up to the end of the file.
            if size < 8 { return false }
            guard size <= length - offset else { return true }
            offset += size
        }
        return false
    }

    private static func matroska(_ start: Int, length: Int, bytes: Bytes) throws -> Bool {
        let segment = 0x1853_8067
        let cluster = 0x1F43_B675
        var offset = start
        while offset < length {
            let head = try bytes(12, offset)
            // The following bytes may be padding, or may belong to another program.
            guard let first = head.first, first >= 0x10 else { return false }
            guard let element = element(head) else { return head.count < 12 }
            offset += element.headerSize
            guard let size = element.size else {
                // The size is unknown: the elements inside a segment or a cluster follow, so continue with them.
                if element.id == segment || element.id == cluster { continue }
                return false
            }
            guard size <= length - offset else { return true }
            offset += size
        }
        return false
    }

    /// Reads the head of an element, whose first byte must be 0x10 or more. Returns nil if the head is incomplete or
    /// invalid. `size` is nil if it is unknown.
    static func element(_ bytes: [UInt8]) -> (id: Int, size: Int?, headerSize: Int)? {
        let idLength = bytes[0].leadingZeroBitCount + 1
        guard bytes.count > idLength, bytes[idLength] > 0 else { return nil }
        let sizeLength = bytes[idLength].leadingZeroBitCount + 1
        guard bytes.count >= idLength + sizeLength else { return nil }
        let size = number(bytes[idLength..<idLength + sizeLength]) & (1 << (7 * sizeLength) - 1)
        return (
            number(bytes[0..<idLength]), size == 1 << (7 * sizeLength) - 1 ? nil : size, idLength + sizeLength
        )
    }

    /// Reads a big-endian number. A number that does not fit becomes `Int.max`, which is larger than any file.
    static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 >> 55 != 0 ? .max : $0 << 8 | Int($1) }
    }
}
