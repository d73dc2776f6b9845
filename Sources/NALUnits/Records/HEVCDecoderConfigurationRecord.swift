/// The hvcC record, which a decoder needs before the first sample (ISO/IEC 14496-15 8.3.3.1).
package struct HEVCDecoderConfigurationRecord: Sendable, Hashable {
    /// The video parameter sets as NAL units without start codes.
    package var videoParameterSets: [[UInt8]]
    /// The sequence parameter sets as NAL units without start codes.
    package var sequenceParameterSets: [[UInt8]]
    /// The picture parameter sets as NAL units without start codes.
    package var pictureParameterSets: [[UInt8]]
    /// array_completeness: whether samples contain no parameter sets, as `hvc1` guarantees and `hev1` does not.
    package var isComplete: Bool
    /// The size of the length fields in samples.
    package var lengthSize = LengthSize.four
    private let fields: SequenceFields

    /// Creates a record from the parameter sets of a stream, in any order. Other NAL units are ignored.
    ///
    /// Returns nil if a kind of parameter set is missing, if there are more or longer ones than the record allows, or
    /// if the SPS ends before its bit depths.
    package init?(parameterSets: [[UInt8]], isComplete: Bool) {
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

    /// The bytes of the record.
    package var bytes: [UInt8] {
        // configurationVersion, then the twelve bytes from general_profile_space to general_level_idc, copied from the
        // SPS.
        var record: [UInt8] = [1] + fields.profileTierLevel
        // min_spatial_segmentation_idc and parallelismType are 0, which guarantees nothing.
        record += [0xF0, 0, 0xFC]
        record.append(0xFC | fields.chroma_format_idc)
        record.append(0xF8 | fields.bit_depth_luma_minus8)
        record.append(0xF8 | fields.bit_depth_chroma_minus8)
        // avgFrameRate and constantFrameRate are 0, which means unspecified.
        record += [0, 0]
        let nesting: UInt8 = fields.sps_temporal_id_nesting_flag ? 4 : 0
        record.append(fields.sps_max_sub_layers << 3 | nesting | UInt8(lengthSize.rawValue - 1))
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

    /// Sets array_completeness of all arrays of parameter sets.
    ///
    /// - Parameters:
    ///   - isComplete: Whether samples contain no parameter sets.
    ///   - range: The range of a record in `bytes`. Arrays that exceed it are ignored.
    package static func setComplete(_ isComplete: Bool, in bytes: inout [UInt8], _ range: Range<Int>) {
        func number(_ index: Int) -> Int { index + 2 <= range.upperBound ? Int(bytes[index]) << 8 | Int(bytes[index + 1]) : 0 }
        // The arrays follow 22 bytes and their number.
        var index = range.lowerBound + 23
        while index + 3 <= range.upperBound {
            if (32...34).contains(bytes[index] & 63) { bytes[index] = bytes[index] & 0x7F | (isComplete ? 0x80 : 0) }
            var count = number(index + 1)
            index += 3
            while count > 0, index + 2 <= range.upperBound {
                index += 2 + number(index)
                count -= 1
            }
        }
    }

    /// Appends a number of two bytes.
    private static func append(_ value: Int, to record: inout [UInt8]) {
        record.append(UInt8(value >> 8 & 0xFF))
        record.append(UInt8(value & 0xFF))
    }
}

/// The fields of an SPS that the record repeats, H.265 7.3.2.2.1.
private struct SequenceFields: Sendable, Hashable {
    /// The bytes from general_profile_space to general_level_idc.
    var profileTierLevel: [UInt8]
    var sps_max_sub_layers: UInt8
    var sps_temporal_id_nesting_flag: Bool
    var chroma_format_idc: UInt8
    var bit_depth_luma_minus8: UInt8
    var bit_depth_chroma_minus8: UInt8

    /// Parses an SPS. Returns nil if the NAL unit ends too early, or if it has values that the supported profiles do
    /// not allow.
    init?(_ unit: [UInt8]) {
        var bits = UnescapedBits(unit.dropFirst(2))
        bits.position += 4  // sps_video_parameter_set_id
        let sps_max_sub_layers_minus1 = bits.u(3)
        guard sps_max_sub_layers_minus1 < 7 else { return nil }
        sps_max_sub_layers = UInt8(sps_max_sub_layers_minus1 + 1)
        sps_temporal_id_nesting_flag = bits.flag()
        profileTierLevel = []
        for _ in 0..<12 { profileTierLevel.append(UInt8(bits.u(8))) }
        bits.skipSubLayers(sps_max_sub_layers_minus1)
        bits.ue()  // sps_seq_parameter_set_id
        let chroma = bits.ue()
        guard chroma <= 3 else { return nil }
        chroma_format_idc = UInt8(chroma)
        if chroma == 3 { bits.position += 1 }  // separate_colour_plane_flag
        // The width, the height, and the conformance window.
        bits.ue()
        bits.ue()
        if bits.flag() { for _ in 0..<4 { bits.ue() } }
        let (luma, color) = (bits.ue(), bits.ue())
        guard !bits.isExhausted, luma <= 7, color <= 7 else { return nil }
        bit_depth_luma_minus8 = UInt8(luma)
        bit_depth_chroma_minus8 = UInt8(color)
    }
}

extension UnescapedBits {
    /// Reads sps_seq_parameter_set_id, starting after the NAL unit header of an SPS, H.265 7.3.2.2.1.
    package mutating func sequenceParameterSetID() -> Int {
        position += 4  // sps_video_parameter_set_id
        let sps_max_sub_layers_minus1 = u(3)
        // sps_temporal_id_nesting_flag, and the general part of profile_tier_level().
        position += 1 + 12 * 8
        skipSubLayers(sps_max_sub_layers_minus1)
        return ue()
    }

    /// Skips the sub-layer part of profile_tier_level(), H.265 7.3.3.
    ///
    /// - Parameter count: sps_max_sub_layers_minus1.
    fileprivate mutating func skipSubLayers(_ count: Int) {
        if count == 0 { return }
        var byteCount = 0
        for layer in 0..<8 {
            let (hasProfile, hasLevel) = (u(1), u(1))
            if layer < count { byteCount += hasProfile * 11 + hasLevel }
        }
        position += byteCount * 8
    }
}
