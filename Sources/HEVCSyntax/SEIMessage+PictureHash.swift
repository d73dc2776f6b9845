public import NALUnits

/// What a decoder's pictures must come to.
extension SEIMessage {
    /// decoded_picture_hash, D.2.19, with hash_type 0: the MD5 digests of the Y, Cb and Cr planes. It stands in a
    /// suffix unit.
    public static func pictureHash(_ digests: [MD5.Digest]) -> SEIMessage {
        SEIMessage(payloadType: 132, payload: [0] + digests.flatMap(\.bytes))
    }

    /// The digest of a plane of 8-bit samples in raster order, the whole coded picture's: D.3.19 takes a byte for each.
    public static func planeDigest(_ samples: some Sequence<UInt8>) -> MD5.Digest {
        var md5 = MD5()
        md5.append(samples)
        return md5.digest()
    }

    /// The digest of a plane of samples of more than 8 bits: two bytes for each, the low one first.
    public static func planeDigest(_ samples: some Sequence<UInt16>) -> MD5.Digest {
        var md5 = MD5()
        for sample in samples { md5.append([UInt8(truncatingIfNeeded: sample), UInt8(sample >> 8)]) }
        return md5.digest()
    }
}
