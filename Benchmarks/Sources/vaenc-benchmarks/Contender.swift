import Glibc
import TestOracles

/// A program that encodes, with its arguments and environment.
struct Contender {
    var name: String
    var program: String
    var arguments: [String]
    var environment: [String: String?] = [:]
    /// The GPU whose kernel driver is faked, by its name for tools/fakegpu/run; nil for none.
    var fakedGPU: String?
    /// The number of processes that run at once.
    var jobs = 1
    /// The number of times that the program may run until it succeeds once.
    var attempts = 1

    /// The arguments that name outputs, which `Workbench.output` made.
    private var outputs: [String] {
        let prefix = "location="
        let paths = arguments.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0 }
        return paths.filter { path in
            guard let slash = path.lastIndex(of: "/"), path.hasPrefix("/") else { return false }
            return path[path.index(after: slash)...].hasPrefix(Workbench.outputPrefix)
        }
    }

    /// The same program on one CPU. The result excludes the cost of threads that run in parallel, which differs between
    /// machines.
    var onOneCPU: Contender {
        var result = self
        result.program = "taskset"
        result.arguments = ["-c", "0", program] + arguments
        return result
    }

    /// Runs the program and returns what it wrote to stdout.
    func run() throws -> ProcessRunner.Result { try run(program, arguments) }

    /// Runs the program with /dev/null as stdout and returns what it used.
    func measure() throws -> Cost.Run {
        for _ in 1..<attempts { if let run = try? measureOnce() { return run } }
        return try measureOnce()
    }

    private func measureOnce() throws -> Cost.Run {
        // Every program writes a new file. Otherwise one that truncates its old file first would get warm memory for the new
        // one, and one that replaces the file at the end would not.
        for output in outputs { _ = unsafe unlink(output) }
        return try Files.withTemporaryFolder { folder in
            let path = folder + "/usage"
            _ = try run(try NullDevice.folder() + "/launch", ["\(jobs)", path, program] + arguments)
            let text = String(decoding: try Files.read(path), as: UTF8.self)
            let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard numbers.count == 4 else { throw Unmeasurable(description: "\(name): the launcher wrote \(text)") }
            return Cost.Run(cpu: numbers[0] + numbers[1], wall: numbers[3], peak: numbers[2])
        }
    }

    private func run(_ program: String, _ arguments: [String]) throws -> ProcessRunner.Result {
        let command = try FakedGPU.command(fakedGPU, [program] + arguments)
        let result = try ProcessRunner.run(command[0], Array(command[1...]), environment: environment, timeout: 600)
        guard result.status == 0 else {
            throw Unmeasurable(description: "\(name) ended with status \(result.status): \(result.errorLines.last ?? "")")
        }
        return result
    }
}

/// The measurements of one program's runs.
struct Cost {
    struct Run {
        /// The user and system time in seconds.
        var cpu: Double
        /// The elapsed time in seconds.
        var wall: Double
        /// The peak resident set in KiB.
        var peak: Double
    }

    var runs: [Run] = []
    var cpu: [Double] { runs.map(\.cpu) }
    var wall: [Double] { runs.map(\.wall) }
    var peak: [Double] { runs.map(\.peak) }

    /// Runs each contender once without measuring, and then `rounds` times. In each round, the contenders run one after
    /// the other.
    static func measure(_ contenders: [Contender], rounds: Int) throws -> [Cost] {
        for contender in contenders { _ = try contender.measure() }
        var costs = [Cost](repeating: Cost(), count: contenders.count)
        for _ in 0..<rounds {
            for (index, contender) in contenders.enumerated() { costs[index].runs.append(try contender.measure()) }
        }
        return costs
    }

    /// Returns the median of each round's ratio to another program.
    func ratio(_ value: (Run) -> Double, to other: Cost) -> Double {
        median(runs.indices.map { value(runs[$0]) / value(other.runs[$0]) })
    }

    /// Returns the ratio of the CPU time above `base` to another program's; NaN if the other program's is not above it.
    func cpuRatio(to other: Cost, above base: Cost) -> Double {
        let least = median(base.cpu), rest = median(other.cpu) - least
        return rest > 0 ? (median(cpu) - least) / rest : .nan
    }
}
