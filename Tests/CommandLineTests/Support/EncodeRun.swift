import TestOracles

/// One run of `vaenc encode --json …` and its report.
struct EncodeRun {
    var status: Int
    var report: JSONValue?
    var errors: String
    /// The lines of stderr that are not blank.
    var errorLines: [Substring]
    /// The report's part for each output, if there are several.
    var outputs: [JSONValue] { report?["outputs"]?.array ?? [] }

    init(_ result: ProcessRunner.Result) {
        (status, report) = (result.status, JSONValue(result.output))
        (errors, errorLines) = (result.errors, result.errorLines)
    }

    /// - Parameters:
    ///   - input: The bytes of stdin.
    ///   - environment: Variables added to those of this process.
    init(
        _ arguments: [String], in folder: String? = nil, input: [UInt8] = [], environment: [String: String?] = [:]
    ) throws {
        self.init(
            try ProcessRunner.run(
                Checkout.vaenc, ["encode"] + arguments, environment: environment, input: input, directory: folder))
    }

    /// Runs until `file` has more than `bytes` bytes, then ends the run by Ctrl-C. Until then the file's name has the
    /// suffix `.part`.
    static func interrupted(
        _ arguments: [String], once file: String, hasMoreThan bytes: Int, in folder: String
    ) throws -> EncodeRun {
        let script = """
            file=$1 bytes=$2
            shift 2
            "$0" encode "$@" &
            until [ "$(stat -c %s "$file.part" 2>/dev/null)" -gt "$bytes" ] 2>/dev/null; do
                kill -0 $! || exit 1
                sleep 0.05
            done
            kill -INT $!; wait $!
            """
        return EncodeRun(
            try ProcessRunner.run(
                "bash", ["-c", script, Checkout.vaenc, file, "\(bytes)"] + arguments, directory: folder))
    }

    /// Returns an entry of the effective configuration, of one output if there are several.
    func effective(_ option: String, output: Int? = nil) -> JSONValue? {
        let json = output.map { outputs[$0] } ?? report
        return json?["effective"]?.array.first { $0["option"]?.string == option }
    }
}
