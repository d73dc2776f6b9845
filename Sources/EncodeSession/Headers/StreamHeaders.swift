import EncodePlanning
import H264Syntax
import NALWriting
import VideoBase

/// The headers that hold for a whole stream, as values and as NAL units.
struct StreamHeaders: Sendable {
    let sps: SequenceParameterSet
    let pps: PictureParameterSet
    /// NAL units without start codes.
    let spsUnit: [UInt8]
    let ppsUnit: [UInt8]
    /// SEI with vaenc's name, for key frames.
    let identifier: SEIMessage?
    let accessUnitDelimiters: Bool
    /// max_num_reorder_frames.
    let reorderDepth: Int
    let hasLayers: Bool

    init(_ settings: EncodeSettings) {
        let intraOnly = settings.structure.keyInterval == 1
        var vui = VUIParameters(
            sampleAspectRatio: settings.sampleAspectRatio, color: settings.color, frameRate: settings.frameRate,
            fixedFrameRate: settings.hasFixedFrameRate, maxReorderFrames: settings.structure.reorderDepth, maxDecFrameBuffering: settings.structure.storage)
        vui.nal_hrd_parameters = settings.hrd
        var sps = SequenceParameterSet(
            profile: settings.profile, level: settings.level, size: settings.size, codedSize: settings.codedSize,
            references: settings.structure.storage, hasBFrames: settings.structure.bFrames > 0, vui: vui)
        sps.gaps_in_frame_num_value_allowed_flag = settings.structure.allowsFrameNumGaps
        self.sps = sps
        var pps = PictureParameterSet(
            profile: settings.profile, entropy: settings.entropy, transform8x8: settings.transform8x8,
            qp: intraOnly ? settings.qpI : settings.qpP, references: settings.structure.references)
        pps.num_ref_idx_l1_default_active = settings.structure.bFrames > 0 ? settings.structure.references1 : 1
        self.pps = pps
        spsUnit = sps.unit
        ppsUnit = pps.unit
        identifier = settings.identifier ? .identifier("vaenc \(vaencVersion) H.264 VA-API") : nil
        accessUnitDelimiters = settings.accessUnitDelimiters
        reorderDepth = settings.structure.reorderDepth
        hasLayers = settings.structure.temporalLayers > 1
    }
}

/// NAL units before the slices of a picture, without start codes.
struct LeadingUnits: Sendable, Hashable {
    var delimiter: [UInt8]?
    /// SPS and PPS.
    var parameterSets: [[UInt8]] = []
    /// All SEI messages, in one unit.
    var information: [UInt8]?

    var units: [[UInt8]] { (delimiter.map { [$0] } ?? []) + parameterSets + (information.map { [$0] } ?? []) }
}

extension PictureType {
    var sliceType: SliceType {
        switch self {
        case .idr, .i: .i
        case .p: .p
        case .b: .b
        }
    }
}
