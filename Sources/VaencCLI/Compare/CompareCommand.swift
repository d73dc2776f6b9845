import ArgumentParser
import Glibc
import MediaFiles
import Vaenc

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", _superCommandName: VaencCommand.name,
        abstract: "Compare two clips: PSNR and SSIM of each picture and of the whole clip.",
        discussion: """
            REFERENCE and DISTORTED are inputs as for encode, except cameras. Pictures are compared in order, as 4:2:0. \
            Both clips must have the same number of pictures. The values are the same as those of FFmpeg's psnr and ssim \
            filters.

              vaenc compare movie.mp4 out.h265
              vaenc compare clip.nv12 out.mp4 --input-size 1280x720 --input-format nv12
            """)

    @Argument(help: "The reference clip.")
    var reference: String

    @Argument(help: "The clip that is compared with the reference.")
    var distorted: String

    @OptionGroup(title: "Input") var input: CompareInputOptions

    @Flag(help: "Print one JSON object instead of the summary.")
    var json = false

    func run() throws {
        guard reference != "-" || distorted != "-" else {
            throw VaencError.usage("both inputs are standard input", remedy: "name a file for one of them")
        }
        try input.check([reference, distorted])
        let sources = try [reference, distorted].map { name in
            do { return try MediaInput.open(name, options: try input.options(of: name)) } catch var error as VaencError {
                // --input-size and --input-format do not apply to a name of coded video.
                if !MediaInput.mayBeRaw(name), error.subject == .pictureLayout {
                    error.remedy = "check that the file is complete, or use the extension .yuv for raw frames"
                }
                throw error
            }
        }
        defer { for source in sources { source.close() } }
        let comparison = try ClipComparison(sources[0], sources[1])
        let infos = sources.map(\.info)
        let report = CompareReport(comparison, infos, names: [reference, distorted].map(FileName.printable))
        if !json { for notice in report.notices { Terminal.note(notice) } }
        try Terminal.report(json ? try JSON.text(report) + "\n" : Terminal.visible(report.text, keepsLines: true), to: STDOUT_FILENO)
    }
}

struct CompareInputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Size of raw frames. An input with a file extension of coded video ignores it.", valueName: "WxH"))
    var inputSize: String?

    @Option(help: ArgumentHelp("Format of raw frames: nv12, i420, p010 and others.", valueName: "FORMAT"))
    var inputFormat: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Compare at most this many pictures, 1 or more.", valueName: "N"))
    var frames: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("Skip both inputs up to this time, in seconds or as HH:MM:SS.mmm.", valueName: "TIME"))
    var start: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Duration to compare, in seconds or as HH:MM:SS.mmm.", valueName: "TIME"))
    var duration: String?

    @Option(help: ArgumentHelp("Scale both clips to this size: \(VideoSize.limitWords).", valueName: "WxH"))
    var size: String?

    @Option(
        help: ArgumentHelp(
            "How to fit pictures with another aspect ratio into --size (default letterbox).",
            valueName: "letterbox|crop|stretch"))
    var fit: FrameFit?

    /// Checks that an input can be raw frames if a size or format of raw frames is given.
    ///
    /// - Throws: `usage` if neither name can be one of raw frames.
    func check(_ names: [String]) throws {
        guard let option = inputSize.map({ "--input-size \($0)" }) ?? inputFormat.map({ "--input-format \($0)" }),
            !names.contains(where: MediaInput.mayBeRaw)
        else { return }
        throw VaencError.usage(
            "\(option) applies to raw frames, and neither \(names[0]) nor \(names[1]) has an extension of raw frames",
            remedy: "leave it out, or use the extension .yuv for raw frames")
    }

    /// Returns the options that apply to an input.
    func options(of name: String) throws -> SourceOptions {
        var options = try SourceOptions(
            inputSize: inputSize, inputFormat: inputFormat, frames: frames, start: start, duration: duration, size: size,
            fit: fit)
        if !MediaInput.mayBeRaw(name) { (options.inputSize, options.inputFormat) = (nil, nil) }
        return options
    }
}
