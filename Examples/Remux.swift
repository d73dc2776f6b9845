import Vaenc

/// Copies the streams of a file into another file or container without encoding them again.
func remux(_ input: String, _ output: String) throws {
    let report = try Remuxer(input, to: output).run()
    for stream in report.streams {
        if let reason = stream.leftOut { print("\(stream.kind) \(stream.codec): left out, \(reason)") }
    }
}
