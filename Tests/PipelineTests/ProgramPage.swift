import TestOracles

/// The page docs/PROGRAMS.md. It has a section for each program, with the commands that run it and the file with its
/// code.
struct ProgramPage {
    /// The command lines of each section by heading: `vaenc …` and `swift run … Examples …`.
    var commands: [String: [String]] = [:]
    /// The blocks of Swift code.
    var code: [String] = []

    init() throws {
        let page = String(decoding: try Files.read(Checkout.root + "/docs/PROGRAMS.md"), as: UTF8.self)
        var heading = "", language: String?, block = ""
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if let open = language {
                guard line == "```" else {
                    block += line + "\n"
                    continue
                }
                if open == "sh" { commands[heading, default: []] += block.split(separator: "\n").map(String.init) }
                if open == "swift" { code.append(block) }
                language = nil
            } else if line.hasPrefix("```") {
                (language, block) = (String(line.dropFirst(3)), "")
            } else if line.hasPrefix("## ") {
                heading = String(line.dropFirst(3))
            }
        }
    }
}

/// Runs the lines of a section in its own folder.
struct ProgramRun {
    let folder: String
    let environment: [String: String?]

    static let example = "swift run -c release Examples "

    /// - Parameter words: Replacements for words of the line that this machine does not support.
    func run(_ line: String, words: [String: String] = [:]) throws -> ProcessRunner.Result {
        let program = line.hasPrefix(Self.example) ? Checkout.buildFolder + "/Examples" : Checkout.vaenc
        let arguments = line.dropFirst(line.hasPrefix(Self.example) ? Self.example.count : "vaenc ".count)
            .split(separator: " ").map { words[String($0)] ?? String($0) }
        return try ProcessRunner.run(program, arguments, environment: environment, directory: folder)
    }
}
