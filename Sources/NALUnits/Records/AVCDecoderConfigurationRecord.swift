/// avcC: what a decoder must know before the first sample (ISO/IEC 14496-15 5.3.3.1).
public struct AVCDecoderConfigurationRecord: Sendable, Hashable {
    /// Sequence parameter sets, NAL units without start codes; 1…31 of them.
    public let sequenceParameterSets: [[UInt8]]
    /// Picture parameter sets, NAL units without start codes; 1…255 of them.
    public let pictureParameterSets: [[UInt8]]
    /// Of the samples' lengths.
    public var lengthSize = LengthSize.four
    private let format: SampleFormat?

    /// From the parameter sets of a stream in any order; other NAL units are ignored. nil unless there is an SPS that
    /// reaches to its level (in the High profiles to its bit depths), a PPS, and no more than the record can count.
    public init?(parameterSets: [[UInt8]]) {
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

    /// The record's bytes.
    public var bytes: [UInt8] {
        let sps = sequenceParameterSets[0]
        // configurationVersion, AVCProfileIndication, profile_compatibility, AVCLevelIndication, lengthSizeMinusOne
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
            record += [0xFC | format.chroma, 0xF8 | format.lumaMinus8, 0xF8 | format.chromaMinus8]
            record.append(0)  // numOfSequenceParameterSetExt
        }
        return record
    }
}

/// What the record repeats of an SPS of the High profiles, H.264 7.3.2.1.1.
private struct SampleFormat: Sendable, Hashable {
    var chroma: UInt8
    var lumaMinus8: UInt8
    var chromaMinus8: UInt8

    /// Those whose record has these fields.
    static let profiles: Set<UInt8> = [100, 110, 122, 144, 244]

    /// nil where the NAL unit ends too early.
    init?(_ unit: [UInt8]) {
        var bits = UnescapedBits(unit.dropFirst(4))
        bits.ue()  // seq_parameter_set_id
        let chroma = bits.ue()
        if chroma == 3 { bits.position += 1 }  // separate_colour_plane_flag
        let (luma, colour) = (bits.ue(), bits.ue())
        guard !bits.isExhausted, chroma <= 3, luma <= 6, colour <= 6 else { return nil }
        self.chroma = UInt8(chroma)
        lumaMinus8 = UInt8(luma)
        chromaMinus8 = UInt8(colour)
    }
}
