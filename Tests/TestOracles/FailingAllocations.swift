internal import Glibc

/// A library for LD_PRELOAD in which one allocation of FFmpeg's libraries fails (Tests/FailingAllocations).
public enum FailingAllocations {
    /// The exit status where FFmpeg's own code ended the program.
    public static let libraryFault = 99

    /// Every allocation is to fail, one a run, rather than some of them (VAENC_ALLOCATION_SWEEP=all).
    public static let sweepsAll = unsafe getenv("VAENC_ALLOCATION_SWEEP").map { unsafe String(cString: $0) } == "all"

    /// The library, compiled once a run.
    private static let library = Result<String, any Error> {
        let path = "\(Checkout.buildFolder)/failing-allocations.\(getpid()).so"
        let result = try ProcessRunner.run(
            "cc", ["-shared", "-fPIC", "-O2", "-o", path, Checkout.root + "/Tests/FailingAllocations/allocations.c"])
        guard result.status == 0 else { throw ProcessRunner.Failure(description: "cc: \(result.errors)") }
        let final = "\(Checkout.buildFolder)/failing-allocations.so"
        guard unsafe rename(path, final) == 0 else { throw ProcessRunner.Failure(description: "cannot rename \(path)") }
        return final
    }

    /// What a program's environment must have for its allocation `number` to fail; nil: none fails.
    ///
    /// - Parameter other: what else it must have, of another preloaded library.
    public static func environment(failing number: Int?, beside other: [String: String?] = [:]) throws -> [String: String?] {
        try environment(beside: other, "FAIL_ALLOCATION", number.map { "\($0)" })
    }

    private static func environment(
        beside other: [String: String?], _ name: String, _ value: String?
    ) throws -> [String: String?] {
        var all = other
        let libraries = [try library.get(), other["LD_PRELOAD"] ?? nil].compactMap(\.self)
        all["LD_PRELOAD"] = libraries.joined(separator: ":")
        all[name] = value
        return all
    }

    /// How many allocations of FFmpeg's libraries a program makes.
    public static func count(
        _ program: String, _ arguments: [String], beside other: [String: String?] = [:], directory: String
    ) throws -> Int {
        let file = directory + "/allocations"
        let result = try ProcessRunner.run(
            program, arguments, environment: environment(beside: other, "ALLOCATION_COUNT", file), directory: directory)
        guard result.status == 0, let text = try? Files.read(file),
            let count = Int(String(decoding: text.dropLast(), as: UTF8.self))
        else {
            throw ProcessRunner.Failure(description: "\(arguments): \(result.status) \(result.errors)")
        }
        unsafe unlink(file)
        return count
    }
}
