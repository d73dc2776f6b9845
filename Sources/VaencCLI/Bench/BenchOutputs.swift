import Glibc
import MediaFiles
import Vaenc
import VideoBase

/// The outputs of a benchmark: the table or the JSON object, an HTML page and an SVG drawing.
struct BenchOutputs: Sendable {
    var json: Bool
    var html: String?
    var svg: String?
    var overwrite: Bool

    /// Checks the names of the files before the first run.
    ///
    /// - Throws: `usage` for a wrong extension, and for a name that is also an input or the other output; the errors
    ///   of creating a file.
    func check(_ inputs: [String]) throws {
        let files = [("--html", html, ["html", "htm"]), ("--svg", svg, ["svg"])].compactMap { option, path, endings in
            path.map { (option: option, path: $0, endings: endings) }
        }
        for (option, path, endings) in files {
            let ending = path.split(separator: "/").last?.split(separator: ".").dropFirst().last?.lowercased()
            if let ending, !path.hasPrefix("/dev/"), !endings.contains(ending) {
                throw VaencError.usage(
                    "\(option) writes \(endings[0].uppercased()), and \(path) ends in .\(ending)", remedy: "name it NAME.\(endings[0])")
            }
            for input in inputs {
                if let same = MediaOutput.overwritten(input, by: path) {
                    throw VaencError.usage("\(same) is the input itself", remedy: "name another file for \(option)")
                }
            }
        }
        if let html, let svg, MediaOutput.refersToSameFile(html, svg) {
            throw VaencError.usage("--html and --svg name the same file, \(html)", remedy: "name two files")
        }
        for file in files { try MediaOutput.checkCreation(of: file.path, overwrite: overwrite) }
    }

    /// Writes all outputs. The files come first, so that the text is the last thing that may fail.
    func write(_ report: BenchReport) throws {
        if let html { try MediaOutput.write(Array(BenchPage(report).html.utf8), to: html, overwrite: overwrite) }
        if let svg { try MediaOutput.write(Array(BenchPlot(report).svg.utf8), to: svg, overwrite: overwrite) }
        let isOnStdout = [html, svg].compactMap(\.self).contains { ["-", "/dev/stdout"].contains($0) }
        if !json { for note in report.notices { Terminal.note(note) } }
        let text = json ? try JSON.text(report) + "\n" : Terminal.visible(BenchTable.text(report), keepsLines: true)
        try Terminal.report(text, to: isOnStdout ? STDERR_FILENO : STDOUT_FILENO)
    }
}
