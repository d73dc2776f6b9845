import MediaFiles
import VideoBase

/// The treatment of the input's sound streams in one output.
struct SoundPlan {
    /// The mode of each of the source's streams; nil for a stream that is left out.
    private(set) var modes: [AudioMode?] = []
    /// The streams that are not left out.
    private(set) var includedSounds: [SourceSound] = []
    var entries: [EffectiveEntry] = []

    /// Plans the sound of an output.
    ///
    /// - Parameters:
    ///   - asked: The requested mode. Nil copies packets that the format can hold, otherwise encodes AAC, otherwise
    ///     leaves the stream out.
    ///   - best: The index in `sounds` of the stream for a format that holds only one.
    ///   - inputHasSound: Whether the input has sound, read or not.
    ///   - isUnread: Whether the input has sound that the source does not read.
    ///   - fits: Whether the sound matches the times of the pictures.
    /// - Throws: `usage` for a request that the format cannot hold.
    init(asked: AudioMode?, sounds: [SourceSound], best: Int, inputHasSound: Bool, isUnread: Bool, format: OutputFormat, fits: Bool) throws {
        /// Audio that is left out is a difference even if no mode was requested.
        func none(_ why: SettingReason) -> EffectiveEntry {
            EffectiveEntry(option: "audio", asked: asked?.rawValue ?? EffectiveEntry.copied, used: "none", why: why)
        }
        if asked == AudioMode.none { return }
        if !format.holdsTracks {
            guard let asked else {
                if inputHasSound { entries = [none("\(format.rawValue) holds only video")] }
                return
            }
            throw VaencError(
                .usage, "`Transcoder.Output.audio` \(asked.rawValue) does not apply to \(format.rawValue), which holds only video",
                remedy: "use mp4, mov, mkv, ts or flv")
        }
        if sounds.isEmpty {
            if asked != nil { entries = [none(isUnread ? "`SourceOptions.readsSound` is off" : "the input has no sound")] }
            return
        }
        if !fits {
            entries = [none("`frameRate` changes the times of the pictures")]
            return
        }
        for (index, sound) in sounds.enumerated() {
            // The first entry has the same name as a single one.
            let option = entries.isEmpty ? "audio" : "audio of stream \(sound.stream ?? index)"
            if format == .flv, index != best {
                modes.append(nil)
                entries.append(
                    EffectiveEntry(
                        option: option, asked: asked?.rawValue ?? EffectiveEntry.copied, used: "left out", why: "flv holds one stream of each kind"))
                continue
            }
            let (mode, used, why) = try Self.mode(of: sound.track, asked, format, isOnly: sounds.count == 1 || index == best)
            modes.append(mode)
            entries.append(
                EffectiveEntry(option: option, asked: asked?.rawValue ?? (mode == nil ? EffectiveEntry.copied : nil), used: used, why: why))
        }
        includedSounds = zip(sounds, modes).compactMap { sound, mode in mode == nil ? nil : sound }
    }

    /// Plans the sound of a transcoder's output.
    init(_ output: Transcoder.Output, _ source: any FrameSource, fits: Bool) throws {
        let best = source.sound.flatMap { best in source.sounds.firstIndex { $0.track === best.track } }
        try self.init(
            asked: output.audio, sounds: source.sounds, best: best ?? 0, inputHasSound: source.info.hasSound,
            isUnread: source.info.hasSound && !source.info.readsSound, format: output.format(), fits: fits)
        // Microphone sound is encoded as it arrives.
        if source is CameraSource, output.audio == nil, modes.first == .copy {
            entries = [EffectiveEntry(option: "audio", asked: nil, used: "aac", why: "from the microphone")]
        }
    }

    /// Chooses the mode of one stream.
    ///
    /// - Parameter isOnly: Whether the output has no sound without this stream. A missing decoder is then an error and
    ///   not a difference.
    private static func mode(
        of track: MediaTrack, _ asked: AudioMode?, _ format: OutputFormat, isOnly: Bool
    ) throws -> (AudioMode?, used: String, why: SettingReason) {
        let name = track.codecName
        let holds = try format.holds(track)
        // FLV has numbers for PCM and old codecs, but servers and players expect AAC or MP3.
        if asked == nil, format == .flv, holds, track.isDecodable, !["aac", "mp3"].contains(name) {
            return (.aac, "aac", "servers and players of flv expect AAC or MP3")
        }
        if asked == .copy, !holds {
            throw VaencError(
                .usage, "\(format.rawValue) holds no \(format.words(for: track)) sound", remedy: "use `AudioMode.aac`, or another format")
        }
        if asked != .aac, holds { return (.copy, "copy", "\(name), unchanged") }
        guard isOnly || track.isDecodable else { return (nil, "left out", "libavcodec has no decoder for \(name)") }
        return (.aac, "aac", asked == nil ? "\(format.rawValue) holds no \(format.words(for: track))" : .requested)
    }
}
