import TestOracles
import Testing
@testable import Vaenc

/// The documentation names only existing declarations.
@Suite struct DocumentTests {
    private func text(_ path: String) throws -> String {
        String(decoding: try Files.read(Checkout.root + "/" + path), as: UTF8.self)
    }

    private func sources(_ folders: [String]) throws -> String {
        let find = try ProcessRunner.run("find", folders.map { Checkout.root + "/Sources/" + $0 } + ["-name", "*.swift"])
        return try find.output.split(separator: "\n").map { String(decoding: try Files.read(String($0)), as: UTF8.self) }
            .joined()
    }

    /// In docs/VIDEOTOOLBOX.md, each name in backticks other than Apple's is a property or member of the library, and
    /// every property is mapped.
    @Test func videoToolboxMapNamesExistingMembers() throws {
        let page = try text("docs/VIDEOTOOLBOX.md")
        let code = try sources(["Vaenc", "VideoBase", "VAAPI"])
        var properties: Set<String> = []
        for match in code.matches(of: #/static var (\w+): Self/#) { properties.insert(String(match.1)) }
        #expect(properties.count == AnyProperty.all.count)
        let declared = Set(code.matches(of: #/(?:var|let|func|case|struct|class|enum|protocol|typealias) `?(\w+)/#).map { String($0.1) })
        let labels = Set(code.matches(of: #/(\w+)(?: \w+)?:/#).map { String($0.1) })
        let readOnly = Set(ReadOnlyProperty.allCases.map(\.rawValue) + AnyProperty.all.map(\.name))
        var mapped: Set<String> = []
        for match in page.matches(of: #/`([^`]+)`/#) {
            let name = String(match.1)
            if ["kVT", "VT", "kCM", "CM", "session.set", "vaenc "].contains(where: name.hasPrefix) { continue }
            if name == "Vaenc" { continue }
            if name.hasPrefix(".") {
                mapped.insert(String(name.dropFirst()))
                #expect(properties.contains(String(name.dropFirst())), "\(name)")
                continue
            }
            let parts = name.split(whereSeparator: { ".(:)".contains($0) }).map(String.init).filter { $0 != "_" }
            for part in parts where part != "init" {
                #expect(
                    declared.contains(part) || readOnly.contains(part) || labels.contains(part) || properties.contains(part),
                    "\(name)")
            }
        }
        #expect(properties.subtracting(mapped) == [], "not on the page")
    }

    /// Each row of the page has an equivalent, or the reason why there is none.
    @Test func everyVideoToolboxRowHasAnAnswer() throws {
        let rows = try text("docs/VIDEOTOOLBOX.md").split(separator: "\n").filter { $0.hasPrefix("| `") || $0.hasPrefix("| a ") }
        #expect(rows.count > 130)
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingPrefix(" ") }
            #expect(cells.count >= 4 && cells[2].count > 1, "\(row)")
            if cells[2].hasPrefix("none") {
                #expect(cells[2].hasPrefix("none:") || cells[2].hasPrefix("none,") || cells[2].hasPrefix("none for") || cells[3].count > 2, "\(row)")
            }
        }
    }

    /// Every Swift program of the pages and of doc comments is complete: scripts/test-dependent.sh compiles and runs them.
    @Test func programsAreComplete() throws {
        try Files.withTemporaryFolder { folder in
            let run = try ProcessRunner.run(Checkout.root + "/scripts/doc-programs.py", [folder, "URL"])
            #expect(run.status == 0, "\(run.errors)")
            let names = run.output.split(separator: "\n")
            #expect(names.count > 15 && names.contains("compressionsession-1"), "\(names)")
        }
    }

    /// Every quirk of a driver is on one of the pages, and the pages have no other.
    @Test func everyDriverQuirkIsOnAPage() throws {
        let code = try text("Sources/VAAPI/Capabilities/DriverQuirk.swift")
        let quirks = Set(code.matches(of: #/static let (\w+) = DriverQuirk\(/#).map { String($0.1) })
        let pages = try text("docs/STRUCTURE.md") + text("docs/HEVC.md")
        let rows = pages.matches(of: #/(?m)^\| `(\w+)` \|[^|]+\|[^|]+\|$/#).map { String($0.1) }
        #expect(quirks.count > 20 && Set(rows) == quirks, "\(Set(rows).symmetricDifference(quirks))")
    }

    /// Every path of this repository that the pages name exists, or begins the names of several files.
    @Test func pathsExist() throws {
        let folders = ["Sources", "Tests", "Benchmarks", "Examples", "scripts", "docs"]
        let find = try ProcessRunner.run("find", folders + ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"], directory: Checkout.root)
        let files = find.output.split(separator: "\n")
        var count = 0
        for page in files where page.hasSuffix(".md") {
            for match in try text(String(page)).matches(of: #/\b(?:Sources|Tests|Benchmarks|Examples|scripts|docs)/[\w/+.-]*\w/#) {
                // README.md shows a program of another package.
                if match.0 == "Sources/film/main.swift" { continue }
                count += 1
                #expect(files.contains { $0.hasPrefix(match.0) }, "\(page): \(match.0)")
            }
        }
        #expect(count > 100)
    }

    /// The reference of the command line is the program's own help.
    @Test func commandLineReferenceIsTheHelp() throws {
        let run = try ProcessRunner.run(Checkout.root + "/scripts/cli-reference.sh", ["--check", Checkout.vaenc])
        #expect(run.status == 0, "\(run.errors)")
    }

    /// Errors of the library name its settings, in backticks, and no options; the command line knows an option for each.
    @Test func errorsNameSettings() throws {
        let options = try text("Sources/VaencCLI/Support/OptionNames.swift")
        let known = Set(options.matches(of: #/"([^"`]+)": "(?:`?vaenc [a-z]+`?"|(?:vaenc [a-z]+ )?--)/#).map { String($0.1) })
        let commands = ["dmesg", "ffprobe", "make install", "swift build", "vainfo", "arecord", "man ffmpeg", "pactl", "sudo usermod"]
        let declarations = try sources(["VideoBase", "MediaFiles", "Capture", "Vaenc"])
        // In programs, PreviewWindow replaces the option.
        for name in known where !name.contains(".") && !name.contains(":") && name != "preview" {
            let isDeclared = ["var \(name)", "let \(name)", " \(name): ", "(\(name): ", "enum \(name)", "struct \(name)", "class \(name)"].contains {
                declarations.contains($0)
            }
            #expect(isDeclared, "\(name)")
        }
        let library = [
            "Vaenc", "EncodeSession", "VideoBase", "VAAPI", "SoftwareEncode", "Capture", "DecodeSession", "RateControl", "EncodePlanning",
            "LibAV", "MediaFiles", "NALUnits", "H264Syntax", "HEVCSyntax", "ReferenceDisplay", "Preview",
        ]
        for line in try sources(library).split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
            // Most lines have no literal.
            guard line.utf8.contains(UInt8(ascii: "\"")) else { continue }
            for literal in line.matches(of: #/"[^"]*"/#) where ["-", "`", "vaenc "].contains(where: literal.0.contains) {
                #expect(literal.0.firstMatch(of: #/(^|[^a-z-])--[a-z]|\bvaenc (encode|remux|probe|convert|decode|capture)\b/#) == nil, "\(line)")
                for quoted in literal.0.matches(of: #/`([A-Za-z][^`\\]*)`/#) {
                    let name = String(quoted.1)
                    #expect(known.contains(name) || commands.contains { name.hasPrefix($0) }, "\(name): \(line)")
                }
            }
        }
    }
}
