import NALUnits

/// Access unit delimiters of HEVC in MPEG-TS, where each access unit has one (H.222.0 2.17.1). libavformat inserts one
/// before each access unit that has none, always with TemporalId 0. But H.265 7.4.2.2 requires the TemporalId of the
/// access unit.
enum TransportDelimiter {
    /// Returns the delimiter, with a start code, that must be inserted before libavformat receives an access unit in
    /// Annex B form.
    ///
    /// - Returns: The delimiter; nil if the access unit has one, or if TemporalId is 0. Then libavformat's delimiter is
    ///   correct, and before key frames libavformat inserts missing parameter sets together with its delimiter.
    static func missing(from accessUnit: Span<UInt8>) -> [UInt8]? {
        var index = 0
        while let pair = firstZeroPair(in: accessUnit, from: index) {
            index = pair + 2
            while index < accessUnit.count, accessUnit[index] == 0 { index += 1 }
            guard index + 2 < accessUnit.count, accessUnit[index] == 1 else { continue }
            let type = accessUnit[index + 1] >> 1 & 63
            if type == 35 { return nil }
            // This is the first slice. The bytes after its header are not read.
            if type < 32 { return unit(secondByte: accessUnit[index + 2]).map { AnnexB.startCode + $0 } }
        }
        return nil
    }

    /// Returns the delimiter's NAL unit for the second byte of the first slice; nil if TemporalId is 0.
    static func unit(secondByte: UInt8) -> [UInt8]? {
        // nuh_temporal_id_plus1.
        let id = secondByte & 7
        // pic_type 2 allows all slice types.
        return id > 1 ? [35 << 1, id, 0x50] : nil
    }
}
