/// The command line of the benchmarks.
struct BenchmarkOptions {
    var parts: [String] = []
    /// The number of counted rounds of the parts host, device, live, startup and probe; nil for the default of each.
    var runs: Int?
    /// The cases of the part host; empty for all.
    var cases: [String] = []
    var jsonPath: String?
    /// Whether the programs run before all others of the machine.
    var isFirst = false
    /// Whether only the command line is checked.
    var isCheck = false
    var showsHelp = false

    struct BadUsage: Error { var description: String }

    /// - Throws: `BadUsage` for an unknown part, case or option, and for a missing or wrong value.
    init(_ arguments: [String]) throws(BadUsage) {
        var rest = arguments[...]
        func value(_ option: String, _ kind: String) throws(BadUsage) -> String {
            guard let value = rest.popFirst(), !value.isEmpty else { throw BadUsage(description: "\(option) needs \(kind)") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": showsHelp = true
            case "--check": isCheck = true
            case "--first": isFirst = true
            case "--json": jsonPath = try value(argument, "a file")
            case "--runs":
                let text = try value(argument, "a number of rounds")
                guard let number = Int(text), (1...1000).contains(number) else {
                    throw BadUsage(description: "--runs \(text) is not a number from 1 to 1000")
                }
                runs = number
            case "--cases":
                cases = try value(argument, "names of cases, with commas").split(separator: ",").map(String.init)
                let names = HostCase.all.map(\.name)
                if let unknown = cases.first(where: { !names.contains($0) }) {
                    throw BadUsage(description: "no such case: \(unknown) (\(names.joined(separator: ", ")))")
                }
            default:
                if argument.hasPrefix("-") { throw BadUsage(description: "no such option: \(argument); --help lists all") }
                guard Part.all.contains(where: { $0.name == argument }) else {
                    throw BadUsage(description: "no such part: \(argument)\n\(Self.partList)")
                }
                parts.append(argument)
            }
        }
    }

    static var partList: String {
        "parts:\n" + Part.all.map { "  \(padded($0.name, 12)) \($0.summary)" }.joined(separator: "\n")
    }

    static var help: String {
        """
        Benchmarks/run [OPTION]... [PART]...: compares vaenc with other programs and prints each figure with its target.

        \(partList)

        options (of the parts host, device, live, startup and probe, except --json):
          --runs N     counted rounds of each comparison (host \(HostCost.defaultRounds), device \(DeviceUse.defaultRounds), \
        live \(LiveLatency.defaultRounds), startup and probe \(Startup.defaultRounds))
          --cases A,B  cases of host: \(HostCase.all.map(\.name).joined(separator: ", "))
          --first      run before all other programs of the machine (real-time scheduling; needs root)
          --json FILE  write all figures to a file
        """
    }
}
