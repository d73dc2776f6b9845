internal import Glibc

/// A library for LD_PRELOAD that makes one allocation of FFmpeg's libraries fail (Tests/FailingAllocations).
public enum FailingAllocations {
    /// The exit status if FFmpeg's own code ended the program.
    public static let libraryFault = 99

    /// Whether tests fail every allocation, one in each run, and not only some of them (VAENC_ALLOCATION_SWEEP=all).
    public static let sweepsAll = unsafe getenv("VAENC_ALLOCATION_SWEEP").map { unsafe String(cString: $0) } == "all"

    /// The path of the library, which is compiled once in each run.
    private static let library = Result<String, any Error> {
        let path = "\(Checkout.buildFolder)/failing-allocations.\(getpid()).so"
        let result = try ProcessRunner.run(
            "cc", ["-shared", "-fPIC", "-O2", "-o", path, Checkout.root + "/Tests/FailingAllocations/allocations.c"])
        guard result.status == 0 else { throw ProcessRunner.Failure(description: "cc: \(result.errors)") }
        let final = "\(Checkout.buildFolder)/failing-allocations.so"
        guard unsafe rename(path, final) == 0 else { throw ProcessRunner.Failure(description: "cannot rename \(path)") }
        return final
    }

    /// Returns the environment in which a program's allocation `number` fails. If `number` is nil, none fails.
    ///
    /// - Parameter other: Variables that the environment must also have. Its LD_PRELOAD is kept.
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

    /// Returns the number of allocations of FFmpeg's libraries in a run of a program.
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
