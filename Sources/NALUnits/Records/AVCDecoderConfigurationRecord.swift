/// The avcC record, which a decoder needs before the first sample (ISO/IEC 14496-15 5.3.3.1).
package struct AVCDecoderConfigurationRecord: Sendable, Hashable {
    /// The sequence parameter sets as NAL units without start codes, 1…31 of them.
    package let sequenceParameterSets: [[UInt8]]
    /// The picture parameter sets as NAL units without start codes, 1…255 of them.
    package let pictureParameterSets: [[UInt8]]
    /// The size of the length fields in samples.
    package var lengthSize = LengthSize.four
    private let format: SampleFormat?

    /// Creates a record from the parameter sets of a stream, in any order. Other NAL units are ignored.
    ///
    /// Returns nil if there is no PPS, no SPS, or more or longer ones than the record allows, or if an SPS ends before
    /// its level (in the High profiles, before its bit depths).
    package init?(parameterSets: [[UInt8]]) {
        sequenceParameterSets = parameterSets.filter { $0.first.map { $0 & 0x1F } == 7 }
        pictureParameterSets = parameterSets.filter { $0.first.map { $0 & 0x1F } == 8 }
        guard (1...31).contains(sequenceParameterSets.count), (1...255).contains(pictureParameterSets.count),
            sequenceParameterSets.allSatisfy({ (4...0xFFFF).contains($0.count) }),
            pictureParameterSets.allSatisfy({ $0.count <= 0xFFFF })
        else { return nil }
        if SampleFormat.profiles.contains(sequenceParameterSets[0][1]) {
            guard let format = SampleFormat(sequenceParameterSets[0]) else { return nil }
            self.format = format
        } else {
            format = nil
        }
    }

    /// The bytes of the record.
    package var bytes: [UInt8] {
        let sps = sequenceParameterSets[0]
        // The bytes are configurationVersion, AVCProfileIndication, profile_compatibility, AVCLevelIndication and
        // lengthSizeMinusOne.
        var record: [UInt8] = [1, sps[1], sps[2], sps[3], 0xFC | UInt8(lengthSize.rawValue - 1)]
        record.append(0xE0 | UInt8(sequenceParameterSets.count))
        func append(_ set: [UInt8]) {
            record.append(UInt8(set.count >> 8))
            record.append(UInt8(set.count & 0xFF))
            record.append(contentsOf: set)
        }
        sequenceParameterSets.forEach(append)
        record.append(UInt8(pictureParameterSets.count))
        pictureParameterSets.forEach(append)
        if let format {
            record.append(0xFC | format.chroma_format_idc)
            record.append(0xF8 | format.bit_depth_luma_minus8)
            record.append(0xF8 | format.bit_depth_chroma_minus8)
            record.append(0)  // numOfSequenceParameterSetExt
        }
        return record
    }
}

/// The fields of a High profile SPS that the record repeats, H.264 7.3.2.1.1.
private struct SampleFormat: Sendable, Hashable {
    var chroma_format_idc: UInt8
    var bit_depth_luma_minus8: UInt8
    var bit_depth_chroma_minus8: UInt8

    /// The values of profile_idc for which the record has these fields.
    static let profiles: Set<UInt8> = [100, 110, 122, 144, 244]

    /// Parses an SPS. Returns nil if the NAL unit ends too early or a value is invalid.
    init?(_ unit: [UInt8]) {
        var bits = UnescapedBits(unit.dropFirst(4))
        bits.ue()  // seq_parameter_set_id
        let chroma = bits.ue()
        if chroma == 3 { bits.position += 1 }  // separate_colour_plane_flag
        let (luma, color) = (bits.ue(), bits.ue())
        guard !bits.isExhausted, chroma <= 3, luma <= 6, color <= 6 else { return nil }
        chroma_format_idc = UInt8(chroma)
        bit_depth_luma_minus8 = UInt8(luma)
        bit_depth_chroma_minus8 = UInt8(color)
    }
}
