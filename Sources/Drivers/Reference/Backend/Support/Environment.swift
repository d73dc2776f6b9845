internal import Glibc

/// What VAENC_REFERENCE_… say, read when a display is opened.
package struct Environment: Sendable {
    /// VAENC_REFERENCE_RECON: where reconstructions go.
    package var reconstructionPath: String?
    /// VAENC_REFERENCE_COUNTS: where a line about pictures and copies is appended when a display closes.
    package var countsPath: String?
    /// VAENC_REFERENCE_MODE=null: a tiny valid stream at once.
    package var isNull = false
    /// VAENC_REFERENCE_NULL_BYTES=N: filler brings each picture of the null mode to N bytes; at most 16 MiB.
    package var nullBytes = 0
    /// VAENC_REFERENCE_LOG=1: why calls are refused, on stderr.
    package var logs = false
    /// VAENC_REFERENCE_PERSONALITY: the real driver to be like; nil for none.
    package var personality: String?
    /// VAENC_REFERENCE_HASH=md5: every HEVC picture is followed by an MD5 of what a decoder makes of it.
    package var writesHashes = false
    /// VAENC_REFERENCE_HEVC=0 hides the HEVC profiles.
    package var offersHEVC = true
    /// VAENC_REFERENCE_PROCESSING=0 hides the video processor.
    package var processes = true
    /// VAENC_REFERENCE_STRICT=1: what real drivers tolerate is refused.
    package var isStrict: Bool

    /// The first variable with a value that it cannot have, as an error; nil: all are good.
    package var fault: String?

    package init(isStrict: Bool = false) { self.isStrict = isStrict }

    /// The values of variables that name one of a few. An empty variable is none.
    private static let values = [
        ("VAENC_REFERENCE_MODE", ["null"]), ("VAENC_REFERENCE_HASH", ["md5"]), ("VAENC_REFERENCE_LOG", ["0", "1"]),
        ("VAENC_REFERENCE_STRICT", ["0", "1"]), ("VAENC_REFERENCE_HEVC", ["0", "1"]), ("VAENC_REFERENCE_PROCESSING", ["0", "1"]),
    ]

    private static func firstFault() -> String? {
        for (name, known) in values {
            if let text = variable(name), !known.contains(text) { return "\(name)=\(text) is not \(known.joined(separator: " or "))" }
        }
        let bytes = "VAENC_REFERENCE_NULL_BYTES"
        return variable(bytes).flatMap { Int($0).map { $0 >= 0 } == true ? nil : "\(bytes)=\($0) is not a number of bytes" }
    }

    static func current() -> Environment {
        var environment = Environment()
        environment.reconstructionPath = variable("VAENC_REFERENCE_RECON")
        environment.countsPath = variable("VAENC_REFERENCE_COUNTS")
        environment.isNull = variable("VAENC_REFERENCE_MODE") == "null"
        environment.nullBytes = min(max(variable("VAENC_REFERENCE_NULL_BYTES").flatMap { Int($0) } ?? 0, 0), 1 << 24)
        environment.logs = variable("VAENC_REFERENCE_LOG") == "1"
        environment.personality = variable("VAENC_REFERENCE_PERSONALITY")
        environment.writesHashes = variable("VAENC_REFERENCE_HASH") == "md5"
        environment.offersHEVC = variable("VAENC_REFERENCE_HEVC") != "0"
        environment.processes = variable("VAENC_REFERENCE_PROCESSING") != "0"
        environment.isStrict = variable("VAENC_REFERENCE_STRICT") == "1"
        environment.fault = firstFault()
        return environment
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
