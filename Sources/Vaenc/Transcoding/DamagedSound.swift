import VideoBase

/// The packets of an audio stream that are damaged.
struct DamagedSound {
    /// The stream's index in its file.
    var stream: Int
    var packets: Int
    /// Whether the packets are copied. Otherwise they could not be decoded, or not completely.
    var isCopied: Bool

    var notice: String {
        let subject = "\(counted(packets, "packet")) of sound (stream \(stream)) \(packets == 1 ? "is" : "are") damaged"
        if isCopied { return "\(subject) and \(packets == 1 ? "was" : "were") copied unchanged" }
        return """
            \(subject) and could not be decoded completely: silence, or libavcodec's concealment, replaces the missing \
            sound
            """
    }

    /// The error for the first damaged packet if `strict` is on.
    var strictError: VaencError {
        VaencError(
            .badInput, "strict: a packet of sound (stream \(stream)) is damaged\(isCopied ? "" : " and could not be decoded completely")",
            remedy: "leave out `strict` to accept \(isCopied ? "it" : "silence there"), or leave out the sound with `AudioMode.none`")
    }

    /// Merges entries of several outputs, so that each stream appears once for each mode.
    static func merged(_ all: [DamagedSound]) -> [DamagedSound] {
        var merged: [DamagedSound] = []
        for sound in all {
            if let index = merged.firstIndex(where: { $0.stream == sound.stream && $0.isCopied == sound.isCopied }) {
                merged[index].packets = max(merged[index].packets, sound.packets)
            } else {
                merged.append(sound)
            }
        }
        return merged.sorted { ($0.stream, $0.isCopied ? 1 : 0) < ($1.stream, $1.isCopied ? 1 : 0) }
    }
}
