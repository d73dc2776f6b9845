import TestOracles
import Testing

/// Plain command lines are read without ArgumentParser. `--` at the end makes ArgumentParser read the same line: both must
/// give the same result.
@Suite struct PlainCommandLineTests {
    /// What a command line did, without times.
    private struct Outcome: Equatable {
        var status: Int
        var errors: [Substring]
        var effective: [JSONValue?]
        var outputs: [String: [UInt8]]

        init(_ arguments: [String], isPlain: Bool) throws {
            self = try Files.withTemporaryFolder { folder in
                let run = try ProcessRunner.run(Checkout.vaenc, arguments + (isPlain ? [] : ["--"]), directory: folder)
                let report = JSONValue(run.output)
                let whole = report?["outputs"]?.array.map { $0["effective"] } ?? [report?["effective"]]
                return Outcome(
                    status: run.status, errors: run.errorLines, effective: whole,
                    outputs: try Dictionary(uniqueKeysWithValues: Files.list(folder).map { ($0, try Files.read("\(folder)/\($0)")) }))
            }
        }

        private init(status: Int, errors: [Substring], effective: [JSONValue?], outputs: [String: [UInt8]]) {
            (self.status, self.errors, self.effective, self.outputs) = (status, errors, effective, outputs)
        }
    }

    private static let encode = ["encode", "testsrc:64x64@30:3", "--device", "reference", "--json", "-o", "out.mp4"]

    private func expectSame(_ arguments: [String]) throws {
        let plain = try Outcome(arguments, isPlain: true)
        let parsed = try Outcome(arguments, isPlain: false)
        #expect(plain == parsed, "\(arguments)")
    }

    /// Values that change the stream or the report, for options whose first accepted value changes nothing.
    private static let values = [
        "--bitrate": "300k", "--max-bitrate": "600k", "--vbv-size": "400k", "--data-rate-limit": "90000/1", "--roi": "0,0,32x32:-6",
        "--change-bitrate": "1=200k", "--force-key": "1", "--profile": "main", "--level": "4.1", "--size": "32x32", "--fps": "25",
        "--start": "0.04", "--duration": "0.05", "--format": "mkv", "--color-primaries": "bt709", "--color-transfer": "bt709",
        "--color-matrix": "bt709", "--color-range": "full", "--content-light": "1000,400", "--bit-depth": "8", "--input-size": "64x64",
        "--lookahead": "3", "--low-power": "off", "--codec": "hevc", "--tier": "main", "--hrd": "off", "--identifier": "off",
    ]

    /// An option that `read` leaves out still works, but every command line with it takes ArgumentParser's time.
    @Test func eachOptionIsRead() throws {
        let folder = Checkout.root + "/Sources/VaencCLI"
        let files = try Files.list(folder + "/Options").map { "Options/\($0)" } + ["Probe/ProbeCommand.swift"]
        let text = try files.map { String(decoding: try Files.read("\(folder)/\($0)"), as: UTF8.self) }.joined()
        for command in try CommandOptions.all() where ["encode", "probe"].contains(command.command) {
            for name in command.options.flatMap(\.names) where !Self.isOfEveryCommand(name) {
                let forms = [
                    "line.value(\"\(name)\"", "line.values(\"\(name)\"", "line.flag(\"\(name)\"", "inverse: \"\(name)\")", "\", \"\(name)\")",
                ]
                #expect(forms.contains { text.contains($0) }, "\(name)")
            }
        }
    }

    /// The forms `--name VALUE` and `--name=VALUE` take turns.
    @Test func eachOptionHasTheSameEffect() throws {
        let options = try #require(try CommandOptions.all().first { $0.command == "encode" }).options
        for (index, option) in options.enumerated() {
            for name in option.names where !Self.isOfEveryCommand(name) {
                let value = Self.values[name] ?? option.value
                let words = option.takesValue ? index % 2 == 0 || !name.hasPrefix("--") ? [name, value] : ["\(name)=\(value)"] : [name]
                try expectSame(["encode"] + words + Self.encode.dropFirst())
            }
        }
    }

    private static func isOfEveryCommand(_ name: String) -> Bool { ["--help", "-h", "--version"].contains(name) }

    @Test(arguments: [
        "encode -o out.h264 testsrc:64x64@30:3 --device reference --codec avc --json",
        "encode testsrc:64x64@30:3 -o a.mp4 -o b.h264 --device reference --json", "encode a b", "encode -", "encode missing.mp4 -o -",
        "encode testsrc:64x64@30:3 --qp -5", "encode testsrc:64x64@30:3 --qp x",
        "encode testsrc:64x64@30:3 --qp 20 --qp 30", "encode testsrc:64x64@30:3 --strict --strict --device reference --json",
        "encode testsrc:64x64@30:3 --b-pyramid --no-b-pyramid", "encode testsrc:64x64@30:3 --no-b-pyramid --bframes 2 --device reference --json",
        "encode testsrc:64x64@30:3 --aud=yes", "encode testsrc:64x64@30:3 --qp=", "encode testsrc:64x64@30:3 --crf 30 --device reference --json",
        "encode testsrc:64x64@30:3 --unknown 3", "encode testsrc:64x64@30:3 -qp 3", "encode testsrc:64x64@30:3 -o=x.mp4 --device reference --json",
        "encode testsrc:64x64@30:3 --output out.mp4 -o b.h264 --device reference --json", "probe --device reference",
        "probe --device=reference --json", "probe --all --device reference", "probe --device nowhere", "probe x",
        "probe --json --json --device software", "probe --device reference --device software",
    ]) func lineHasTheSameEffect(_ line: String) throws {
        try expectSame(line.split(separator: " ").map(String.init))
    }
}
