public import NALUnits

/// The message with which a decoder's pictures can be verified.
extension SEIMessage {
    /// Creates decoded_picture_hash, D.2.19, with hash_type 0: the MD5 digests of the Y, Cb and Cr planes. It belongs
    /// in a suffix SEI unit.
    public static func pictureHash(_ digests: [MD5.Digest]) -> SEIMessage {
        SEIMessage(payloadType: 132, payload: [0] + digests.flatMap(\.bytes))
    }

    /// Returns the digest of a plane of 8-bit samples of the whole coded picture in raster order, with one byte per
    /// sample (D.3.19).
    public static func planeDigest(_ samples: some Sequence<UInt8>) -> MD5.Digest {
        var md5 = MD5()
        md5.append(samples)
        return md5.digest()
    }

    /// Returns the digest of a plane of samples of more than 8 bits, with two bytes per sample, the low byte first.
    public static func planeDigest(_ samples: some Sequence<UInt16>) -> MD5.Digest {
        var md5 = MD5()
        for sample in samples { md5.append([UInt8(truncatingIfNeeded: sample), UInt8(sample >> 8)]) }
        return md5.digest()
    }
}
