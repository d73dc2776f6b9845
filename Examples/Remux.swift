import Vaenc

/// A file's streams in another file or container, their packets as they are.
func remux(_ input: String, _ output: String) throws {
    let report = try Remuxer(input, to: output).run()
    for stream in report.streams {
        if let reason = stream.leftOut { print("\(stream.kind) \(stream.codec): left out, \(reason)") }
    }
}
