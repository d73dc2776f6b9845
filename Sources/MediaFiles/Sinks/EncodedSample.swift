import NALUnits
import VideoBase

extension EncodedPacket {
    /// Checks that an output can hold the packet.
    ///
    /// - Throws: `usage`.
    func check() throws(VaencError) {
        if bytes.isEmpty {
            throw VaencError(.usage, "a packet has no bytes", remedy: "append an access unit in Annex B format")
        }
        for (time, word) in [(presentation, "presentation"), (decode, "decoding")] where !time.isInRange {
            throw VaencError(
                .usage, "a packet's \(word) time \(time.value)/\(time.timescale) s is out of range",
                remedy: "use times from -2^40 to 2^40 seconds, with fewer than 2^62 ticks of a positive timescale")
        }
        if let duration, duration.value < 0 || !duration.isInRange {
            throw VaencError(
                .usage, "a packet's duration \(duration.value)/\(duration.timescale) s is out of range",
                remedy: "use a duration from 0 to 2^40 seconds, or nil")
        }
    }
}

/// Checks that packets arrive in decoding order, beginning with one at which decoding can begin.
struct PacketOrder {
    private var latest: MediaTime?

    /// - Parameters:
    ///   - packet: The next packet for the output.
    ///   - mustIncrease: Whether the output stores times, so that no two packets may have the same decoding time.
    /// - Throws: `usage` if its decoding time is before that of the previous packet, or if decoding cannot begin at the
    ///   first packet.
    mutating func check(_ packet: EncodedPacket, in path: String, mustIncrease: Bool) throws(VaencError) {
        if let latest, packet.decode < latest || mustIncrease && packet.decode == latest {
            throw VaencError(
                .usage, "a packet for \(path) has \(packet.decode < latest ? "an earlier" : "no later") decoding time than the packet before it",
                remedy: "append packets in decoding order")
        }
        if latest == nil, !packet.isKey, !packet.isRandomAccess {
            throw VaencError(
                .usage, "the first packet for \(path) is not a key frame, so decoders cannot start with it",
                remedy: "begin with a packet that has isRandomAccess true")
        }
        latest = packet.decode
    }
}

extension VideoCodec {
    /// Checks that a packet has this codec.
    /// - Throws: `usage` if it has another.
    func check(_ packet: EncodedPacket, in path: String) throws(VaencError) {
        guard packet.codec != self else { return }
        throw VaencError(
            .usage, "the packet is \(packet.codec.rawValue), but \(path) contains \(rawValue)",
            remedy: "start another output when the session changes its codec")
    }
}

extension SinkOptions {
    /// Checks the options.
    /// - Throws: `usage`.
    func check() throws(VaencError) {
        guard displayMatrix.isEmpty || displayMatrix.count == 9 else {
            throw VaencError(
                .usage, "displayMatrix has \(displayMatrix.count) numbers",
                remedy: "use nine, or none for upright pictures")
        }
        try Validation.validate(masteringDisplay: masteringDisplay)
        if let sampleAspectRatio { try Validation.validate(sampleAspectRatio: sampleAspectRatio) }
        if let timeOrigin, !timeOrigin.isInRange {
            throw VaencError(
                .usage, "timeOrigin \(timeOrigin.value)/\(timeOrigin.timescale) s is out of range",
                remedy: "use a time from -2^40 to 2^40 seconds, with fewer than 2^62 ticks of a positive timescale")
        }
    }
}

/// Converts an encoder's packets to the form in which containers store them.
enum EncodedSample {
    /// Returns the NAL units of a packet that a container with length-prefixed samples holds. Delimiters, which are
    /// useless there, and parameter sets that are in the header are left out.
    static func units(
        of packet: EncodedPacket, _ description: EncoderDescription, keepsParameterSets: Bool = false
    ) -> [Range<Int>] {
        let bytes = packet.bytes
        return packet.unitRanges.filter { range in
            let kind = NALUnitKind(header: bytes[range.lowerBound], description.codec)
            if kind == .accessUnitDelimiter { return false }
            let isInHeader =
                kind.isParameterSet && !keepsParameterSets
                && description.parameterSets.contains { $0.elementsEqual(bytes[range]) }
            return !isInHeader
        }
    }

    /// Whether a packet contains parameter sets that are not in the header. The samples of such a container cannot hold
    /// them.
    static func hasNewParameterSets(_ units: [Range<Int>], of packet: EncodedPacket) -> Bool {
        units.contains { NALUnitKind(header: packet.bytes[$0.lowerBound], packet.codec).isParameterSet }
    }

    static let noUnits = VaencError(
        .usage, "a packet has no NAL unit",
        remedy: "append an access unit in Annex B format, with a start code before each NAL unit")

    /// Returns the avcC or hvcC record; nil if required parameter sets are missing.
    static func record(_ description: EncoderDescription, keepsParameterSets: Bool) -> [UInt8]? {
        description.codec.decoderConfigurationRecord(description.parameterSets, isComplete: !keepsParameterSets)
    }
}
