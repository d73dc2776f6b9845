import TestOracles
import Testing

/// The report of `vaenc bench`: its HTML page and its SVG drawing.
@Suite struct BenchReportTests {
    private func bench(_ arguments: [String], in folder: String) throws -> ProcessRunner.Result {
        try ProcessRunner.run(Checkout.vaenc, ["bench"] + arguments, directory: folder)
    }

    /// The page has all parts and the figures of the JSON object, is well-formed XML, refers to no other file, and shows
    /// the name of the clip as text. The drawing has a point for each run in the charts of PSNR and SSIM.
    @Test func pageHasTheFiguresOfTheReport() throws {
        try Files.withTemporaryFolder { folder in
            let clip = "a<b>&amp;\"'<script>.y4m"
            let made = try ProcessRunner.run(Checkout.vaenc, ["decode", "testsrc:96x64@25:5", "-o", clip], directory: folder)
            try #require(made.status == 0, "\(made.errors)")
            let run = try bench(
                [
                    clip, "--device", "reference", "--no-ffmpeg", "--qp", "24,30,36,42", "--html", "report.html", "--svg", "charts.svg", "--json",
                ], in: folder)
            try #require(run.status == 0, "\(run.errors)")
            let report = try #require(JSONValue(run.output))
            #expect(report["runs"]?.array.count == 16 && report["plannedRuns"]?.int == 16)
            #expect(report["interrupted"]?.bool == false && report["deviceKind"]?.string == "reference")
            #expect(report["pictures"]?.array.count == 4)
            try Files.write(run.stdout, to: folder + "/report.json")
            let checked = try ProcessRunner.run("python3", ["-c", Self.check, "report.html", "charts.svg", "report.json", clip], directory: folder)
            #expect(checked.status == 0 && checked.output == "16 runs\n", "\(checked.output) \(checked.errors)")
            #expect(Set(Files.list(folder)) == [clip, "report.html", "charts.svg", "report.json"])
        }
    }

    /// Compares a page and a drawing with the JSON object.
    private static let check = """
        import base64, json, re, struct, sys, xml.dom.minidom as m
        from html.parser import HTMLParser
        text, drawing = open(sys.argv[1], encoding="utf-8").read(), open(sys.argv[2], encoding="utf-8").read()
        report, clip = json.load(open(sys.argv[3])), sys.argv[4]
        page, svg = m.parseString(text.encode()).documentElement, m.parseString(drawing.encode()).documentElement
        def words(node):
            return node.data if node.nodeType == node.TEXT_NODE else "".join(words(c) for c in node.childNodes)
        def all(name, node=page):
            return node.getElementsByTagName(name)

        # An HTML parser finds the same elements as the XML parser.
        class Counter(HTMLParser):
            count = 0
            def handle_starttag(self, tag, attributes): self.count += 1
        counter = Counter()
        counter.feed(text)
        assert counter.count == len(all("*")) + 1, (counter.count, len(all("*")))

        # One file, without scripts.
        assert not re.search(r"https?:|url\\(|@import|javascript:", text), "reference"
        assert "http" not in drawing.replace('xmlns="http://www.w3.org/2000/svg"', "")
        for node in all("*"):
            assert node.tagName not in ("script", "link", "iframe", "object"), node.tagName
            for name, value in node.attributes.items():
                assert not name.startswith("on") and (name not in ("src", "href") or value.startswith("data:image/png;base64,")), (name, value[:40])

        assert "no GPU: reference driver" in words(all("title")[0]) and clip in words(all("title")[0])
        assert "no GPU: reference driver" in words(all("h1")[0]) and clip in words(all("h1")[0])
        assert "prefers-color-scheme: dark" in text and "prefers-color-scheme: dark" in drawing
        assert [n for n in all("meta") if n.getAttribute("name") == "viewport"]
        for chart in all("svg"):
            assert chart.getAttribute("aria-label") and words(all("title", chart)[0]) == chart.getAttribute("aria-label")
        # Four charts of costs, and PSNR and SSIM of each codec.
        assert len(all("svg")) == 8, len(all("svg"))
        assert len([n for n in all("li") if n.parentNode.getAttribute("class") == "verdict"]) >= 3

        def rows(label):
            table = [n for n in all("div") if n.getAttribute("aria-label") == label][0]
            return [[words(c) for c in row.childNodes] for row in all("tr", all("tbody", table)[0])]
        def near(cell, value, places, factor=1.0):
            assert value is not None and abs(float(cell) - value * factor) <= 0.5001 * 10 ** -places + 1e-9, (cell, value)
        def figures(run):
            return (run["encoder"], str(run["qp"]))
        cells = {(row[0], row[1]): row for row in rows("All runs")}
        assert len(cells) == len(report["runs"])
        for run in report["runs"]:
            row = cells[figures(run)]
            assert run["rate"] == "qp " + row[1]
            near(row[2], run["fps"], 1), near(row[3], run["cpuMsPerFrame"], 2), near(row[4], run["firstPacketMs"], 1)
            near(row[5], run["peakKB"], 1, 1 / 1024), near(row[7], run["bitrate"], 1, 1 / 1000)
            near(row[8], run["psnr"], 2), near(row[9], run["ssim"], 4)
            assert row[6] == str(run["bytes"])
        differences = rows("BD-rates")
        assert len(differences) == len(report["bdRate"])
        for row, entry in zip(differences, report["bdRate"]):
            assert row[:2] == [entry["of"], entry["against"]]
            for cell, value in zip(row[2:], (entry["percent"], entry["percentSSIM"])):
                if value is None: assert cell == "no common range"
                else: near(cell.replace("−", "-").split()[0], value, 1)

        # The original, and a picture of each encoder.
        images = [base64.b64decode(n.getAttribute("src").split(",")[1]) for n in all("img")]
        assert len(images) == 1 + len(report["pictures"])
        for image in images:
            assert image[:8] == b"\\x89PNG\\r\\n\\x1a\\n" and struct.unpack(">II", image[16:24]) == (96, 64)
        captions = [words(n) for n in all("figcaption")]
        for picture in report["pictures"]:
            assert [c for c in captions if c.startswith("%s QP %d," % (picture["encoder"], picture["qp"]))], captions

        # Each run is a point in the charts of PSNR and SSIM.
        points = [n for n in all("title", svg) if " at QP " in words(n)]
        assert len(points) == 2 * len(report["runs"]), len(points)
        assert clip in "".join(words(n) for n in all("text", svg))
        print(len(cells), "runs")
        """

