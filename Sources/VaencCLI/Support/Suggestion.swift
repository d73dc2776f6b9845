import ArgumentParser
import Glibc
import VideoBase

/// Suggests what a person may have meant by an unknown word of a command line.
enum Suggestion {
    /// Options of FFmpeg, x264 and others that vaenc has under another name.
    private static let foreign: KeyValuePairs<String, String> = [
        "-b": "use --bitrate", "-b:v": "use --bitrate", "-vb": "use --bitrate", "-maxrate": "use --max-bitrate",
        "--vbv-maxrate": "use --max-bitrate", "-bufsize": "use --vbv-size", "--vbv-bufsize": "use --vbv-size",
        "-crf": "use --crf", "-cq": "use --quality", "-q": "use --quality", "-q:v": "use --quality", "-rc": "use --rate-control",
        "-rc_mode": "use --rate-control", "-qmin": "use --min-qp", "-qmax": "use --max-qp", "--qpmin": "use --min-qp",
        "--qpmax": "use --max-qp", "-c": "use --codec, or vaenc remux to copy", "-c:v": "use --codec, or vaenc remux to copy",
        "-vcodec": "use --codec", "--encoder": "use --codec",
        "-c:a": "use --audio", "-acodec": "use --audio", "-an": "use --audio none", "-sn": "use --subtitles none",
        "-map_metadata": "use --no-metadata", "-vaapi_device": "use --device", "-init_hw_device": "use --device",
        "-hwaccel_device": "use --device", "-r": "use --fps", "-framerate": "use --fps", "--frame-rate": "use --fps",
        "--framerate": "use --fps", "-s": "use --size, or --input-size for raw frames", "-video_size": "use --input-size",
        "--input-res": "use --input-size", "-pix_fmt": "use --input-format for raw frames, --bit-depth for the output",
        "--input-csp": "use --input-format", "-ss": "use --start", "--seek": "use --start", "-t": "use --duration",
        "-frames:v": "use --frames", "-vframes": "use --frames", "-g": "use --gop", "--keyint": "use --gop",
        "-keyint_min": "leave it out", "-bf": "use --bframes", "--b-frames": "use --bframes", "-refs": "use --refs",
        "--ref": "use --refs", "-force_key_frames": "use --force-key", "-profile:v": "use --profile",
        "-level:v": "use --level", "-tune": "leave it out, or use --low-latency", "--tune": "leave it out, or use --low-latency",
        "-f": "use --format", "-y": "use --overwrite", "-n": "leave it out: an existing file is kept without --overwrite",
        "-i": "name the input without an option", "--input": "name the input without an option",
        "-vf": "use --size and --fit to scale", "-filter:v": "use --size and --fit to scale",
        "-movflags": "use --format fmp4 for fragments", "--json-output": "use --json",
        "--audio": "leave it out: vaenc remux always copies sound, vaenc encode can encode it",
        "-threads": "leave it out", "-hide_banner": "leave it out", "-nostdin": "leave it out", "-hwaccel": "use --device",
        "-hwaccel_output_format": "leave it out", "-to": "use --duration with the length of the part",
        "--end": "use --duration with the length of the part", "--width": "use --size",
        "--resolution": "use --size", "--scale": "use --size",
        "--height": "use --size", "--deinterlace": "leave it out: interlaced pictures are always deinterlaced",
        "-c": "leave it out: vaenc remux copies every stream", "--codec": "leave it out: vaenc remux copies every stream",
        "-map": "leave it out: vaenc chooses the streams",
        "-x264-params": "use vaenc's own options", "-x265-params": "use vaenc's own options",
    ]

    /// Words of other programs for commands of vaenc.
    private static let foreignCommands = [
        "transcode": "encode", "compress": "encode", "record": "capture", "webcam": "capture", "camera": "capture", "copy": "remux",
        "mux": "remux", "demux": "remux", "cut": "remux", "trim": "remux", "benchmark": "bench", "test": "bench", "psnr": "compare",
        "ssim": "compare", "info": "inspect", "vainfo": "probe", "devices": "probe", "list": "probe", "show": "inspect",
        "analyze": "inspect", "dump": "inspect", "ffprobe": "inspect", "play": "decode",
    ]

    /// Returns what to do about an unknown option of a command, or of a command line without a command.
    static func remedy(forOption name: String, of command: (any ParsableCommand.Type)?) -> String {
        guard let command else { return "write a command first, such as vaenc encode INPUT -o OUTPUT; vaenc COMMAND --help lists the options" }
        let all = "vaenc \(command._commandName) --help lists the options"
        guard let options = try? CommandDescription(command).options else { return all }
        let known = options.filter { !$0.isHidden }.flatMap(\.names)
        let plain = name.drop { $0 == "-" }
        // `-bitrate` means `--bitrate`.
        if plain.count > 1, let same = known.first(where: { $0.drop { $0 == "-" } == plain }) { return "use \(same)" }
        for (key, remedy) in foreign where key == name || key.drop(while: { $0 == "-" }) == plain && plain.count > 1 {
            // The remedy may name an option that only another command has.
            let named = remedy.split { !$0.isLetter && $0 != "-" }.filter { $0.hasPrefix("--") }
            if named.allSatisfy({ known.contains(String($0)) }) { return remedy }
        }
        return nearest(to: name, of: known.filter { $0.hasPrefix("--") }).map { "did you mean \($0)?" } ?? all
    }

    /// Rejects a first word that is no command, and an unknown command after `help`: ArgumentParser answers `help
    /// encod` and `encod --help` with the general help.
    static func checkCommand(_ arguments: [String]) throws(VaencError) {
        guard let first = arguments.first, !first.hasPrefix("-") else { return }
        let words = first == "help" ? arguments.dropFirst().filter { !$0.hasPrefix("-") } : [first]
        guard let name = words.first else { return }
        let all = VaencCommand.configuration.subcommands
        if name != "help", !all.contains(where: { $0._commandName == name }) {
            throw VaencError.usage(
                name.isEmpty ? "the name of the command is empty" : "there is no command \(name)",
                remedy: remedy(forCommand: name, of: all.filter { $0.configuration.shouldDisplay }.map { $0._commandName }, first == "help"))
        }
        if words.count > 1 {
            throw VaencError.usage("help takes one command, not \(words.joined(separator: " "))", remedy: "write vaenc help \(name)")
        }
    }

    /// Returns what to do about a word that is no command.
    private static func remedy(forCommand name: String, of commands: [String], _ isHelp: Bool) -> String {
        if let known = foreignCommands[name] { return "use vaenc \(isHelp ? "help " : "")\(known)" }
        if let nearest = nearest(to: name, of: commands) { return "did you mean vaenc \(isHelp ? "help " : "")\(nearest)?" }
        // SAFETY: access only reads the string.
        let isFile = unsafe !isHelp && access(name, F_OK) == 0
        return isFile
            ? "it is a file; write a command first, such as vaenc encode \(name) -o OUTPUT"
            : "use one of \(commands.joined(separator: ", "))"
    }

    /// Returns the word with the smallest distance, at most one letter in three. Leading dashes are ignored.
    static func nearest(to word: String, of words: [String]) -> String? {
        let wanted = Array(word.drop { $0 == "-" })
        let limit = max(1, wanted.count / 3)
        // A word of one or two letters is close to every word.
        if wanted.count < 3 { return nil }
        let distances = words.map { (word: $0, distance: distance(wanted, Array($0.drop { $0 == "-" }))) }
        return distances.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.word
    }

    /// Returns the number of letters that are inserted, deleted, replaced or exchanged with their neighbor.
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
