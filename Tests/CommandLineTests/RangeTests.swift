import TestOracles
import Testing

/// Every option whose help names a range, as `0 to 51`: a value below it and one above it are refused, naming the same range, and
/// the values at its ends are not.
@Suite struct RangeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var command: String
        /// With dashes.
        var option: String
        var valueName: String
        var low: Double
        var high: Double
        /// As help writes it: `1k to 4G`.
        var range: String
        var isWhole: Bool

        var testDescription: String { "\(command) \(option)" }

        /// The value of the option that has a number of the range in it.
        func value(_ number: Double) -> String {
            let text = isWhole ? "\(Int(number))" : "\(number)"
            return switch valueName {
            case "X,Y,WxH:DELTA": "0,0,16x16:\(text)"
            case "on|off|ALPHA:BETA": "\(text):0"
            default: text
            }
        }

        /// A number just outside.
        var step: Double { isWhole ? 1 : 0.01 }
    }

    /// `1 (best) to 51`: each number, and the whole without what stands in brackets; nil where a text names no range.
    private static func range(in text: String) -> (low: Substring, high: Substring)? {
        guard let match = text.firstMatch(of: #/(-?[0-9]+(?:\.[0-9]+)?[kMG]?)(?: \([^)]*\))? to (-?[0-9]+(?:\.[0-9]+)?[kMG]?)/#) else { return nil }
        return (match.1, match.2)
    }

    private static func number(_ text: Substring) -> Double? {
        let units: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
        if let unit = text.last.flatMap({ units[$0] }) { return Double(text.dropLast()).map { $0 * unit } }
        return Double(text)
    }

    static func cases() throws -> [Case] {
        var seen: Set<String> = []
        return try CommandOptions.all().flatMap { command in
            command.options.compactMap { option -> Case? in
                // What `capture` shares with `encode` is the same option.
                let ofCameras = ["--capture-input", "--stall-timeout"].contains(option.names[0])
                if command.command == (ofCameras ? "encode" : "capture") { return nil }
                guard option.takesValue, !option.isHidden, let (low, high) = range(in: option.help), let least = number(low), let most = number(high),
                    seen.insert("\(command.command) \(option.names[0])").inserted
                else { return nil }
                let name = option.names.first { $0.hasPrefix("--") } ?? option.names[0]
                return Case(
                    command: command.command, option: name, valueName: option.valueName, low: least, high: most, range: "\(low) to \(high)",
                    isWhole: !low.contains("."))
            }
        }
    }

    private static func run(_ item: Case, _ number: Double, device: String = "software", in folder: String) throws -> ProcessRunner.Result {
        let option = "\(item.option)=\(item.value(number))"
        let arguments =
            switch item.command {
            case "bench": ["bench", "nowhere.mp4", "--device", device, "--no-ffmpeg", option]
            case "capture": ["capture", "/dev/video99", "--device", device, "-o", "o.mp4", option]
            default: [item.command, "testsrc:64x48@25:2", "--device", device, "--overwrite", "-o", "o.h264", option]
            }
        return try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder, timeout: 60)
    }

    @Test(arguments: try cases()) func helpAndErrorsAgree(_ item: Case) throws {
        try Files.withTemporaryFolder { folder in
            for outside in [item.low - item.step, item.high + item.step] {
                let result = try Self.run(item, outside, in: folder)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(outside): \(result.status) \(result.errors)")
                let named = Self.range(in: result.errors).map { "\($0.low) to \($0.high)" }
                #expect(named == item.range && result.errors.contains("\(item.option) "), "\(outside): \(result.errors)")
            }
            #expect(Files.list(folder).isEmpty)
            for device in ["software", "reference"] {
                for inside in [item.low, item.high] {
                    let result = try Self.run(item, inside, device: device, in: folder)
                    #expect(result.status != 64, "\(device), \(inside): \(result.errors)")
                }
            }
        }
    }

    @Test func rangesAreFound() throws {
        let found = try Self.cases()
        #expect(found.count > 20, "\(found.map(\.testDescription))")
        #expect(found.contains { $0.option == "--max-slice-bytes" && $0.range == "64 to 268435456" })
    }
}
