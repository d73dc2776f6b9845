import ArgumentParser
import BitstreamInspection
import Glibc
import MediaFiles
import Vaenc
import VideoBase

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", _superCommandName: VaencCommand.name,
        abstract: "Show the structure of a stream: NAL units, pictures, QP, references and the decoder's buffer.",
        discussion: """
            FILE is an Annex B or length-prefixed stream, a container with H.264 or HEVC, or - for stdin. The parser \
            shares no code with vaenc's encoders. It reads headers, but no coded blocks: the QP of a picture is the \
            mean of its slice headers.
            """)

    @Argument(help: "The file.")
    var file: String

    @Flag(help: "Print one JSON object instead of the table.")
    var json = false

    @Option(help: ArgumentHelp("Draw sizes, types, QP and the decoder's buffer into an SVG file, and print only the summary.", valueName: "FILE.svg"))
    var plot: String?

    @Flag(help: "Replace an existing plot.")
    var overwrite = false

    func run() throws {
        if let plot, let same = MediaOutput.overwritten(file, by: plot) {
            throw VaencError.usage("\(same) is the input itself", remedy: "name another file for the plot")
        }
        if let plot, let ending = plot.split(separator: "/").last?.split(separator: ".").dropFirst().last, ending.lowercased() != "svg" {
            throw VaencError.usage("a plot is an SVG file, and \(plot) ends in .\(ending)", remedy: "name it NAME.svg")
        }
        let input = try ByteStreamFile(file)
        let codec = input.codec ?? .assumedForUnknownStreams
        let cost =
            switch codec {
            case .h264: ReadingCost.bytes(h264: input.bytes)
            case .hevc: ReadingCost.bytes(hevc: input.bytes)
            }
        try MemoryTrial.require(
            cost, "to list the contents of \(file == "-" ? "standard input" : file)")
        let stream: any InspectedStream =
            switch codec {
            case .h264: H264Stream(annexB: input.bytes, recordBytes: input.headerBytes)
            case .hevc: HEVCStream(annexB: input.bytes, recordBytes: input.headerBytes)
            }
        var hrd = stream.hrd()
        // It is not defined whether the parameter sets in a container's header count. In a bare stream they precede the
        // key pictures. The stream conforms if it conforms with either count.
        if hrd?.conforms == false, input.headerBytes > 0, let counted = stream.hrd(headerBytes: input.headerBytes), counted.conforms {
            hrd = counted
        }
        let report = InspectReport(input, stream: stream, codec: codec, hrd: hrd, input: FileName.printable(file))
        if let plot {
            let drawing = StreamPlot(report, hrd?.schedules.first)
            try MediaOutput.write(Array(drawing.svg.utf8), to: plot, overwrite: overwrite)
        }
        let isOnStdout = plot == "-" || plot == "/dev/stdout"
        let descriptor = isOnStdout ? STDERR_FILENO : STDOUT_FILENO
        var failure: Int32?
        func write(_ text: String) -> Bool {
            failure = Terminal.failure(writing: json ? text : Terminal.visible(text, keepsLines: true), to: descriptor)
            return failure == nil
        }
        _ = json ? try InspectJSON(report: report).write(write) : InspectText.write(report, withPictures: plot == nil, write)
        if let failure { throw Terminal.cannotWrite(failure, to: descriptor) }
        // An error stands alone.
        if report.fault.wrapped == nil {
            for notice in [input.notice, input.timesNotice].compactMap({ $0 }) { Terminal.note(FileName.printable(notice)) }
        }
        if let fault = report.fault.wrapped {
            throw VaencError(
                .badInput, "\(report.input): \(fault)",
                remedy: report.frames.isEmpty
                    ? "check that it is complete, and H.264 or HEVC"
                    : "the readable part is listed; use a complete file")
        }
    }
}
