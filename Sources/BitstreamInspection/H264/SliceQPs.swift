/// Reads the QP of H.264 slices from their headers, for a stream whose parameter sets do not change.
package struct SliceQPs: Sendable {
    /// The longest slice header that is read, in bytes.
    private static let headerLimit = 8192
    private var sequenceSets: [Int: H264SequenceParameterSet] = [:]
    private var pictureSets: [Int: H264PictureParameterSet] = [:]

    /// Reads the parameter sets.
    ///
    /// - Parameter parameterSets: The NAL units of the SPS and PPS, without start codes.
    /// - Returns: nil if one of them cannot be read.
    package init?(parameterSets: [[UInt8]]) {
        for unit in parameterSets {
            let rbsp = AnnexB.unescape(unit.dropFirst())
            do {
                switch (unit.first ?? 0) & 31 {
                case 7:
                    let set = try H264SequenceParameterSet(rbsp: rbsp)
                    sequenceSets[set.seq_parameter_set_id] = set
                case 8:
                    let sets = sequenceSets
                    let set = try H264PictureParameterSet(rbsp: rbsp) { sets[$0]?.chroma_format_idc }
                    pictureSets[set.pic_parameter_set_id] = set
                default: break
                }
            } catch { return nil }
        }
    }

    /// Returns SliceQPY (H.264 7-30) of a slice; nil if its header cannot be read.
    ///
    /// - Parameter unit: The NAL unit of the slice, without start code.
    package func qp(of unit: ArraySlice<UInt8>) -> Int? {
        let bytes = Array(unit.prefix(Self.headerLimit))
        let whole = AnnexB.Unit(whole: 0..<bytes.count, payload: 0..<bytes.count)
        guard let header = H264NALUnit(whole, in: bytes), header.type == 1 || header.type == 5 else { return nil }
        var reader = BitReader(AnnexB.unescape(bytes.dropFirst()))
        return try? H264SliceHeader(
            &reader, unit: header, pictureSet: { pictureSets[$0] }, sequenceSet: { sequenceSets[$0] }
        ).qp
    }
}
