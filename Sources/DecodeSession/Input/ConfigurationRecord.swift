import VideoBase

/// The contents of a decoder configuration record: avcC (ISO/IEC 14496-15 5.3.3.1.2) or hvcC (8.3.3.1.2).
struct ConfigurationRecord {
    private(set) var lengthSize = 4
    /// The parameter sets in order, without lengths.
    private(set) var parameterSets: [[UInt8]] = []

    /// - Throws: `badInput` for bytes that are not a valid record.
    init(_ bytes: [UInt8], codec: VideoCodec) throws {
        var reader = Reader(bytes: bytes)
        do {
            switch codec {
            case .h264: try readAVC(&reader)
            case .hevc: try readHEVC(&reader)
            }
        } catch is Reader.Short {
            throw Self.broken(codec, "it is truncated")
        }
        if lengthSize == 3 { throw Self.broken(codec, "its length size is 3 bytes, which is invalid") }
    }

    private mutating func readAVC(_ reader: inout Reader) throws {
        guard try reader.byte() == 1 else { throw Self.broken(.h264, "its version is not 1") }
        for _ in 0..<3 { _ = try reader.byte() }
        lengthSize = try Int(reader.byte() & 3) + 1
        for count in [try reader.byte() & 31, nil] {
            for _ in 0..<(try count ?? reader.byte()) { parameterSets.append(try reader.unit()) }
        }
    }

    private mutating func readHEVC(_ reader: inout Reader) throws {
        // Some writers set the version to 0.
        guard try reader.byte() <= 1 else { throw Self.broken(.hevc, "its version is not 1") }
        for _ in 0..<20 { _ = try reader.byte() }
        lengthSize = try Int(reader.byte() & 3) + 1
        for _ in 0..<(try reader.byte()) {
            _ = try reader.byte()
            for _ in 0..<(try reader.word()) { parameterSets.append(try reader.unit()) }
        }
    }

    private static func broken(_ codec: VideoCodec, _ what: String) -> VaencError {
        VaencError(
            .badInput, "the \(codec.recordName) record is broken: \(what)",
            remedy: "use the record of the stream's own sample entry")
    }

    private struct Reader {
        struct Short: Error {}
        var bytes: [UInt8]
        var offset = 0

        mutating func byte() throws -> UInt8 {
            guard offset < bytes.count else { throw Short() }
            defer { offset += 1 }
            return bytes[offset]
        }

        mutating func word() throws -> Int { try Int(byte()) << 8 | Int(byte()) }

        mutating func unit() throws -> [UInt8] {
            let length = try word()
            guard length <= bytes.count - offset else { throw Short() }
            defer { offset += length }
            return Array(bytes[offset..<(offset + length)])
        }
    }
}
