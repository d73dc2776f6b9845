import TestOracles

/// One run of `vaenc encode --json …`, and what it reports.
struct EncodeRun {
    var status: Int
    var report: JSONValue?
    var errors: String
    /// The lines of stderr that are not blank.
    var errorLines: [Substring]
    /// Of several outputs, a part of the report to each.
    var outputs: [JSONValue] { report?["outputs"]?.array ?? [] }

    init(_ result: ProcessRunner.Result) {
        (status, report) = (result.status, JSONValue(result.output))
        (errors, errorLines) = (result.errors, result.errorLines)
    }

    /// - Parameters:
    ///   - input: what it reads on stdin.
    ///   - environment: added to this process's.
    init(
        _ arguments: [String], in folder: String? = nil, input: [UInt8] = [], environment: [String: String?] = [:]
    ) throws {
        self.init(
            try ProcessRunner.run(
                Checkout.vaenc, ["encode"] + arguments, environment: environment, input: input, directory: folder, timeout: 60))
    }

    /// Runs until `file` has more than so many bytes and Ctrl-C ends it. The file is there under its name with `.part`
    /// until then.
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
                "bash", ["-c", script, Checkout.vaenc, file, "\(bytes)"] + arguments, directory: folder, timeout: 60))
    }

    /// An entry of the effective configuration, of one output where there are several.
    func effective(_ option: String, output: Int? = nil) -> JSONValue? {
        let place = output.map { outputs[$0] } ?? report
        return place?["effective"]?.array.first { $0["option"]?.string == option }
    }
}
