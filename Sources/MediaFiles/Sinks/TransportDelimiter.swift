import NALUnits

/// Access unit delimiters of HEVC in MPEG-TS, which has one in each access unit (H.222.0 2.17.1). libavformat puts one before
/// each access unit that has none, always with TemporalId 0; H.265 7.4.2.2 asks for that of the access unit.
enum TransportDelimiter {
    /// The delimiter, behind a start code, that an access unit in Annex B form gets before libavformat takes it.
    ///
    /// - Returns: nil where it has one, and where libavformat's is right because TemporalId is 0: before key frames libavformat
    ///   puts parameter sets that they lack beside its own.
    static func missing(from accessUnit: Span<UInt8>) -> [UInt8]? {
        var index = 0
        while let pair = firstZeroPair(in: accessUnit, from: index) {
            index = pair + 2
            while index < accessUnit.count, accessUnit[index] == 0 { index += 1 }
            guard index + 2 < accessUnit.count, accessUnit[index] == 1 else { continue }
            let type = accessUnit[index + 1] >> 1 & 63
            if type == 35 { return nil }
            // The first slice: nothing is looked at behind its header.
            if type < 32 { return unit(secondByte: accessUnit[index + 2]).map { AnnexB.startCode + $0 } }
        }
        return nil
    }

    /// The delimiter's NAL unit, by the second byte of the first slice; nil where TemporalId is 0.
    static func unit(secondByte: UInt8) -> [UInt8]? {
        // nuh_temporal_id_plus1
        let id = secondByte & 7
        // pic_type 2: any slices.
        return id > 1 ? [35 << 1, id, 0x50] : nil
    }
}
