/// A library for LD_PRELOAD that counts a program's own allocations (Tests/CountedAllocations).
public enum CountedAllocations {
    private static let library = Result { try PreloadedLibrary.compile("CountedAllocations/allocations.c") }

    /// Runs a program and returns its number of allocations, without those of the libraries that it loads.
    ///
    /// - Throws: `ProcessRunner.Failure` if the program does not exit with status 0.
    public static func count(_ program: String, _ arguments: [String], environment: [String: String?]) throws -> Int {
        let preload = ["LD_PRELOAD": PreloadedLibrary.variable([try library.get()])] as [String: String?]
        let result = try ProcessRunner.run(program, arguments, environment: environment.merging(preload) { $1 })
        let prefix = "allocations: "
        guard result.status == 0, let line = result.errorLines.last(where: { $0.hasPrefix(prefix) }),
            let count = Int(line.dropFirst(prefix.count))
        else { throw ProcessRunner.Failure(description: "\(result.status): \(result.errors)") }
        return count
    }
}
