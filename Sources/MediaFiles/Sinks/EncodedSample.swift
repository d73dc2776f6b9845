import NALWriting
import VideoBase

/// An encoder's packets in the form in which containers hold them.
enum EncodedSample {
    /// A packet as a container holds it, in length-prefixed form: without the parameter sets that its header has, and
    /// without delimiters, which have no use there.
    static func bytes(
        _ packet: [UInt8], _ description: EncoderDescription, keepsParameterSets: Bool = false
    ) -> [UInt8] {
        var sample: [UInt8] = []
        sample.reserveCapacity(packet.count)
        for range in AnnexB.units(in: packet.span) {
            let header = packet[range.lowerBound]
            let type = description.codec == .h264 ? header & 31 : header >> 1 & 63
            let isDelimiter = type == (description.codec == .h264 ? 9 : 35)
            let isParameterSet = description.codec == .h264 ? (7...8).contains(type) : (32...34).contains(type)
            if isDelimiter { continue }
            if isParameterSet, !keepsParameterSets,
                description.parameterSets.contains(where: { $0.elementsEqual(packet[range]) })
            {
                continue
            }
            LengthPrefixed.append(packet[range], to: &sample)
        }
        return sample
    }

    /// avcC or hvcC; nil where there are not all the parameter sets that it takes.
    static func record(_ description: EncoderDescription, keepsParameterSets: Bool) -> [UInt8]? {
        let sets = description.parameterSets
        return switch description.codec {
        case .h264: AVCDecoderConfigurationRecord(parameterSets: sets)?.bytes
        case .hevc: HEVCDecoderConfigurationRecord(parameterSets: sets, isComplete: !keepsParameterSets)?.bytes
        }
    }
}
