import VideoBase

/// The packets of an audio stream that could not be decoded, or not completely.
struct DamagedSound {
    /// The stream's index in its file.
    var stream: Int
    var packets: Int

    var notice: String {
        """
        \(counted(packets, "packet")) of sound (stream \(stream)) \(packets == 1 ? "is" : "are") damaged and could not \
        be decoded completely: silence, or libavcodec's concealment, replaces the missing sound
        """
    }

    /// The error for the first damaged packet with `--strict`.
    static func refusal(_ stream: Int) -> VaencError {
        VaencError(
            .badInput, "strict: a packet of sound (stream \(stream)) is damaged and could not be decoded completely",
            remedy: "leave out `strict` to accept silence there, or leave out the sound with `AudioMode.none`")
    }

    /// Merges entries of several outputs, so that each stream appears once.
    static func merged(_ all: [DamagedSound]) -> [DamagedSound] {
        var merged: [DamagedSound] = []
        for sound in all {
            if let place = merged.firstIndex(where: { $0.stream == sound.stream }) {
                merged[place].packets = max(merged[place].packets, sound.packets)
            } else {
                merged.append(sound)
            }
        }
        return merged.sorted { $0.stream < $1.stream }
    }
}
