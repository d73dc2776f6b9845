/// Runs programs that want an X server on one without a screen.
///
/// Not by xvfb-run: its shell turns any status but 0 into a 5 at times. The server signals it when its last client is
/// gone, and a signal that comes in the script's clean-up makes dash take the program's status for that of the command
/// which it has just run.
public enum VirtualScreen {
    /// The folder, then the program and its arguments. The server looks for a display that is free, and writes its
    /// number when it takes clients; where it does not come up the read fails.
    private static let script = """
        display=$1/display
        shift
        mkfifo "$display" || exit 1
        Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp -noreset 3>"$display" >/dev/null 2>&1 &
        server=$!
        read -r number <"$display" || { echo 'Xvfb does not start' >&2; exit 1; }
        DISPLAY=:$number "$@"
        status=$?
        kill "$server"
        wait "$server"
        exit "$status"
        """

    /// Like ProcessRunner.run, with an X server of the program's own. A program that is not there ends with status 127.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], timeout: Double = 120
    ) throws -> ProcessRunner.Result {
        try Files.withTemporaryFolder { folder in
            try ProcessRunner.run(
                "sh", ["-c", script, "sh", folder, program] + arguments, environment: environment, timeout: timeout)
        }
    }

    /// Like run, with libva pointed at the driver just built.
    public static func runOnDriver(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], timeout: Double = 120
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
