public import NALUnits
public import VideoBase

extension MediaInput {
    /// Reads a file that contains an avcC or hvcC record.
    /// - Throws: `DescribedError`: `noInput`, `noPermission`; `badInput` if the file is not a record.
    public static func decoderConfiguration(_ path: String, codec: VideoCodec? = nil) throws -> DecoderConfiguration {
        let reader = try ByteReader(path: path)
        // No record is longer: it has 31 SPS and 255 PPS, or three arrays, of at most 64 KiB each.
        let limit = 1 << 25
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let piece = try reader.readSome(min(1 << 16, limit - bytes.count))
            if piece.isEmpty { break }
            try bytes.makeRoom(for: piece.count, "to read \(reader.name)")
            bytes += piece
        }
        do { return try DecoderConfiguration(record: bytes, codec: codec) } catch {
            throw VaencError(.badInput, "\(reader.name): \(error.message)", remedy: error.remedy)
        }
    }
}
