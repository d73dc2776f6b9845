import Glibc
import Vaenc
import VideoBase

/// Starts programs with the signal mask and dispositions of a shell.
enum ProgramStart {
    /// Starts `arguments[0]`, which is looked up in PATH.
    ///
    /// - Parameters:
    ///   - environment: Variables that override those of this process; nil removes a variable.
    ///   - output: The program's standard output.
    ///   - errors: The program's standard error.
    ///   - record: The program's descriptor 3; nil for none.
    ///   - isInOwnGroup: Whether the process leads a process group. Ctrl-C on a terminal does not reach it, and one
    ///     signal to the group ends it with its children.
    /// - Returns: The process, and 0 or errno.
    static func spawn(
        _ arguments: [String], environment: [String: String?] = [:], output: Int32, errors: Int32, record: Int32? = nil,
        isInOwnGroup: Bool
    ) -> (process: pid_t, failure: Int32) {
        var variables: [String] = []
        var entry = unsafe environ
        // SAFETY: environ is an array of C strings that ends with nil.
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            let name = String(line.prefix { $0 != "=" })
            if environment[name] == nil { variables.append(line) }
            unsafe entry += 1
        }
        for (name, value) in environment { if let value { variables.append("\(name)=\(value)") } }

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (descriptor, number) in [(output, Int32(1)), (errors, 2), (record ?? -1, 3)] where descriptor >= 0 {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var usual = none
        for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&usual, number) }
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (isInOwnGroup ? POSIX_SPAWN_SETPGROUP : 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        // SAFETY: posix_spawnp copies the strings for the child; `defer` frees them after the call.
        let argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let envp = unsafe variables.map { unsafe strdup($0) } + [nil]
        let texts = unsafe argv + envp
        defer { for index in unsafe texts.indices { unsafe free(texts[index]) } }
        var process: pid_t = 0
        let failure = unsafe posix_spawnp(&process, arguments[0], &actions, &attributes, argv, envp)
        return (process, failure)
    }

    /// Returns the error for a program that could not be started.
    static func error(_ code: Int32, _ program: String) -> VaencError {
        switch code {
        case EMFILE, ENFILE: VaencError.noDescriptor("to run \(program)")
        case ENOMEM: VaencError.noMemory("to run \(program)")
        case EAGAIN: VaencError.noThread("to run \(program)")
        default: VaencError(.unavailable, "cannot run \(program)", remedy: "install it, or leave it out")
        }
    }
}
