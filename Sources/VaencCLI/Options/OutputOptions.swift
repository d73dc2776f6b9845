import ArgumentParser
import MediaFiles
import VideoBase

struct OutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("The output; - is stdout. test.h264 for the test pattern.", valueName: "FILE"))
    var output: [String] = []

    @Option(help: ArgumentHelp("The container, where the extension does not say it.", valueName: "annexb|avcc|mp4|mov|mkv|ts"))
    var format: String?

    @Flag(help: "An access unit delimiter before every picture.")
    var aud = false

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    func sinkOptions() throws -> SinkOptions {
        var options = SinkOptions()
        options.overwrite = overwrite
        if let format {
            guard let known = OutputFormat(rawValue: format.lowercased()) else {
                throw VaencError.usage(
                    "--format \(format) is not known",
                    remedy: "use one of " + OutputFormat.allCases.map(\.rawValue).joined(separator: ", "))
            }
            options.format = known
        }
        return options
    }
}

struct ReportingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("json: one object per line on stderr.", valueName: "json"))
    var progress: String?

    @Flag(help: "One JSON object at the end, on stdout (on stderr when the output is stdout).")
    var json = false
}
