internal import Glibc

/// Compiles C files in Tests to libraries for LD_PRELOAD.
public enum PreloadedLibrary {
    /// Returns the value of LD_PRELOAD that loads libraries before those of this process, such as sanitizers.
    static func variable(_ libraries: [String]) -> String {
        let own = unsafe getenv("LD_PRELOAD").map { unsafe String(cString: $0) } ?? ""
        return (libraries + [own]).filter { !$0.isEmpty }.joined(separator: ":")
    }

    /// Compiles `source`, a path in Tests, to a library in the build folder. Returns the library's path.
    ///
    /// - Parameter libraries: Linker options, such as `-ldl`.
    /// - Throws: `ProcessRunner.Failure` with the compiler's messages.
    public static func compile(_ source: String, libraries: [String] = []) throws -> String {
        let name = source.split(separator: "/").joined(separator: "-").dropLast(2)
        let path = "\(Checkout.buildFolder)/\(name).\(getpid()).so"
        let result = try ProcessRunner.run(
            "cc", ["-shared", "-fPIC", "-O2", "-o", path, Checkout.root + "/Tests/" + source] + libraries)
        guard result.status == 0 else { throw ProcessRunner.Failure(description: "cc: \(result.errors)") }
        let final = "\(Checkout.buildFolder)/\(name).so"
        guard unsafe rename(path, final) == 0 else { throw ProcessRunner.Failure(description: "cannot rename \(path)") }
        return final
    }
}
