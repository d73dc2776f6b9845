extension ProcessRunner {
    /// Runs a program like `run`, and reports its own peak resident set in `peakKB`.
    ///
    /// If a child shares its parent's memory before `exec`, the kernel counts that memory too, and no peak below this
    /// program's own is visible. For this reason a small Python program starts the child and waits for it.
    public static func runMeasuringMemory(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], input: [UInt8] = [],
        directory: String? = nil, timeout: Double = 600
    ) throws -> Result {
        try Files.withTemporaryFolder { folder in
            let script = """
                import os, sys
                child = os.fork()
                if child == 0:
                    try:
                        os.execvp(sys.argv[2], sys.argv[2:])
                    finally:
                        os._exit(127)
                _, status, usage = os.wait4(child, 0)
                with open(sys.argv[1], "w") as file:
                    file.write(str(usage.ru_maxrss))
                sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
                """
            let path = folder + "/peak"
            var result = try run(
                "python3", ["-c", script, path, program] + arguments, environment: environment, input: input,
                directory: directory, timeout: timeout)
            if !result.timedOut {
                guard let peak = Int(String(decoding: try Files.read(path), as: UTF8.self)) else {
                    throw Failure(description: "no peak of \(program): \(result.errors)")
                }
                result.peakKB = peak
            }
            return result
        }
    }
}
