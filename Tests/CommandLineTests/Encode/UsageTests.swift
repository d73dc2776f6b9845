import TestOracles
import Testing

/// Options that are repeated, misspelled or from other programs, and the options that help and messages name.
@Suite struct UsageTests {
    private func vaenc(_ line: String, in folder: String? = nil) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, line.split(separator: " ").map(String.init), directory: folder)
    }

    private static let inputs = [
        "encode": ["in.y4m"], "capture": ["/dev/video99"], "remux": ["in.mp4"], "decode": ["in.mp4"], "convert": ["in.h264"],
        "inspect": ["in.h264"], "compare": ["a.mp4", "b.mp4"], "bench": ["in.mp4"],
    ]

    /// A file name that begins with a dash is parsed as options: the error says what to write.
    @Test(arguments: [
        "remux in.mp4 -o -x.mp4", "remux -x.mp4 -o y.mp4", "encode in.mp4 -o -x.h264", "decode in.mp4 -o -x.y4m", "compare a.mp4 -b.mp4",
    ])
    func namesWithADashGetAHint(_ line: String) throws {
        let result = try vaenc(line)
        let name = line.split(separator: " ").first { $0.hasPrefix("-") && $0.contains(".") } ?? ""
        #expect(result.status == 64 && result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains("\(name) begins with a dash") && result.errors.contains("./\(name)"), "\(result.errors)")
    }

    // MARK: Repeated options

    /// Repeats each option that takes one value, by each of its names, in every command. No file is read or written.
    @Test(arguments: try CommandOptions.all().map(\.command)) func repeatedOptionIsRefused(_ command: String) throws {
        let description = try #require(try CommandOptions.all().first { $0.command == command })
        try Files.withTemporaryFolder { folder in
            for option in description.options where option.takesValue && !option.isRepeatable {
                let names = [option.names[0], option.names[option.names.count - 1]]
                let output = ["remux", "decode", "convert"].contains(command) && !option.names.contains("-o") ? ["-o", "out.h264"] : []
                let arguments = [command] + (Self.inputs[command] ?? []) + output + names.flatMap { [$0, option.value] }
                let result = try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(arguments): \(result.errors)")
                #expect(result.errors.contains("was used 2 times (\(option.value), \(option.value))"), "\(arguments): \(result.errors)")
                #expect(option.names.contains { result.errors.contains($0) }, "\(arguments): \(result.errors)")
            }
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// The repeatable options are those that the documentation lists.
    @Test func repeatableOptionsMatchTheDocumentation() throws {
        let repeatable = Set(try CommandOptions.all().flatMap(\.options).filter { $0.isRepeatable && $0.takesValue }.flatMap(\.names))
        #expect(repeatable == ["-o", "--output", "--change-bitrate", "--data-rate-limit", "--roi", "--switch-to"])
        let text = String(decoding: try Files.read(Checkout.root + "/docs/CLI.md"), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.contains("may be repeated are") })
        for name in repeatable where name != "--output" { #expect(text.contains("`\(name)`"), "\(name): \(line)") }
    }

    /// With a rate for each of two outputs, the second would apply to both.
    @Test(arguments: [
        "-o a.h264 --bitrate 300k -o b.h264 --bitrate 600k", "-o a.h264 --bitrate=300k --bitrate=600k", "-o a.h264 --qp 30 --qp=30",
        "-o a.h264 --crf 30 --quality 20", "-o a.h264 --b-pyramid --no-b-pyramid",
        "-o a.h264 --change-bitrate 5=1M --change-bitrate 5=2M --bitrate 1M",
        "-o a.h264 --change-bitrate 5==1M --bitrate 1M", "-o a.h264 --bitrate 0x30k",
    ])
    func contradictingOptionsAreRefused(_ options: String) throws {
        try Files.withTemporaryFolder { folder in
            let result = try vaenc("encode testsrc:64x48@25:2 --device software \(options)", in: folder)
            #expect(result.status == 64 && result.errorLines.count == 1, "\(result.errors)")
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// Values that look like options, and repeatable options.
    @Test(arguments: [
        "-o a.h264 -o b.h264 --roi 0,0,32x32:-4 --roi 32,0,32x32:4", "-o a.h264 --strict --bframes 0 --strict",
        "-o a.h264 --bitrate 1M --data-rate-limit 900000/1 --data-rate-limit 1800000/2 --change-bitrate 1=2M --change-bitrate 2=1M",
        "-o a.h264 --qp 30 --qp-i 30 --qp-b 30",
    ])
    func repeatableOptionsAreAccepted(_ options: String) throws {
        try Files.withTemporaryFolder { folder in
            let result = try vaenc("encode testsrc:64x48@25:3 --device reference \(options)", in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    // MARK: Misspelled options, and options of other programs

    @Test(arguments: [
        ("encode x -b:v 3M", "use --bitrate"), ("encode x -crf 20", "use --crf"), ("encode x --bframs 2", "did you mean --bframes?"),
        ("encode x -c:v libx264", "use --codec, or vaenc remux to copy"), ("encode x --btirate 3M", "did you mean --bitrate?"),
        ("encode x -bitrate 3M", "use --bitrate"),
        ("encode x -o y.mp4 -threads 4", "unknown option -threads: leave it out"), ("encode x -hide_banner -o y.mp4", "leave it out"),
        ("encode x -hwaccel vaapi -o y.mp4", "use --device"), ("encode -vh", "unknown option -vh"), ("encode -help", "use --help"),
        ("remux x -threads 2 -o y.mp4", "unknown option -threads"), ("encode -vh.mp4 -o y.mp4", "write ./-vh.mp4 if it is a file's name"),
        ("encode -- -x.mp4 -o y.mp4", "-o follows --, after which every word is a file's name"),
        ("encode x -vcodec hevc -o y.mp4", "unknown option -vcodec: use --codec"), ("encode x -to 5", "use --duration"),
        ("-vh", "unknown option -vh: write a command first"), ("help -threads", "unknown option -threads"),
        ("encode x --qp -x5 -o y.mp4", "--qp -x5 is not"),
        ("encode x -movflags +faststart -o y.mp4", "unknown option -movflags: use --format fmp4"),
        ("remux x -c copy -o y.mp4", "vaenc remux copies every stream"), ("remux x --codec copy -o y.mp4", "vaenc remux copies every stream"),
        ("encode x -an", "use --audio none"), ("encode x -y", "use --overwrite"), ("encode x --zork", "vaenc encode --help lists the options"),
        ("encode -i x", "name the input without an option"), ("encode x --keyint 50", "use --gop"), ("encode x -ss 3", "use --start"),
        ("remux x -o y.mp4 --crf 20", "vaenc remux --help lists the options"),
        ("encode x --preset ultrafast -o y.mp4", "slow (2), medium (4) or fast (6)"),
        ("encod f", "did you mean vaenc encode?"), ("enocde f", "did you mean vaenc encode?"), ("Decode f", "did you mean vaenc decode?"),
        ("xyzzy", "use one of probe, encode"), ("--zork", "vaenc COMMAND --help"),
        ("decode x -o y.y4m --audio none", "vaenc remux always copies sound"),
        ("encode x --codec mpeg2 -o y.mp4", "--codec mpeg2 is not known: use auto, h264 or hevc"),
        ("encode x --profile high10 -o y.mp4", "or main or main10 of HEVC"),
        ("encode x --codec h264 --profile high10 -o y.mp4", "not a profile of H.264"),
        ("help encod", "did you mean vaenc help encode?"), ("encod --help", "did you mean vaenc encode?"),
        ("help xyzzy -h", "use one of probe, encode"),
        ("help encode decode", "help takes one command, not encode decode: write vaenc help encode"),
        ("encod --version", "did you mean vaenc encode?"),
    ])
    func unknownOptionsGetASuggestion(_ line: String, _ words: String) throws {
        let result = try vaenc(line)
        #expect(result.status == 64 && result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
    }

    /// The error names the refused value and the remedy.
    @Test(arguments: [
        ("encode x --qp nan -o y.mp4", "--qp nan is not a whole number: write it with digits only, such as --qp 4"),
        ("encode x --slices 2.5 -o y.mp4", "--slices 2.5 is not a whole number: write it with digits only, such as --slices 2"),
        ("encode x --crf 18.5 -o y.mp4", "--crf 18.5 is not a whole number: write it with digits only, such as --crf 18"),
        (
            "encode x --max-frame-bytes 1.5M -o y.mp4",
            "--max-frame-bytes 1.5M is not a whole number: write it with digits only, such as --max-frame-bytes 1500000"
        ),
        ("encode x --qp 0.5 -o y.mp4", "--qp 0.5 is not a whole number: write it with digits only, such as --qp 1"),
        ("encode x --qp 26 --max-bitrate 2M -o y.mp4", "--max-bitrate needs an average bit rate: use --bitrate instead of --qp"),
        ("encode testsrc: --crf 80 -o y.mp4", "--crf 80 is out of range: use 1 to 51"),
        (
            "encode x --crf 20 --max-bitrate 2M -o y.mp4",
            "--max-bitrate needs an average bit rate: add --rate-control qvbr for constant quality below this rate"
        ),
        (
            "encode x --max-bitrate 2M -o y.mp4",
            "--max-bitrate needs an average bit rate: add --bitrate with a lower rate, or --rate-control qvbr for constant quality"
        ),
        ("encode x --end 5 -o y.mp4", "unknown option --end: use --duration with the length of the part"),
        ("transcode x -o y.mp4", "there is no command transcode: use vaenc encode"), ("record x", "there is no command record: use vaenc capture"),
        ("help info", "there is no command info: use vaenc help inspect"),
        ("encode x --codec copy -o y.mp4", "--codec copy is not known: vaenc remux copies streams without encoding"),
        ("encode x --gop 99999999999999999999 -o y.mp4", "--gop 99999999999999999999 is out of range: use a number with fewer digits"),
        ("encode x --gop-seconds long -o y.mp4", "--gop-seconds long is not a number of seconds: write a number, such as 2.5"),
        ("capture /dev/video99 --stall-timeout 1s -o y.mp4", "--stall-timeout 1s is not a number of seconds: write a number, such as 2.5"),
        ("encode x --rate-control crf -o y.mp4", "--rate-control crf is not known: use cqp, cbr, vbr, icq, qvbr or avbr"),
        ("encode x --sample-entry avc1 -o y.mp4", "--sample-entry avc1 is not known: use hvc1 or hev1"),
        ("convert x -o y.avcc --length-size many", "--length-size many is not known: use 1, 2 or 4"),
        ("encode x --bitrate -1 -o y.mp4", "--bitrate has no value, because -1 is read as an option: write --bitrate=-1 if it is a value"),
        ("encode x --qp --device software -o y.mp4", "--qp has no value before --device: write --qp VALUE, or leave it out"),
        ("encode x --preset --codec h264 -o y.mp4", "--preset has no value before --codec: write --preset VALUE, or leave it out"),
        ("encode x --gop-seconds -o y.mp4", "--gop-seconds has no value before -o: write --gop-seconds VALUE, or leave it out"),
        ("encode x -o --strict", "-o has no value before --strict: write -o VALUE, or leave it out"),
        ("encode x -o", "-o has no value: write -o FILE"), ("remux x --output", "--output has no value: write --output FILE"),
        ("remux", "the input is missing: write vaenc remux INPUT -o OUTPUT"),
        ("decode x", "--output is missing: write vaenc decode INPUT -o OUTPUT.y4m"),
        ("inspect", "the file is missing: write vaenc inspect FILE"),
        ("compare x", "the second input is missing: write vaenc compare REFERENCE DISTORTED"),
        ("encode a b -o y.mp4", "unexpected argument b: run vaenc once for each input"),
        ("encode a b c d e -o y.mp4", "4 unexpected arguments (b, c, d, …): run vaenc once for each input"),
        (
            "encode a.png b.png c.png d.png e.png",
            "4 unexpected arguments (b.png, c.png, d.png, …): write one pattern for pictures in sequence, such as img%03d.png, "
                + "or pipe them in: cat *.png | vaenc encode - --fps 30"
        ),
        (
            "decode a.jpg b.jpg -o y.y4m",
            "unexpected argument b.jpg: write one pattern for pictures in sequence, such as img%03d.jpg, or pipe them in: cat *.jpg | vaenc decode -"
        ),
        ("encode a b", "unexpected argument b: write -o b if it is the output"),
        ("capture /dev/video99 b.mp4", "unexpected argument b.mp4: write -o b.mp4 if it is the output"),
        ("encode a -ob.mp4", "-ob.mp4 is not an option: write -o b.mp4, or ./-ob.mp4 if it is a file's name"),
        (
            "-o b.mp4 encode a",
            "unknown option -o: write a command first, such as vaenc encode INPUT -o OUTPUT; vaenc COMMAND --help lists the options"
        ),
        ("remux a -o b.mp4 -o c.mp4", "-o was used 2 times (b.mp4, c.mp4), but this command writes one output: run vaenc once for each output"),
        ("encode a -o b.mp4 --fps 0", "--fps 0 is out of range: use 0.001 to 1000 frames per second"),
        ("remux a -o b.mp4 --fps 5000", "--fps 5000 is out of range: use 0.001 to 1000 frames per second"),
        ("encode a -o b.mp4 --fps fast", "--fps fast is not a frame rate: write 25, 29.97 or 30000/1001"),
        ("probe x", "unexpected argument x: vaenc probe --help lists the options"),
        ("encode x --strict=yes -o y.mp4", "--strict takes no value: write --strict alone"),
        ("encode x --b-pyramid --no-b-pyramid -o y.mp4", "--no-b-pyramid contradicts --b-pyramid: leave out one of them"),
        ("encode x --qp-i 20 --bitrate 300k -o y.mp4", "--qp-i contradicts --bitrate: use only one of them"),
        ("encode x --qp-b 20 --quality 30 -o y.mp4", "--qp-b contradicts --quality: use only one of them"),
        ("encode x --qp-i 20 --rate-control icq -o y.mp4", "--qp-i contradicts --rate-control icq: use only one of them"),
    ])
    func parserErrorsNameValueAndRemedy(_ line: String, _ words: String) throws {
        let result = try vaenc(line)
        #expect(result.status == 64 && result.errors == "vaenc: \(words)\n", "\(result.errors)")
    }

    @Test func fileWithoutACommandGetsAHint() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write([0], to: "\(folder)/movie.mp4")
            let result = try vaenc("movie.mp4 -o a.mp4", in: folder)
            #expect(result.status == 64 && result.errors.contains("vaenc encode movie.mp4"), "\(result.errors)")
        }
    }

    /// A rate without a unit is in bits per second.
    @Test(arguments: [("--bitrate 40000", true), ("--bitrate 40k", false), ("--bitrate 100000", false), ("--bitrate 40k --max-bitrate 60000", true)])
    func lowRatesWithoutUnitAreReported(options: String, reported: Bool) throws {
        try Files.withTemporaryFolder { folder in
            let words = "testsrc:64x48@25:5 --device reference --json -o a.h264 \(options)".split(separator: " ").map(String.init)
            let run = try EncodeRun(words, in: folder)
            let notices = run.report?["notices"]?.array.compactMap(\.string) ?? []
            #expect(run.status == 0 && notices.contains { $0.contains("0000 bits per second: write ") } == reported, "\(run.errors) \(notices)")
            #expect(run.errors.contains("bits per second: write") == reported)
        }
    }

    @Test func aliasesAreAccepted() throws {
        try Files.withTemporaryFolder { folder in
            func encode(_ options: String) throws -> EncodeRun {
                let words = "testsrc:64x48@25:10 --device reference --json --overwrite \(options)".split(separator: " ").map(String.init)
                let run = try EncodeRun(words, in: folder)
                #expect(run.status == 0, "\(options): \(run.errors)")
                return run
            }
            let quality = try encode("--crf 31 -o a.h264")
            #expect(quality.effective("quality")?["used"]?.string == "31")
            for (name, codec) in [("avc", "h264"), ("h265", "hevc"), ("HEVC", "hevc"), ("h264", "h264")] {
                let run = try encode("--codec \(name) -o a.mp4")
                #expect(run.report?["codec"]?.string == codec)
            }
            for (name, number) in [("slow", "2"), ("medium", "4"), ("fast", "6"), ("3", "3")] {
                let run = try encode("--preset \(name) -o a.h264")
                #expect(run.effective("preset")?["asked"]?.string == number)
            }
        }
    }

    /// Seconds, and hours, minutes and seconds, mean the same in every command.
    @Test func timesAreReadInEveryForm() throws {
        try Files.withTemporaryFolder { folder in
            func frames(_ options: String) throws -> Int? {
                let words = "testsrc:64x48@25:100 --device software --codec h264 --json --overwrite -o a.mp4 \(options)".split(separator: " ").map(
                    String.init)
                let run = try EncodeRun(words, in: folder)
                #expect(run.status == 0, "\(options): \(run.errors)")
                return run.report?["frames"]?["encoded"]?.int
            }
            for (text, count) in [("2", 50), ("2.4", 40), ("00:00:02", 50), ("0:02.4", 40), ("00:00:02.400", 40)] {
                #expect(try frames("--start \(text)") == count)
            }
            #expect(try frames("--duration 00:00:01.2") == 30)
            #expect(
                try EncodeRun(
                    ["testsrc:64x48@25:60", "--device", "reference", "--bframes", "0", "--json", "--force-key", "5,00:00:01.2,2s", "-o", "b.h264"],
                    in: folder
                )
                .report?["frames"]?["key"]?.int == 4)
            #expect(try vaenc("remux a.mp4 -o c.mp4 --start 0:00 --duration 00:00:00.4", in: folder).status == 0)
            #expect(try vaenc("decode a.mp4 -o c.y4m --start 0:00.2 --duration 0:00.2", in: folder).status == 0)
            #expect(try vaenc("compare a.mp4 a.mp4 --start 0:00.2 --duration 0:00.2", in: folder).status == 0)
            for wrong in ["1:60", "1:2:3:4", "::3", "1:-2", "a", "1:0x3", "00:61:00"] {
                let result = try ProcessRunner.run(
                    Checkout.vaenc, ["encode", "testsrc:64x48@25:9", "--device", "software", "-o", "d.mp4", "--start", wrong], directory: folder)
                #expect(result.status == 64 && result.errors.contains("--start \(wrong) is not a time"), "\(result.errors)")
            }
        }
    }

    // MARK: Empty values

    /// An empty name is invisible in a message, so the error says what is empty. Here, `|` separates arguments.
    @Test(arguments: [
        ("encode||-o|a.mp4", "the name of the input is empty"), ("encode|-o|a.mp4|--|", "the name of the input is empty"),
        ("inspect|", "the name of the input is empty"), ("decode||-o|a.y4m", "the name of the input is empty"),
        ("remux||-o|a.mp4", "the name of the input is empty"), ("convert||-o|a.avcc", "the name of the input is empty"),
        ("compare|a.mp4|", "the name of the input is empty"), ("compare||a.mp4", "the name of the input is empty"),
        ("bench|", "the name of the input is empty"), ("capture||-o|a.mp4", "the name of the input is empty"),
        ("encode|in.mp4|-o|", "the name of the output is empty"), ("encode|--output=|in.mp4", "the name of the output is empty"),
        ("remux|in.mp4|-o||--format|mp4", "the name of the output is empty"), ("decode|in.mp4|-o|", "the name of the output is empty"),
        ("convert|in.h264|-o||--format|avcc", "the name of the output is empty"), ("capture|/dev/video99|-o|", "the name of the output is empty"),
        ("inspect|in.h264|--plot|", "the value of --plot is empty"), ("convert|in.h264|-o|a.avcc|--record|", "the value of --record is empty"),
        ("encode|in.mp4|-o|a.mp4|--start|", "the value of --start is empty"), ("probe|--device|", "the value of --device is empty"),
        ("", "the name of the command is empty"), ("help|", "the name of the command is empty"),
        // The next argument would be parsed as the value.
        ("encode|in.mp4|-o|a.mp4|--qp=|--device|software", "the value of --qp is empty"),
        ("encode|in.mp4|-o|a.mp4|--qp=", "the value of --qp is empty"),
        ("encode|in.mp4|-o|a.mp4|--preset=|--codec|h264", "the value of --preset is empty"),
        ("encode|in.mp4|--crf=|-o|a.mp4", "the value of --crf is empty"),
        ("encode|in.mp4|-o|a.mp4|--bitrate=|--device|software", "the value of --bitrate is empty"),
        ("decode|in.mp4|-o=|--json", "the name of the output is empty"),
        ("compare|a.mp4|b.mp4|--start=|--json", "the value of --start is empty"),
        ("encode|in.mp4|--strict=|-o|a.mp4", "--strict takes no value: write --strict alone"),
    ])
    func emptyNamesAreRefused(_ line: String, _ words: String) throws {
        let arguments = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let result = try ProcessRunner.run(Checkout.vaenc, arguments)
        #expect(result.status == 64 && result.errorLines.count == 1, "\(result.status) \(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
    }

    // MARK: Help

    @Test(arguments: ["help", "help encode", "help --help", "help help", "encode --help", "--help", "--version"]) func helpAndVersionSucceed(
        _ line: String
    ) throws {
        let result = try vaenc(line)
        #expect(result.status == 0 && !result.output.isEmpty && result.errors.isEmpty, "\(result.errors)")
    }

    /// The help explains each option in a sentence, and states the range or default of numbers.
    @Test func everyOptionIsExplained() throws {
        for command in try CommandOptions.all() {
            for option in command.options where !option.isHidden && !["--help", "--version"].contains(option.names[0]) {
                let context = "\(command.command) \(option.names): \(option.help)"
                #expect(option.help.count > 10 && option.help.hasSuffix("."), "\(context)")
                #expect(!option.help.contains("unless told") && !option.help.contains("so many"), "\(context)")
                if ["N", "FRAMES", "BYTES", "PERCENT", "S", "SECONDS"].contains(option.valueName) {
                    let namesNumber = option.help.contains { $0.isNumber }
                    #expect(namesNumber, "\(context)")
                }
            }
        }
    }

    /// The status is 74, with one line.
    @Test(arguments: [
        "--help", "--version", "help", "help encode", "encode --help", "--generate-completion-script bash", "probe", "probe --json", "inspect s.h264",
        "inspect s.h264 --json", "compare s.h264 s.h264", "encode s.h264 --device software -o a.mp4 --json", "remux s.h264 -o b.mp4 --json",
    ])
    func fullDiskOnStdoutIsReported(_ line: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-f", "h264",
                "\(folder)/s.h264")
            let result = try ProcessRunner.run("bash", ["-c", "\"$0\" \(line) > /dev/full", Checkout.vaenc], directory: folder)
            #expect(result.status == 74, "\(result.errors)")
            #expect(
                result.errorLines.last == "vaenc: cannot write to stdout: the disk is full: free some space or write elsewhere", "\(result.errors)")
            if !line.hasPrefix("encode s"), !line.hasPrefix("remux") { #expect(result.errorLines.count == 1, "\(result.errors)") }
        }
    }

    /// The reader closes the pipe: there is no message for a help text, and one for a report.
    @Test func closedPipeOnStdoutIsAnOutputError() throws {
        // The pipe has no reader before the first byte is written.
        let script = "exec 3> >(:); wait $!; \"$0\" $1 >&3"
        for line in ["--help", "--version", "help encode"] {
            let result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, line])
            #expect(result.status == 74 && result.errors.isEmpty, "\(line): \(result.status) \(result.errors)")
        }
        let probe = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, "probe"])
        #expect(
            probe.status == 74
                && probe.errors == "vaenc: cannot write to stdout: the reader closed the pipe: check the messages of the reading program\n")
    }

    // MARK: Features that are not implemented

    /// These features are planned and not implemented. The status is 69 with any other options. Neither help nor
    /// documents mention them.
    @Test func unbuiltFeaturesAreRefused() throws {
        for line in [
            "doctor", "doctor --json", "encode nowhere.mp4 --two-pass", "encode nowhere.mp4 --lookahead 20 -o a.mp4",
            "encode nowhere.mp4 --target-ssim 0.9 -o a.mp4", "encode nowhere.mp4 --subtitles all -o a.mp4",
        ] {
            let result = try vaenc(line)
            #expect(result.status == 69 && result.errors.contains("not implemented yet"), "\(line): \(result.errors)")
        }
        var texts = [try vaenc("--help").output]
        for command in Self.inputs.keys { texts.append(try vaenc("\(command) --help").output) }
        for file in Files.list(Checkout.root + "/docs").filter({ $0.hasSuffix(".md") }).map({ "/docs/" + $0 }) + ["/README.md"] {
            texts.append(String(decoding: try Files.read(Checkout.root + file), as: UTF8.self))
        }
        for text in texts {
            for name in ["vaenc doctor", "`doctor`", "--two-pass", "--lookahead", "--target-ssim"] {
                #expect(!text.contains(name), "\(name): \(text.prefix(60))")
            }
        }
    }

    /// Without a GPU, `auto` encodes with x264, and the help does not advise against it. `probe` says what to do.
    @Test func probeAdvisesWithoutAGPU() throws {
        #expect(!(try vaenc("--help").output.contains("--device reference")))
        let probe = try vaenc("probe")
        let report = try #require(JSONValue(try vaenc("probe --json").output))
        let hasGPU = report["devices"]?.array.contains { $0["kind"]?.string == "vaapi" && $0["usable"]?.bool == true } == true
        guard !hasGPU else { return }
        #expect(probe.output.contains("Without a GPU: ") && probe.output.contains("With a GPU: "), "\(probe.output)")
        #expect(report["advice"]?.string?.contains("vaenc encode") == true)
    }

    // MARK: Names in messages

    /// Returns the string literals of a folder's sources that contain an `--option`, with the option.
    private static func namedOptions(in folder: String) throws -> [(file: String, line: Substring, option: String)] {
        let found = try ProcessRunner.run("grep", ["-rn", "--include=*.swift", "-e", "\"[^\"]*--[a-z]", folder])
        return found.output.split(separator: "\n").flatMap { line -> [(String, Substring, String)] in
            let parts = line.split(separator: ":", maxSplits: 2)
            guard parts.count == 3, !parts[2].drop(while: { $0 == " " }).hasPrefix("//") else { return [] }
            let words = parts[2].split { !($0.isLetter || $0.isNumber || $0 == "-") }
            return words.filter { $0.hasPrefix("--") && $0.count > 3 && $0.dropFirst(2).first?.isLetter == true }.map {
                (String(parts[0]), parts[2], String($0))
            }
        }
    }

    /// The library does not know the command line: its errors name properties, which the program replaces by options.
    @Test(arguments: [
        "BitstreamInspection", "Capture", "DecodeSession", "EncodePlanning", "EncodeSession", "LibAV", "MediaFiles", "Preview",
        "RateControl", "ReferenceDisplay", "SoftwareEncode", "VAAPI", "VideoBase",
    ])
    func libraryErrorsNameNoOptions(_ module: String) throws {
        let named = try Self.namedOptions(in: Checkout.root + "/Sources/" + module)
        #expect(named.isEmpty, "\(named)")
    }

    @Test func messagesNameOptionsThatExist() throws {
        let known = Set(try CommandOptions.all().flatMap(\.options).flatMap(\.names))
        // Options of vainfo and ArgumentParser, and those in the advice for containers.
        let others: Set<String> = ["--display", "--help", "--device"]
        for (file, line, option) in try Self.namedOptions(in: Checkout.root + "/Sources/VaencCLI") where !file.hasSuffix("Suggestion.swift") {
            #expect(known.contains(option) || others.contains(option), "\(file): \(line)")
        }
        #expect(known.count > 80)
    }

    /// Properties in messages of the library are replaced by options.
    @Test(arguments: [
        ("encode testsrc:64x48@25:2 --input-size 32x32 -o a.mp4", "leave out --input-size"),
        ("remux in.mp4 -o in.m4a.x", "or add --format"), ("decode in.mp4 -o old.y4m", "add --overwrite"),
        ("encode in.mp4 --device software --bitrate 100k --max-frame-bytes 150 -o a.mp4", "raise --max-frame-bytes, or lower --bitrate"),
        ("encode in.mp4 --device reference --bitrate 1M --vbv-initial 0 -o a.mp4", "--vbv-initial 0 means"),
        ("compare in.mp4 testsrc:64x64@25:2", "one size with --size"),
    ])
    func libraryErrorsAreTranslatedToOptions(_ line: String, _ words: String) throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.2", "-pix_fmt", "yuv420p", "\(folder)/in.mp4")
            try Files.write([1], to: "\(folder)/old.y4m")
            let result = try vaenc(line, in: folder)
            #expect(result.status != 0 && result.errors.contains(words) && !result.errors.contains("`"), "\(result.errors)")
        }
    }

    // MARK: Common mistakes

    /// A folder, an address or a file of another kind instead of the expected one is an error in one line, with a
    /// remedy.
    @Test(arguments: [
        ("encode in.mp4 --device software -o out", 73, "out is a folder: name a file in it"),
        ("remux in.mp4 -o out/", 73, "out/ is a folder: name a file in it"),
        ("decode in.mp4 -o out", 73, "out is a folder: name a file in it"), ("convert in.h264 -o out", 73, "out is a folder: name a file in it"),
        ("inspect in.h264 --plot out", 73, "out is a folder: name a file in it"), ("inspect out", 65, "out is a folder: name a file in it"),
        ("remux https://a/b.mp4 -o a.mkv", 69, "reading from the network (https://a/b.mp4) is not implemented"),
        ("convert https://a/b.h264 -o a.avcc", 69, "reading from the network"), ("inspect https://a/b.h264", 69, "reading from the network"),
        ("decode https://a/b.mp4 -o a.y4m", 69, "reading from the network"), ("compare in.mp4 https://a/b.mp4", 69, "reading from the network"),
        ("convert in.h264 -o https://a/b.avcc", 69, "sending this output (https://a/b.avcc) is not implemented"),
        ("decode in.mp4 -o https://a/b.y4m", 69, "sending this output"), ("inspect in.h264 --plot https://a/b.svg", 69, "sending this output"),
        (
            "convert in.mp4 -o a.avcc", 65,
            "set its framing (--input-format), or extract the stream from its container with vaenc remux --output NAME.h264"
        ),
        ("convert in.h264 -o a.avcc --length-size 1", 65, "choose longer lengths (--length-size)"),
        ("encode in.mp4 --device software -o a.mkv --input-format nv12", 64, "or leave out --input-format if in.mp4 is coded video"),
        ("encode in.mp4 --device software -o a.mkv --input-size 64x48", 65, "leave out --input-size, because the name means coded video"),
        ("compare in.mp4 in.mp4 --start 100", 65, "there is no picture to compare: check --start, --duration and the inputs"),
        ("encode in.mp4 --device software -o a.mkv --content-light 5", 64, "write MAX,AVERAGE in cd/m², such as 1000,400"),
        ("encode in.mp4 --device software -o a.mkv --vbv-size 500 --bitrate 1M", 64, "--vbv-size 500 is out of range: use 1k to 4G bits"),
        ("encode in.mp4 --device software -o a.mkv --bitrate 0", 64, "write 6M, 800k or 1500000, from 1k to 4G"),
        ("encode in.mp4 --device /dev/dri/renderD77 -o a.mkv", 69, "there is no device /dev/dri/renderD77"),
        ("encode lost -o a.mkv", 66, "lost is a link that leads nowhere"), ("remux loop -o a.mkv", 66, "loop is a link that leads nowhere"),
        ("encode in.mp4 --device software -o in.h264/a.mkv", 73, "a part of its path is a file"),
        ("encode in.mp4 --device software -o a.mkv --change-bitrate 2=1M", 64, "--change-bitrate needs a bit rate to change: add --bitrate"),
        ("encode in.mp4 --device software --codec hevc --bitrate 1M -o a.mkv --change-bitrate 2=2M", 69, "use --codec h264"),
        ("encode in.mp4 --device software --codec h264 --rate-control cbr --bitrate 1M -o a.mkv --change-bitrate 2=2M", 69, "use --hrd off"),
        ("encode in.mp4 --device reference --codec hevc --fps 1000 -o a.mkv", 69, "64×48 at 1000 frames per second exceeds"),
        (
            "encode in.mp4 --device reference --codec h264 --data-rate-limit 1000/2 --strict -o a.mkv", 69,
            "--data-rate-limit: asked 1000 bytes in 2.0 s"
        ),
        ("encode in.mp4 --device software --fps 0.001 --strict -o a.mkv", 69, "speed: asked 1x, would be less than 0.001x"),
        (
            "encode in.mp4 --device software --intra-refresh -o a.m3u8", 64,
            "begin at key frames, which --intra-refresh replaces: leave out --intra-refresh"
        ),
        ("bench bad --device software --no-ffmpeg", 65, "check that the file is complete, or convert raw frames to Y4M"),
        ("bench nowhere.mp4 --device software", 66, "there is no file nowhere.mp4"),
        ("bench in.mp4 --device software --size 33x33", 64, "use even numbers, such as 32×32"),
    ])
    func usualMistakesGetARemedy(_ line: String, _ status: Int, _ words: String) throws {
        try Files.withTemporaryFolder { folder in
            let clip = try Self.clip.get()
            try Files.write(clip.container, to: "\(folder)/in.mp4")
            try Files.write(clip.stream, to: "\(folder)/in.h264")
            let setup = try ProcessRunner.run("sh", ["-c", "mkdir out; ln -s nowhere lost; ln -s loop loop; echo text > bad"], directory: folder)
            #expect(setup.status == 0)
            let result = try vaenc(line, in: folder)
            #expect(result.status == status && result.errorLines.count == 1, "\(result.status) \(result.errors)")
            #expect(result.errors.contains(words), "\(result.errors)")
            #expect(Files.list(folder).sorted() == ["bad", "in.h264", "in.mp4", "loop", "lost", "out"])
        }
    }

    /// A few pictures in MP4 and as Annex B.
    private static let clip: Result<(container: [UInt8], stream: [UInt8]), any Error> = Result {
        try Files.withTemporaryFolder { folder in
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-crf", "1",
                "\(folder)/in.mp4")
            try ffmpeg("-i", "\(folder)/in.mp4", "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264", "\(folder)/in.h264")
            return (try Files.read("\(folder)/in.mp4"), try Files.read("\(folder)/in.h264"))
        }
    }

    // MARK: Inspect

    @Test func plotReplacesTheList() throws {
        try Files.withTemporaryFolder { folder in
            try ffmpeg("-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-c:v", "libx264", "-f", "h264", "\(folder)/s.h264")
            let listed = try vaenc("inspect s.h264", in: folder).output.split(separator: "\n")
            let plotted = try vaenc("inspect s.h264 --plot s.svg", in: folder).output.split(separator: "\n")
            #expect(listed.count > 25 && plotted.count == listed.count - 26 && plotted == Array(listed.prefix(plotted.count)), "\(plotted)")
        }
    }
}
