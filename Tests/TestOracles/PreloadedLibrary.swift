internal import Glibc

/// Libraries for LD_PRELOAD that are made of C files in Tests.
public enum PreloadedLibrary {
    /// The value of LD_PRELOAD that puts libraries before those that this process was started with, as sanitizers need.
    static func variable(_ libraries: [String]) -> String {
        let own = unsafe getenv("LD_PRELOAD").map { unsafe String(cString: $0) } ?? ""
        return (libraries + [own]).filter { !$0.isEmpty }.joined(separator: ":")
    }

    /// Compiles `source`, a path in Tests, to a library in the build folder, and returns its path.
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