    /// The page on standard output leaves the table to stderr. Without a device, the title names the software.
    @Test func pageMayGoToStandardOutput() throws {
        try Files.withTemporaryFolder { folder in
            let run = try bench(["testsrc:64x48@25:3", "--device", "software", "--no-ffmpeg", "--qp", "40", "--html", "-"], in: folder)
            #expect(run.status == 0 && run.output.hasPrefix("<!DOCTYPE html>\n") && run.output.hasSuffix("</html>\n"), "\(run.errors)")
            #expect(run.output.contains("no GPU: libx264 and libx265, encoders in software</title>"))
            #expect(run.errors.contains("CPU ms/frame") && Files.list(folder).isEmpty)
        }
    }

    /// Names of outputs are checked before the first run.
    @Test func wrongOutputsAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write([1], to: folder + "/old.html")
            let cases: [([String], Int, String)] = [
                (["--html", "old.html"], 73, "exists"), (["--html", "report.pdf"], 64, "name it NAME.html"),
                (["--svg", "charts.png"], 64, "name it NAME.svg"), (["--html", "a", "--svg", "a"], 64, "name two files"),
                (["--html", "nowhere/a.html"], 73, "nowhere"), (["--html", "old.html", "--overwrite", "old.html"], 64, "is the input itself"),
            ]
            for (arguments, status, words) in cases {
                let run = try bench(["testsrc:64x48@25:2", "--device", "software"] + arguments, in: folder)
                #expect(run.status == status && run.errorLines.count == 1 && run.errors.contains(words), "\(arguments): \(run.status) \(run.errors)")
                #expect(run.output.isEmpty && Files.list(folder) == ["old.html"])
                #expect(try Files.read(folder + "/old.html") == [1])
            }
        }
    }

    /// After a signal, page, drawing and JSON object have the finished runs.
    @Test func interruptedReportHasTheFinishedRuns() throws {
        try Files.withTemporaryFolder { folder in
            let script = """
                env --default-signal=INT "$0" bench testsrc:96x64@25:$1 --frames $1 --qp 20,30,40 --device software --no-ffmpeg --json \
                    --html report.html --svg charts.svg > report.json 2> log &
                pid=$!
                until grep -q 'run 3 of' log; do kill -0 $pid || exit 1; sleep 0.02; done
                kill -INT $pid
                wait $pid; echo "status $?"
                """
            var frames = 200
            var result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, "\(frames)"], directory: folder)
            // On a busy machine the benchmark may end before the signal comes. Then it gets more frames.
            while result.output.hasPrefix("status 0"), frames < 10_000 {
                frames *= 5
                for name in ["report.html", "charts.svg"] { _ = try ProcessRunner.run("rm", [name], directory: folder) }
                result = try ProcessRunner.run("bash", ["-c", script, Checkout.vaenc, "\(frames)"], directory: folder)
            }
            #expect(result.output == "status 130\n", "\(result.output) \(result.errors)")
            let report = try #require(JSONValue(String(decoding: try Files.read(folder + "/report.json"), as: UTF8.self)))
            let runs = report["runs"]?.array.count ?? 0
            #expect(report["interrupted"]?.bool == true && report["plannedRuns"]?.int == 6 && (2..<7).contains(runs))
            // Each encoder has its first QP.
            #expect(Set(report["runs"]?.array.compactMap { $0["encoder"]?.string } ?? []).count == 2)
            let page = String(decoding: try Files.read(folder + "/report.html"), as: UTF8.self)
            #expect(page.contains("<strong>Interrupted:</strong> \(runs) of 6 runs are finished."))
            #expect(page.contains("<summary>All runs (\(runs))</summary>") && page.hasSuffix("</html>\n"))
            let drawing = String(decoding: try Files.read(folder + "/charts.svg"), as: UTF8.self)
            #expect(drawing.contains("interrupted after \(runs) of 6 runs") && drawing.hasSuffix("</svg>\n"))
            #expect(Set(Files.list(folder)) == ["report.html", "report.json", "charts.svg", "log"])
        }
    }

    /// `--quick` shortens and scales a large clip. Its own options override it.
    @Test func quickShortensTheClip() throws {
        try Files.withTemporaryFolder { folder in
            let line = ["testsrc:1280x720@25:60", "--quick", "--qp", "45", "--preset", "fast", "--device", "software", "--no-ffmpeg", "--json"]
            let clip = JSONValue(try bench(line, in: folder).output)?["clips"]?.array.first
            #expect(clip?["width"]?.int == 640 && clip?["height"]?.int == 360 && clip?["frames"]?.int == 30)
            #expect(clip?["input"]?.string?.hasSuffix(" at 640×360") == true)
            let own = JSONValue(try bench(line + ["--frames", "3", "--size", "96x64"], in: folder).output)?["clips"]?.array.first
            #expect(own?["width"]?.int == 96 && own?["frames"]?.int == 3)
        }
    }
}
