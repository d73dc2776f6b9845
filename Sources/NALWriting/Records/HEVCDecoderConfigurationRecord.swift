/// hvcC: what a decoder must know before the first sample (ISO/IEC 14496-15 8.3.3.1).
public struct HEVCDecoderConfigurationRecord: Sendable, Hashable {
    /// NAL units without start codes, by type, in the order of the record's arrays.
    public var videoParameterSets: [[UInt8]]
    public var sequenceParameterSets: [[UInt8]]
    public var pictureParameterSets: [[UInt8]]
    /// array_completeness: samples hold no parameter sets, as `hvc1` promises and `hev1` does not.
    public var isComplete: Bool
    /// Of the samples' lengths.
    public var lengthSize = LengthSize.four
    private let fields: SequenceFields

    /// From the parameter sets of a stream in any order; other NAL units are ignored. nil unless there is one of each
    /// kind, none longer or more than the record can count, and an SPS that reaches to its bit depths.
    public init?(parameterSets: [[UInt8]], isComplete: Bool) {
        func sets(_ type: UInt8) -> [[UInt8]] { parameterSets.filter { $0.count > 2 && $0[0] >> 1 & 63 == type } }
        videoParameterSets = sets(32)
        sequenceParameterSets = sets(33)
        pictureParameterSets = sets(34)
        self.isComplete = isComplete
        guard let sps = sequenceParameterSets.first, let fields = SequenceFields(sps) else { return nil }
        self.fields = fields
        for sets in [videoParameterSets, sequenceParameterSets, pictureParameterSets] {
            guard (1...0xFFFF).contains(sets.count), sets.allSatisfy({ $0.count <= 0xFFFF }) else { return nil }
        }
    }

    /// The record's bytes.
    public var bytes: [UInt8] {
        // configurationVersion, then the twelve bytes of general_profile_space to general_level_idc as the SPS has them.
        var record: [UInt8] = [1] + fields.profileTierLevel
        // min_spatial_segmentation_idc and parallelismType 0: nothing is promised of either.
        record += [0xF0, 0, 0xFC]
        record.append(0xFC | fields.chromaFormat)
        record.append(0xF8 | fields.bitDepthLumaMinus8)
        record.append(0xF8 | fields.bitDepthChromaMinus8)
        // avgFrameRate and constantFrameRate 0: not said here.
        record += [0, 0]
        record.append(fields.temporalLayers << 3 | (fields.isTemporalIDNested ? 4 : 0) | UInt8(lengthSize.rawValue - 1))
        let arrays: [(type: UInt8, sets: [[UInt8]])] = [
            (32, videoParameterSets), (33, sequenceParameterSets), (34, pictureParameterSets),
        ]
        record.append(UInt8(arrays.count))
        for array in arrays {
            record.append((isComplete ? 0x80 : 0) | array.type)
            Self.append(array.sets.count, to: &record)
            for set in array.sets {
                Self.append(set.count, to: &record)
                record += set
            }
        }
        return record
    }

    private static func append(_ value: Int, to record: inout [UInt8]) {
        record.append(UInt8(value >> 8 & 0xFF))
        record.append(UInt8(value & 0xFF))
    }
}

/// What the record repeats of an SPS, H.265 7.3.2.2.1.
private struct SequenceFields: Sendable, Hashable {
    /// From general_profile_space to general_level_idc.
    var profileTierLevel: [UInt8]
    var temporalLayers: UInt8
    var isTemporalIDNested: Bool
    var chromaFormat: UInt8
    var bitDepthLumaMinus8: UInt8
    var bitDepthChromaMinus8: UInt8

    /// nil where the NAL unit ends too early, or holds what Main and its kin do not have.
    init?(_ unit: [UInt8]) {
        var bits = UnescapedBits(unit.dropFirst(2))
        // sps_video_parameter_set_id
        guard bits.u(4) != nil, let subLayers = bits.u(3), subLayers < 7, let nested = bits.u(1) else { return nil }
        temporalLayers = UInt8(subLayers + 1)
        isTemporalIDNested = nested == 1
        profileTierLevel = []
        for _ in 0..<12 {
            guard let byte = bits.u(8) else { return nil }
            profileTierLevel.append(UInt8(byte))
        }
        guard bits.skipSubLayers(subLayers) else { return nil }
        // sps_seq_parameter_set_id
        guard bits.ue() != nil, let chroma = bits.ue(), chroma <= 3 else { return nil }
        chromaFormat = UInt8(chroma)
        // separate_colour_plane_flag; the width, the height; the conformance window
        if chroma == 3, bits.u(1) == nil { return nil }
        guard bits.ue() != nil, bits.ue() != nil, let hasWindow = bits.u(1) else { return nil }
        if hasWindow == 1 { for _ in 0..<4 where bits.ue() == nil { return nil } }
        guard let luma = bits.ue(), let colour = bits.ue(), luma <= 7, colour <= 7 else { return nil }
        bitDepthLumaMinus8 = UInt8(luma)
        bitDepthChromaMinus8 = UInt8(colour)
    }
}

extension UnescapedBits {
    /// sps_seq_parameter_set_id, from behind the header of an SPS on, H.265 7.3.2.2.1.
    package mutating func sequenceParameterSetID() -> Int? {
        // sps_video_parameter_set_id
        guard u(4) != nil, let subLayers = u(3), u(1) != nil else { return nil }
        for _ in 0..<12 where u(8) == nil { return nil }
        return skipSubLayers(subLayers) ? ue() : nil
    }

    /// The rest of profile_tier_level(), H.265 7.3.3.
    fileprivate mutating func skipSubLayers(_ count: Int) -> Bool {
        if count == 0 { return true }
        var sizes: [Int] = []
        for layer in 0..<8 {
            guard let hasProfile = u(1), let hasLevel = u(1) else { return false }
            if layer < count { sizes += [hasProfile * 11, hasLevel] }
        }
        for _ in 0..<sizes.reduce(0, +) where u(8) == nil { return false }
        return true
    }
}
