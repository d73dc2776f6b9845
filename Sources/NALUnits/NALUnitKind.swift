package import VideoBase

/// The role of a NAL unit in its access unit, with common names for all codecs. It is derived from nal_unit_type
/// (H.264 Table 7-1, H.265 Table 7-1).
package enum NALUnitKind: Sendable, Hashable {
    /// A slice of H.264 or a slice segment of HEVC, of any type and layer.
    case slice
    case videoParameterSet, sequenceParameterSet, pictureParameterSet
    case accessUnitDelimiter
    /// SEI messages that precede the slices.
    case prefixSEI
    /// SEI messages that follow the slices. Only HEVC has them.
    case suffixSEI
    case filler
    case endOfSequence
    /// Any other type, including reserved types.
    case other

    /// Determines the kind from a header byte.
    ///
    /// - Parameter header: The first byte of the NAL unit, after the start code or the length.
    package init(header: UInt8, _ codec: VideoCodec) {
        self =
            switch codec {
            case .h264: Self.h264(header & 31)
            case .hevc: Self.hevc(header >> 1 & 63)
            }
    }

    /// Determines the kind of a NAL unit.
    ///
    /// - Parameter unit: A NAL unit without its start code. An empty unit is `other`.
    package init(of unit: some Collection<UInt8>, _ codec: VideoCodec) {
        guard let header = unit.first else {
            self = .other
            return
        }
        self.init(header: header, codec)
    }

    /// Determines the kind of a NAL unit in an array. Faster than the generic initializer.
    package init(of unit: ArraySlice<UInt8>, _ codec: VideoCodec) {
        self = if unit.isEmpty { .other } else { Self(header: unit[unit.startIndex], codec) }
    }

    private static func h264(_ nal_unit_type: UInt8) -> Self {
        switch nal_unit_type {
        case 1...5: .slice
        case 6: .prefixSEI
        case 7: .sequenceParameterSet
        case 8: .pictureParameterSet
        case 9: .accessUnitDelimiter
        case 10: .endOfSequence
        case 12: .filler
        default: .other
        }
    }

    private static func hevc(_ nal_unit_type: UInt8) -> Self {
        switch nal_unit_type {
        case ..<32: .slice
        case 32: .videoParameterSet
        case 33: .sequenceParameterSet
        case 34: .pictureParameterSet
        case 35: .accessUnitDelimiter
        case 36: .endOfSequence
        case 38: .filler
        case 39: .prefixSEI
        case 40: .suffixSEI
        default: .other
        }
    }

    /// Whether the NAL unit is a parameter set that a decoder configuration record contains.
    package var isParameterSet: Bool {
        switch self {
        case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet: true
        default: false
        }
    }
}

extension VideoCodec {
    /// The size of a NAL unit's header in bytes.
    package var nalUnitHeaderSize: Int {
        switch self {
        case .h264: 1
        case .hevc: 2
        }
    }
}
