import MediaFiles
import Vaenc

/// What becomes of the input's streams of sound in one output.
struct SoundPlan {
    /// Of each of the source's streams; nil: it is left out.
    private(set) var modes: [AudioMode?] = []
    /// Those that are not left out.
    private(set) var kept: [SourceSound] = []
    var entries: [EffectiveEntry] = []

    /// - Parameters:
    ///   - asked: nil: the packets as they are where the format holds them, else AAC, else none.
    ///   - best: of `sounds`, the one that a format with room for one gets.
    ///   - inputHasSound: whether it was read or not.
    ///   - fits: the sound goes with the pictures' times.
    /// - Throws: `usage` for what the format cannot hold.
    init(asked: AudioMode?, sounds: [SourceSound], best: Int, inputHasSound: Bool, format: OutputFormat, fits: Bool) throws {
        /// What is left out of sound that the input has differs from what is expected without a word, too.
        func none(_ why: String) -> EffectiveEntry {
            EffectiveEntry(option: "audio", asked: asked?.rawValue ?? "copied", used: "none", why: why)
        }
        if asked == AudioMode.none { return }
        if !format.holdsTracks {
            guard let asked else {
                if inputHasSound { entries = [none("\(format.rawValue) holds pictures alone")] }
                return
            }
            throw VaencError.usage(
                "--audio \(asked.rawValue): \(format.rawValue) holds pictures alone", remedy: "use mp4, mov, mkv, ts or flv")
        }
        if sounds.isEmpty {
            if asked != nil { entries = [none("the input has no sound")] }
            return
        }
        if !fits {
            entries = [none("--fps gives the pictures other times")]
            return
        }
        for (index, sound) in sounds.enumerated() {
            // The first goes by the name that the only one has.
            let option = entries.isEmpty ? "audio" : "audio of stream \(sound.stream ?? index)"
            if format == .flv, index != best {
                modes.append(nil)
                entries.append(
                    EffectiveEntry(option: option, asked: asked?.rawValue ?? "copied", used: "left out", why: "flv holds one stream of each kind"))
                continue
            }
            let (mode, used, why) = try Self.mode(of: sound.track, asked, format, isOnly: sounds.count == 1 || index == best)
            modes.append(mode)
            entries.append(EffectiveEntry(option: option, asked: asked?.rawValue ?? (mode == nil ? "copied" : nil), used: used, why: why))
        }
        kept = zip(sounds, modes).compactMap { sound, mode in mode == nil ? nil : sound }
    }

    /// - Parameter isOnly: without it there would be no sound, which is an error rather than a difference.
    private static func mode(
        of track: MediaTrack, _ asked: AudioMode?, _ format: OutputFormat, isOnly: Bool
    ) throws -> (AudioMode?, used: String, why: String) {
        let name = track.codecName
        let holds = try format.holds(track)
        if asked == .copy, !holds {
            throw VaencError.usage("\(format.rawValue) holds no \(format.words(for: track)) sound", remedy: "use --audio aac, or another format")
        }
        if asked != .aac, holds { return (.copy, "copy", "\(name), as it is") }
        guard isOnly || track.isDecodable else { return (nil, "left out", "libavcodec has no decoder for \(name)") }
        return (.aac, "aac", asked == nil ? "\(format.rawValue) holds no \(format.words(for: track))" : "as asked")
    }
}
