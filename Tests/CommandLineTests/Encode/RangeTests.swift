import TestOracles
import Testing

/// Every option whose help names a range, such as `0 to 51`: values just outside are refused with the same range in the
/// error, and the limits themselves are accepted.
@Suite struct RangeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var command: String
        /// The option's name with dashes.
        var option: String
        var valueName: String
        var low: Double
        var high: Double
        /// The range as the help writes it: `1k to 4G`.
        var range: String
        var isWhole: Bool

        var testDescription: String { "\(command) \(option)" }

        /// Returns an option value that contains the number.
        func value(_ number: Double) -> String {
            let text = isWhole ? "\(Int(number))" : "\(number)"
            return switch valueName {
            case "X,Y,WxH:DELTA": "0,0,16x16:\(text)"
            case "on|off|ALPHA:BETA": "\(text):0"
            default: text
            }
        }

        /// The distance to the first number outside of the range.
        var step: Double { isWhole ? 1 : 0.01 }
    }

    /// Returns the limits of a range such as `1 (best) to 51`, without text in brackets; nil if the text has no range.
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
                // Options that `capture` shares with `encode` are tested once.
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
            case "decode": ["decode", "testsrc:64x48@25:2", "--device", device, "--overwrite", "-o", "o.y4m", option]
            default: [item.command, "testsrc:64x48@25:2", "--device", device, "--overwrite", "-o", "o.h264", option]
            }
        return try ProcessRunner.run(Checkout.vaenc, arguments, directory: folder)
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
            // Each limit on one of the devices, which alternate with the options.
            let devices = item.option.utf8.count % 2 == 0 ? ["software", "reference"] : ["reference", "software"]
            for (device, inside) in zip(devices, [item.low, item.high]) {
                let result = try Self.run(item, inside, device: device, in: folder)
                #expect(result.status != 64, "\(device), \(inside): \(result.errors)")
            }
        }
    }

    @Test func rangesAreFoundInTheHelp() throws {
        let found = try Self.cases()
        #expect(found.count > 20, "\(found.map(\.testDescription))")
        #expect(found.contains { $0.option == "--max-slice-bytes" && $0.range == "64 to 268435456" })
    }
}
