import LibAV
import VideoBase

/// The errors of inputs that cannot be copied.
extension RemuxCopy {
    /// The error for an input that cannot be read further.
    func broken(_ words: String) -> VaencError {
        if LibAV.isNoMemory(words) { return VaencError.noMemory("to read \(input.name)") }
        if let growth = input.growth {
            return VaencError(
                .badInput, "\(input.name) ends after packet \(packetCount): \(growth)",
                remedy: ByteReader.growthRemedy)
        }
        if packetCount == 0, let remedy = input.pipeRemedy { return InputContext.unreadable(input.name, words, remedy: remedy) }
        return VaencError(
            .badInput, "\(input.name) is damaged or truncated after packet \(packetCount)\(range.printedReached) (\(words))",
            remedy: input.pipeRemedy
                ?? (packetCount == 0
                    ? "use a complete file, or encode it: decoding begins at the next key frame" : goodPartRemedy))
    }

    /// The error for a damaged packet.
    func damaged(_ packet: TrackPacket, _ index: Int, _ words: String) -> VaencError {
        let time = range.printed(packet.presentation ?? packet.decode)
        return VaencError(
            .badInput, "\(input.name) is damaged: packet \(packetCount) (stream \(index)\(time)): \(words)", remedy: goodPartRemedy)
    }

    /// The remedy for damage in the middle of the input, with the longest duration that ends before it.
    private var goodPartRemedy: String {
        goodDuration.map { "use a complete file, or copy only the good part with `duration` \($0)" } ?? "use a complete file"
    }

    /// The longest duration, in hundredths of a second, with which the copy ends before the next packet is read; nil if
    /// there is none.
    private var goodDuration: Double? {
        // `pass` ends the copy when the packets of all streams are past the end, or the leader's by more than 10 s.
        let timed = tracks.compactMap { $0 }.filter(\.isTimed)
        let ends = timed.compactMap(\.decoded)
        let common = ends.count == timed.count ? ends.min() : nil
        let margin = MediaTime(value: 10_010, timescale: 1000)
        let leaderLimit = leader.flatMap { tracks[$0]?.decoded }.map { $0 - margin }
        return [common, leaderLimit].compactMap { $0 }.max().flatMap { range.duration(endingBefore: $0) }
    }

    /// The error for pictures without a presentation time. AVI and MPEG program streams may have decoding times only,
    /// and with most codecs the presentation times are known only after decoding.
    var untimed: VaencError {
        // The stream itself contains the order of the pictures, and a reader of the bare stream computes the times.
        let bare = tracks.lazy.compactMap { $0 }.first { $0.isVideo }
            .flatMap { $0.track.codec?.fileExtension }
        return VaencError(
            .badInput, "\(input.name) lacks presentation times, which a container needs",
            remedy: bare.map {
                "use `Transcoder`, or copy the video into a .\($0) file, and then that file into the container"
            } ?? "use `Transcoder`")
    }
}
