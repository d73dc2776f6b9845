internal import Glibc

/// The settings from the VAENC_REFERENCE_… environment variables, which are read when a display is opened.
package struct Environment: Sendable {
    /// VAENC_REFERENCE_RECON: the path of the file for reconstructed pictures.
    package var reconstructionPath: String?
    /// VAENC_REFERENCE_COUNTS: the path of the file to which the counts are appended when a display closes.
    package var countsPath: String?
    /// VAENC_REFERENCE_MODE=null: each picture is written at once as a valid picture of a few bytes, without encoding.
    package var isNull = false
    /// VAENC_REFERENCE_NULL_BYTES=N: in null mode, each picture is padded with filler data to N bytes; at most 16 MiB.
    package var nullBytes = 0
    /// VAENC_REFERENCE_LOG=1: the reason of each rejected call is written to stderr.
    package var logs = false
    /// VAENC_REFERENCE_PERSONALITY: the name of the real driver to imitate; nil for none.
    package var personality: String?
    /// VAENC_REFERENCE_HASH=md5: an MD5 of the decoded picture follows every HEVC picture in the stream.
    package var writesHashes = false
    /// VAENC_REFERENCE_HEVC=0 hides the HEVC profiles.
    package var offersHEVC = true
    /// VAENC_REFERENCE_PROCESSING=0 hides the video processor.
    package var processes = true
    /// VAENC_REFERENCE_STRICT=1: requests that only tolerant real drivers accept are rejected.
    package var isStrict: Bool

    /// The error for the first variable with an invalid value; nil if all values are valid.
    package var fault: String?

    package init(isStrict: Bool = false) { self.isStrict = isStrict }

    /// The valid values of the variables with a fixed set of values. An empty variable counts as unset.
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
