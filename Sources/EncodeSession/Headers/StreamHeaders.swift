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
    /// SEI with vaenc's name; goes with the first picture.
    let identifierUnit: [UInt8]
    let accessUnitDelimiters: Bool

    init(_ settings: EncodeSettings) {
        let references = settings.structure.storage
        let intraOnly = settings.structure.keyInterval == 1
        let vui = VUIParameters(
            sampleAspectRatio: settings.sampleAspectRatio, color: settings.color, frameRate: settings.frameRate,
            maxReorderFrames: settings.structure.reorderDepth, maxDecFrameBuffering: references)
        sps = SequenceParameterSet(
            profile: settings.profile, level: settings.level, size: settings.size, codedSize: settings.codedSize,
            references: references, hasBFrames: settings.structure.bFrames > 0, vui: vui)
        pps = PictureParameterSet(
            profile: settings.profile, entropy: settings.entropy, transform8x8: settings.transform8x8,
            qp: intraOnly ? settings.qpI : settings.qpP, references: settings.structure.references)
        spsUnit = sps.unit
        ppsUnit = pps.unit
        identifierUnit = SEIMessage.unit([.identifier("vaenc \(vaencVersion) H.264 VA-API")])
        accessUnitDelimiters = settings.accessUnitDelimiters
    }

    /// The units that go before a picture's slices, in order.
    func units(for type: PictureType, isFirst: Bool) -> [[UInt8]] {
        var units: [[UInt8]] = []
        if accessUnitDelimiters { units.append(AccessUnitDelimiter.unit(for: type.sliceType)) }
        if type.isKey { units += [spsUnit, ppsUnit] }
        if isFirst { units.append(identifierUnit) }
        return units
    }
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
