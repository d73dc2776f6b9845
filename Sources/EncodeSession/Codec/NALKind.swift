import H264Syntax
import HEVCSyntax
import NALUnits
import VideoBase

/// The codec-independent kind of a NAL unit.
enum NALKind: Sendable, Hashable {
    case slice, vps, sps, pps, delimiter
    /// SEI that precedes the slices.
    case information
    /// HEVC's SEI that follows the slices.
    case suffixInformation
    case filler, other

    /// - Parameter unit: a NAL unit without a start code.
    init(of unit: ArraySlice<UInt8>, _ codec: VideoCodec) {
        switch codec {
        case .h264: self.init(H264Syntax.NALUnitType(of: unit))
        case .hevc: self.init(HEVCSyntax.NALUnitType(of: unit))
        }
    }

    private init(_ type: H264Syntax.NALUnitType?) {
        self =
            switch type {
            case .slice, .idrSlice: .slice
            case .sequenceParameterSet: .sps
            case .pictureParameterSet: .pps
            case .accessUnitDelimiter: .delimiter
            case .sei: .information
            case .filler: .filler
            case .endOfSequence, .endOfStream, .prefix, nil: .other
            }
    }

    private init(_ type: HEVCSyntax.NALUnitType?) {
        self =
            switch type {
            case .videoParameterSet: .vps
            case .sequenceParameterSet: .sps
            case .pictureParameterSet: .pps
            case .accessUnitDelimiter: .delimiter
            case .prefixSEI: .information
            case .suffixSEI: .suffixInformation
            case .filler: .filler
            case .endOfSequence, .endOfBitstream, nil: .other
            default: .slice
            }
    }
}

/// Filler NAL units, which keep a constant rate.
enum Filler {
    /// Returns the minimum size of a filler NAL unit with its start code, header and trailing bits, in bytes.
    static func leastBytes(_ codec: VideoCodec) -> Int {
        AnnexB.startCode.count + unit(byteCount: 0, temporalLayer: 0, codec).count
    }

    /// Returns a filler NAL unit of `count` bytes, without a start code. It follows a picture's slices.
    static func unit(byteCount count: Int, temporalLayer: Int, _ codec: VideoCodec) -> [UInt8] {
        switch codec {
        case .h264: H264Syntax.FillerData.unit(byteCount: count)
        case .hevc: HEVCSyntax.FillerData.unit(byteCount: count, temporalID: temporalLayer)
        }
    }
}
