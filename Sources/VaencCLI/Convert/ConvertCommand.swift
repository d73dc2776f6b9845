import ArgumentParser
import Glibc
import MediaFiles
import NALUnits
import Vaenc

struct ConvertCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", _superCommandName: VaencCommand.name,
        abstract: "Convert an Annex B stream into a length-prefixed stream, or the reverse.",
        discussion: """
            INPUT is a bare H.264 or HEVC stream, Annex B or length-prefixed, or - for stdin. For containers, use remux.

              vaenc convert movie.h264 -o movie.avcc --record movie.avcC
              vaenc convert movie.avcc -o movie.h264 --record movie.avcC
              vaenc convert - -o - --format avcc --length-size 2 < movie.h265
            """)

    @Argument(help: "The input.")
    var input: String

    @Option(name: [.customShort("o"), .long], help: ArgumentHelp("Output: a file, or - for stdout.", valueName: "FILE"))
    var output: String

    @Option(help: ArgumentHelp("Framing of the output (default: from its extension).", valueName: "annexb|avcc"))
    var format: Framing?

    @Option(
        help: ArgumentHelp(
            "Size in bytes of the output's length prefixes, or of the input's if the output is Annex B (default 4).",
            valueName: "1|2|4"))
    var lengthSize: Int?

    @Option(
        help: ArgumentHelp("Framing of the input (default: detected from its first bytes).", valueName: "annexb|avcc"))
    var inputFormat: Framing?

    @Option(
        help: ArgumentHelp(
            "Size in bytes of the input's length prefixes, if the output is length-prefixed too (default 4).",
            valueName: "1|2|4"))
    var inputLengthSize: Int?

    @Option(help: ArgumentHelp("Codec (default: detected from the first bytes).", valueName: "h264|hevc"))
    var codec: String?

    @Option(
        help: ArgumentHelp(
            "File of the avcC or hvcC record: written if the output is length-prefixed, read if it is Annex B.",
            valueName: "FILE"))
    var record: String?

    @Flag(help: "Replace existing files.")
    var overwrite = false

    @Flag(help: "Print one JSON object at the end, on stdout (on stderr if the output is stdout).")
    var json = false

    enum Framing: String, ExpressibleByArgument, CaseIterable {
        case annexb, avcc
    }

    func run() throws {
        let interruption = Interruption()
        interruption.watch()
        let options = try options()
        for name in [output, options.recordOutput].compactMap(\.self) {
            guard let same = MediaOutput.overwritten(input, by: name) else { continue }
            throw VaencError.usage("\(same) is the input itself", remedy: "name another output")
        }
        if let record = options.recordOutput, MediaOutput.refersToSameFile(output, record) {
            throw VaencError.usage("--record is the output itself", remedy: "name another file")
        }
        let conversion = try StreamConversion(input, options: options)
        interruption.whenFirst { conversion.cancel() }
        let outcome = try conversion.run(to: output)
        let report = ConvertReport(outcome, options, output: FileName.printable(output))
        if json {
            let descriptor = output == "-" ? STDERR_FILENO : STDOUT_FILENO
            try Terminal.report(try JSON.text(report) + "\n", to: descriptor)
        } else {
            Terminal.note("\(report.output): \(counted(report.nalUnits, "NAL unit")), \(report.bytes) bytes, \(report.format)")
        }
    }

    private func options() throws -> StreamConversion.Options {
        var options = StreamConversion.Options()
        options.overwrite = overwrite
        if let codec {
            guard let known = CodecOption(argument: codec)?.codec else {
                throw VaencError.usage("--codec \(codec) is not known", remedy: "use h264 or hevc")
            }
            options.codec = known
        }
        let size = try Self.size("--length-size", lengthSize)
        let inputSize = try Self.size("--input-length-size", inputLengthSize)
        switch try format ?? Self.framing(ofName: output) {
        case .annexb:
            options.output = .annexB
            options.record = try record.map { try MediaInput.decoderConfiguration($0, codec: options.codec) }
            if let size, let inputSize, size != inputSize {
                throw VaencError.usage(
                    "--length-size \(size.rawValue) contradicts --input-length-size \(inputSize.rawValue)",
                    remedy: "leave one of them out")
            }
            if inputFormat == .avcc || size != nil || inputSize != nil {
                options.input = .lengthPrefixed(inputSize ?? size ?? options.record?.lengthSize ?? .four)
            }
            if let declared = options.record?.lengthSize, let wanted = inputSize ?? size, declared != wanted {
                throw VaencError.usage(
                    "the record declares length prefixes of \(counted(declared.rawValue, "byte")), "
                        + "not \(wanted.rawValue)",
                    remedy: "leave out --length-size and --input-length-size")
            }
        case .avcc:
            options.output = .lengthPrefixed(size ?? .four)
            options.recordOutput = record
            if inputFormat == .avcc || inputSize != nil { options.input = .lengthPrefixed(inputSize ?? .four) }
        }
        if inputFormat == .annexb {
            if inputSize != nil || options.record != nil || (size != nil && options.output == .annexB) {
                throw VaencError.usage(
                    "an Annex B stream has neither length prefixes nor a record",
                    remedy: "leave out --input-format annexb")
            }
            options.input = .annexB
        }
        return options
    }

    private static func size(_ option: String, _ value: Int?) throws -> LengthSize? {
        guard let value else { return nil }
        guard let size = LengthSize(rawValue: value) else {
            throw VaencError.usage("\(option) \(value) is not a length prefix size", remedy: "use 1, 2 or 4")
        }
        return size
    }

    private static func framing(ofName name: String) throws -> Framing {
        let ending = name.split(separator: "/").last?.split(separator: ".").last.map { $0.lowercased() } ?? ""
        if ["avcc", "hvcc"].contains(ending) { return .avcc }
        if ["h264", "264", "avc", "h265", "265", "hevc"].contains(ending) { return .annexb }
        try MediaOutput.rejectFolder(name)
        throw VaencError.usage(
            "the name \(name) does not determine the output's framing",
            remedy: (try? MediaOutput.format(of: name))?.format.holdsTracks == true
                ? "use vaenc remux to write a container" : "add --format annexb or --format avcc")
    }
}

/// The object that `vaenc convert --json` prints.
struct ConvertReport: Encodable {
    var schema = 1
    var codec: Nullable<VideoCodec>
    var inputFormat: String
    var inputLengthSize: Nullable<Int>
    var format: String
    var lengthSize: Nullable<Int>
    var nalUnits: Int
    var bytes: Int
    var output: String

    init(_ outcome: StreamConversion.Outcome, _ options: StreamConversion.Options, output: String) {
        func words(_ framing: StreamConverter.Framing) -> (String, Nullable<Int>) {
            switch framing {
            case .annexB: ("annexb", Nullable(nil))
            case .lengthPrefixed(let size): ("avcc", Nullable(size.rawValue))
            }
        }
        codec = Nullable(outcome.codec)
        (inputFormat, inputLengthSize) = words(outcome.input)
        (format, lengthSize) = words(options.output)
        nalUnits = outcome.unitCount
        bytes = outcome.byteCount
        self.output = output
    }
}
