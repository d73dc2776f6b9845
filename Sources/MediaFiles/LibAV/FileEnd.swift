/// Whether a file ends before what its structure announces, for formats that say how long their parts are. libavformat
/// takes some of such files as whole: where it meets the end while it looks for the streams.
enum FileEnd {
    /// Matroska (RFC 8794, RFC 9559), the ISO base media file format (ISO/IEC 14496-12 4.2), AVI (OpenDML 1.02: several RIFF lists) and MPEG-TS (ISO/IEC 13818-1 2.4.3.2,
    /// whose packets alone have a size) are known; false for all others, and for what cannot be moved in. The reader's position stays.
    static func isEarly(_ reader: ByteReader) throws -> Bool {
        guard let length = reader.length else { return false }
        let start = reader.position
        defer { reader.seek(to: start) }
        func bytes(_ count: Int, at place: Int) throws -> [UInt8] {
            reader.seek(to: place)
            return try reader.read(min(count, max(0, length - place)))
        }
        let first = try bytes(12, at: start)
        if first.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return try matroska(start, length, bytes) }
        let brands = ["ftyp", "moov", "mdat", "free", "skip", "wide", "styp"]
        if first.count >= 8, brands.contains(String(decoding: first[4..<8], as: UTF8.self)) {
            return try boxes(start, length, bytes)
        }
        if first.count == 12, first.starts(with: "RIFF".utf8), first[8..<12].elementsEqual("AVI ".utf8) { return try lists(start, length, bytes) }
        return try transportPackets(start, length, bytes)
    }

    /// RIFF lists, whose sizes a program that cannot go back leaves at 0 or the largest number.
    private static func lists(_ start: Int, _ length: Int, _ bytes: Bytes) throws -> Bool {
        var place = start
        while place < length {
            let header = try bytes(8, place)
            guard header.count == 8, header.starts(with: "RIFF".utf8) else { return false }
            let size = header[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
            if size == 0 || size >= 0xFFFF_FFFE { return false }
            guard size <= length - place - 8 else { return true }
            place += 8 + size + size % 2
        }
        return false
    }

    private typealias Bytes = (_ count: Int, _ place: Int) throws -> [UInt8]

    /// A packet that is cut short is the last.
    private static func transportPackets(_ start: Int, _ length: Int, _ bytes: Bytes) throws -> Bool {
        guard let packets = TransportPackets(try bytes(TransportPackets.headSize + 1, start)) else { return false }
        let rest = packets.rest(length - start)
        return packets.isCut(try bytes(rest, length - rest))
    }

    private static func boxes(_ start: Int, _ length: Int, _ bytes: Bytes) throws -> Bool {
        var place = start
        while place < length {
            let header = try bytes(16, place)
            // What follows may be no box: padding, or another program's.
            guard header.count >= 8, header[4..<8].allSatisfy({ $0 >= 0x20 && $0 < 0x7F || $0 == 0xA9 }) else { return false }
            var size = number(header[0..<4])
            if size == 1 {
                guard header.count == 16 else { return true }
                size = number(header[8..<16])
            }
            // 0: up to the end of the file.
            if size < 8 { return false }
            guard size <= length - place else { return true }
            place += size
        }
        return false
    }

    private static func matroska(_ start: Int, _ length: Int, _ bytes: Bytes) throws -> Bool {
        let segment = 0x1853_8067
        let cluster = 0x1F43_B675
        var place = start
        while place < length {
            let head = try bytes(12, place)
            // What follows may be no element: padding, or another program's.
            guard let first = head.first, first >= 0x10 else { return false }
            guard let element = element(head) else { return head.count < 12 }
            place += element.headerSize
            guard let size = element.size else {
                // Of unknown size: a segment's elements follow, and a cluster's up to what begins with four bytes more.
                if element.id == segment || element.id == cluster { continue }
                return false
            }
            guard size <= length - place else { return true }
            place += size
        }
        return false
    }

    /// An element's head, whose first byte is from 0x10 on; nil where it is not all there, or no element. `size` nil:
    /// unknown.
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

    /// Big-endian; what does not fit is more than any file has.
    static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 >> 55 != 0 ? .max : $0 << 8 | Int($1) }
    }
}
