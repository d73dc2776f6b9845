import VideoBase

/// Packets of a stream of sound that could not be decoded, or not whole.
struct DamagedSound {
    /// The stream's index in its file.
    var stream: Int
    var packets: Int

    var notice: String {
        """
        \(counted(packets, "packet")) of sound (stream \(stream)) \(packets == 1 ? "is" : "are") damaged and could not be decoded whole: \
        silence, or what libavcodec makes up, stands in
        """
    }

    /// What `--strict` says of the first one.
    static func refusal(_ stream: Int) -> VaencError {
        VaencError(
            .badInput, "strict: a packet of sound (stream \(stream)) is damaged and could not be decoded whole",
            remedy: "leave out `strict` to have silence there, or leave out the sound with `AudioMode.none`")
    }

    /// Of each stream once, though several outputs decode it.
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
