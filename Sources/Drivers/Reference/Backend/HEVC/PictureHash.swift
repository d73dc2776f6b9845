/// Makes the decoded picture hash SEI message (H.265 D.3.19) that follows each picture if VAENC_REFERENCE_HASH=md5.
enum PictureHash {
    /// Returns the suffix SEI NAL unit of a picture, with a start code. `layer` is the second byte of the NAL unit
    /// header, copied from the picture's slices.
    static func unit(_ picture: Reconstruction, layer: UInt8) -> [UInt8] {
        var hashes = [MD5(), MD5(), MD5()]
        let scale = picture.isWide ? 2 : 1
        let bytes = scale * picture.width
        let (row, other) = (ElementStorage<UInt8>(count: bytes, repeating: 0), ElementStorage<UInt8>(count: bytes, repeating: 0))
        for y in 0..<picture.height {
            picture.copyLumaRow(y, count: picture.width, to: row.elements)
            hashes[0].add((0..<bytes).lazy.map { row.elements[$0] })
        }
        for y in 0..<picture.height / 2 {
            picture.copyChromaRow(y, count: picture.width / 2, toCb: row.elements, cr: other.elements)
            hashes[1].add((0..<bytes / 2).lazy.map { row.elements[$0] })
            hashes[2].add((0..<bytes / 2).lazy.map { other.elements[$0] })
        }
        let digests = hashes.indices.flatMap { hashes[$0].finish() }
        // payloadType 132, payloadSize, hash_type 0, the three digests, rbsp_trailing_bits.
        let message = [132, UInt8(1 + digests.count), 0] + digests + [0x80]
        return EmulationPrevention.escape(message, after: [0, 0, 1, 40 << 1, layer])
    }
}
