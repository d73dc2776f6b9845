import NALWriting
import VideoBase

/// An encoder's packets in the form in which containers hold them.
enum EncodedSample {
    /// Returns the NAL units of a packet that a container with length-prefixed samples holds: all but the parameter sets
    /// that its header has, and delimiters, which have no use there.
    static func units(
        of packet: EncodedPacket, _ description: EncoderDescription, keepsParameterSets: Bool = false
    ) -> [Range<Int>] {
        let bytes = packet.bytes
        return packet.unitRanges.filter { range in
            let header = bytes[range.lowerBound]
            let type = description.codec == .h264 ? header & 31 : header >> 1 & 63
            let isDelimiter = type == (description.codec == .h264 ? 9 : 35)
            let isParameterSet = description.codec == .h264 ? (7...8).contains(type) : (32...34).contains(type)
            if isDelimiter { return false }
            let isInHeader =
                isParameterSet && !keepsParameterSets
                && description.parameterSets.contains { $0.elementsEqual(bytes[range]) }
            return !isInHeader
        }
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
