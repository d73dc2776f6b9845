/// avcC: what a decoder must know before the first sample (ISO/IEC 14496-15 5.3.3.1).
public struct AVCDecoderConfigurationRecord: Sendable, Hashable {
    /// Sequence parameter sets, NAL units without start codes; 1…31 of them.
    public var sequenceParameterSets: [[UInt8]]
    /// Picture parameter sets, NAL units without start codes; 1…255 of them.
    public var pictureParameterSets: [[UInt8]]
    /// chroma_format_idc and the bit depths, which the record repeats for the High profiles.
    public var chromaFormat = 1
    public var bitDepthLuma = 8
    public var bitDepthChroma = 8

    /// From the parameter sets of a stream in any order; other NAL units are ignored. nil unless there is an SPS that
    /// reaches to its level, a PPS, and no more than the record can count.
    public init?(parameterSets: [[UInt8]]) {
        sequenceParameterSets = parameterSets.filter { $0.first.map { $0 & 0x1F } == 7 }
        pictureParameterSets = parameterSets.filter { $0.first.map { $0 & 0x1F } == 8 }
        guard (1...31).contains(sequenceParameterSets.count), (1...255).contains(pictureParameterSets.count),
            sequenceParameterSets.allSatisfy({ (4...0xFFFF).contains($0.count) }),
            pictureParameterSets.allSatisfy({ $0.count <= 0xFFFF })
        else { return nil }
    }

    /// The record's bytes. Samples have four-byte lengths.
    public var bytes: [UInt8] {
        let sps = sequenceParameterSets[0]
        let profile = sps[1]
        // configurationVersion, AVCProfileIndication, profile_compatibility, AVCLevelIndication, lengthSizeMinusOne 3
        var record: [UInt8] = [1, profile, sps[2], sps[3], 0xFC | 3, 0xE0 | UInt8(sequenceParameterSets.count)]
        func append(_ set: [UInt8]) {
            record.append(UInt8(set.count >> 8))
            record.append(UInt8(set.count & 0xFF))
            record.append(contentsOf: set)
        }
        sequenceParameterSets.forEach(append)
        record.append(UInt8(pictureParameterSets.count))
        pictureParameterSets.forEach(append)
        if [100, 110, 122, 144].contains(profile) {
            record.append(0xFC | UInt8(chromaFormat & 3))
            record.append(0xF8 | UInt8((bitDepthLuma - 8) & 7))
            record.append(0xF8 | UInt8((bitDepthChroma - 8) & 7))
            record.append(0)  // numOfSequenceParameterSetExt
        }
        return record
    }
}
