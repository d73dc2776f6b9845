import H264Syntax
import HEVCSyntax
import NALUnits
import VideoBase

/// The SEI messages of a picture that the library does not write. They are inserted before the first slice.
struct PictureMessages: Sendable {
    private let messages: [SEIMessage]

    /// - Parameters:
    ///   - captions: cc_data of A/53.
    ///   - userData: Messages that each consist of a UUID and a payload.
    ///   - dynamicHDR: HDR10+ metadata from the country code on.
    init(captions: [UInt8], userData: [[UInt8]], dynamicHDR: [UInt8] = []) {
        messages =
            SEIMessage.captions(captions) + userData.compactMap(SEIMessage.userData)
            + [SEIMessage.dynamicHDR(dynamicHDR)].compactMap(\.self)
    }

    /// Creates the messages that each key frame has.
    init(keyFramesOf configuration: EncoderConfiguration) {
        messages = SEIMessage.highDynamicRange(configuration.display.masteringDisplay, configuration.display.contentLight)
    }

    /// Creates the message of a picture at which a pass of an HEVC intra refresh begins. After the pass, pictures are
    /// approximately correct.
    init(refreshOf pictureCount: Int) { messages = [.recoveryPoint(pocCount: pictureCount, isExact: false)] }

    private init(_ messages: [SEIMessage]) { self.messages = messages }

    static func + (a: PictureMessages, b: PictureMessages) -> PictureMessages {
        PictureMessages(a.messages + b.messages)
    }

    /// Returns the access unit with the messages, in Annex B form.
    func inserted(into packet: [UInt8], codec: VideoCodec) -> [UInt8] {
        if messages.isEmpty { return packet }
        let units = AnnexB.units(in: packet.span)
        let first = units.first { NALUnitKind(header: packet[$0.lowerBound], codec) == .slice }
        guard let first, first.count > 2 else { return packet }
        var result: [UInt8] = []
        for unit in units {
            if unit == first { AnnexB.append(self.unit(before: packet[first], codec: codec), to: &result) }
            AnnexB.append(packet[unit], to: &result)
        }
        return result
    }

    private func unit(before slice: ArraySlice<UInt8>, codec: VideoCodec) -> [UInt8] {
        switch codec {
        case .h264: return SEIMessage.unit(messages)
        case .hevc:
            // PREFIX_SEI_NUT, and the layer and sub-layer of its picture: HEVC 7.4.2.2.
            let prefix: UInt8 = 39
            var unit = [prefix << 1 | slice[slice.startIndex] & 1, slice[slice.startIndex + 1]]
            EmulationPrevention.append(SEIMessage.rbsp(messages).span, to: &unit)
            return unit
        }
    }
}
