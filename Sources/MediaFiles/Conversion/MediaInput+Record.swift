public import NALWriting
public import VideoBase

extension MediaInput {
    /// Reads a file that is an avcC or hvcC record.
    /// - Throws: `DescribedError`: `noInput`, `noPermission`, `badInput` for what is none.
    public static func decoderConfiguration(_ path: String, codec: VideoCodec? = nil) throws -> DecoderConfiguration {
        let reader = try ByteReader(path: path)
        // No record is that long: 31 SPS and 255 PPS, or three arrays, of 64 KiB at most each.
        let bytes = try reader.read(1 << 25)
        do { return try DecoderConfiguration(record: bytes, codec: codec) } catch {
            throw VaencError(.badInput, "\(reader.name): \(error.message)", remedy: error.remedy)
        }
    }
}
