import EncodePlanning
import NALUnits
import VideoBase

/// The NAL units that precede the slices of a picture, without start codes.
struct LeadingUnits: Sendable, Hashable {
    var delimiter: [UInt8]?
    /// VPS (HEVC only), SPS and PPS.
    var parameterSets: [[UInt8]] = []
    /// All SEI messages in one NAL unit.
    var information: [UInt8]?

    var units: [[UInt8]] { (delimiter.map { [$0] } ?? []) + parameterSets + (information.map { [$0] } ?? []) }
}

/// The SEI messages that are the same in every codec.
struct StreamMessages: Sendable {
    /// vaenc's name, for key frames.
    let identifier: SEIMessage?
    /// Mastering display and content light, for pictures at which decoding can begin.
    private let highDynamicRange: [SEIMessage]

    init(_ settings: EncodeSettings) {
        let light = settings.contentLight.map {
            SEIMessage.contentLightLevel(
                maxContent: $0.maxContentLight, maxPictureAverage: $0.maxFrameAverageLight)
        }
        highDynamicRange = [settings.masteringDisplay.map(SEIMessage.masteringDisplay), light].compactMap(\.self)
        identifier =
            settings.identifier
            ? .identifier("vaenc \(vaencVersion) \(settings.profile.codec.standardName) VA-API") : nil
    }

    /// Returns the messages of a picture in the order in which they are written.
    func messages(_ plan: FramePlan, _ options: FrameOptions) -> [SEIMessage] {
        let named = plan.type.isKey ? identifier.map { [$0] } ?? [] : []
        let range = plan.beginsBufferingPeriod ? highDynamicRange : []
        let ofPicture =
            SEIMessage.captions(options.captions) + options.userData.compactMap(SEIMessage.userData)
            + [SEIMessage.dynamicHDR(options.dynamicHDR)].compactMap(\.self)
        return named + range + ofPicture
    }
}
