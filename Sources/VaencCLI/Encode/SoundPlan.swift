import MediaFiles
import Vaenc

/// What becomes of the input's sound in one output.
struct SoundPlan {
    /// nil: none.
    var mode: AudioMode?
    var entry: EffectiveEntry?
    /// Of sound that is left out unasked.
    var notice: String?

    /// - Parameters:
    ///   - asked: nil: the packets as they are where the format holds them, else AAC, else none.
    ///   - inputHasSound: whether it was read or not.
    ///   - fits: the sound goes with the pictures' times.
    /// - Throws: `usage` for what the format cannot hold.
    init(asked: AudioMode?, sound: SourceSound?, inputHasSound: Bool, format: OutputFormat, fits: Bool) throws {
        func entry(_ used: String, _ why: String) -> EffectiveEntry {
            EffectiveEntry(option: "audio", asked: asked?.rawValue, used: used, why: why)
        }
        if asked == AudioMode.none { return }
        if !format.holdsTracks {
            guard let asked else {
                if inputHasSound { self.entry = entry("none", "\(format.rawValue) holds pictures alone") }
                return
            }
            throw VaencError.usage(
                "--audio \(asked.rawValue): \(format.rawValue) holds pictures alone", remedy: "use mp4, mov, mkv, ts or flv")
        }
        guard let sound else {
            if asked != nil { self.entry = entry("none", "the input has no sound") }
            return
        }
        if !fits {
            let why = "--fps gives the pictures other times"
            self.entry = entry("none", why)
            if asked == nil { notice = "the sound is left out: \(why)" }
            return
        }
        let holds = try format.holds(sound.track)
        let name = sound.track.codecName
        switch asked {
        case .copy? where !holds:
            throw VaencError.usage("\(format.rawValue) holds no \(name) sound", remedy: "use --audio aac, or another format")
        case .aac?: mode = .aac
        case .copy?: mode = .copy
        default: mode = holds ? .copy : .aac
        }
        self.entry =
            mode == .copy
            ? entry("copy", "\(name), as it is") : entry("aac", asked == nil ? "\(format.rawValue) holds no \(name)" : "as asked")
    }
}
