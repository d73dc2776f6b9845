import TestOracles

/// docs/PROGRAMS.md: a section for each program, with the lines that run it and the file that is the program.
struct ProgramPage {
    /// By heading: the lines of its block of commands, `vaenc …` and `swift run … Examples …`.
    var commands: [String: [String]] = [:]
    /// Blocks of Swift.
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

/// Runs the lines of a section in a folder of its own.
struct ProgramRun {
    let folder: String
    let environment: [String: String?]

    static let example = "swift run -c release Examples "

    /// - Parameter words: what stands in for a word of the line, where this machine has no such thing.
    func run(_ line: String, words: [String: String] = [:]) throws -> ProcessRunner.Result {
        let program = line.hasPrefix(Self.example) ? Checkout.buildFolder + "/Examples" : Checkout.vaenc
        let arguments = line.dropFirst(line.hasPrefix(Self.example) ? Self.example.count : "vaenc ".count)
            .split(separator: " ").map { words[String($0)] ?? String($0) }
        return try ProcessRunner.run(program, arguments, environment: environment, directory: folder, timeout: 60)
    }
}
