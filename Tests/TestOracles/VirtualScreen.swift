/// Runs programs that need an X server on a virtual one.
///
/// xvfb-run is not used: its shell sometimes turns a status other than 0 into 5. The server signals the shell when its
/// last client has ended. If the signal arrives during the script's clean-up, dash confuses the program's status with
/// that of the command that it has just run.
public enum VirtualScreen {
    /// The arguments are the folder, the program and its arguments. The server chooses a free display, and writes its
    /// number when it accepts clients. If the server does not start, the read fails. No client uses GLX, which takes half
    /// of the server's start.
    private static let script = """
        display=$1/display
        shift
        mkfifo "$display" || exit 1
        Xvfb -displayfd 3 -extension GLX -screen 0 1280x1024x24 -nolisten tcp -noreset 3>"$display" >/dev/null 2>&1 &
        server=$!
        read -r number <"$display" || { echo 'Xvfb does not start' >&2; exit 1; }
        DISPLAY=:$number "$@"
        status=$?
        kill "$server"
        wait "$server"
        exit "$status"
        """

    /// Runs a program like `ProcessRunner.run`, with its own X server. If the program does not exist, the status is
    /// 127.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], timeout: Double = 600
    ) throws -> ProcessRunner.Result {
        try Files.withTemporaryFolder { folder in
            try ProcessRunner.run(
                "sh", ["-c", script, "sh", folder, program] + arguments, environment: environment, timeout: timeout)
        }
    }

    /// Runs a program like `run`, with the driver just built for libva.
    public static func runOnDriver(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], timeout: Double = 600
    ) throws -> ProcessRunner.Result {
        var variables = Checkout.driverEnvironment
        variables["LIBVA_MESSAGING_LEVEL"] = "0"
        variables["XDG_RUNTIME_DIR"] = "/tmp"
        for name in ["RECON", "MODE", "PERSONALITY", "COUNTS", "LOG"] {
            variables["VAENC_REFERENCE_" + name] = .some(nil)
        }
        for (name, value) in environment { variables[name] = value }
        return try run(program, arguments, environment: variables, timeout: timeout)
    }
}
