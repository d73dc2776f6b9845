import Vaenc
import VideoBase

/// Writes a report as one HTML page without scripts. It refers to no other file. The page is also well-formed XML.
struct BenchPage {
    let report: BenchReport

    init(_ report: BenchReport) { self.report = report }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <meta name="generator" content="vaenc \(Self.escaped(report.version))"/>
        <title>\(Self.escaped(report.title))</title>
        <style>
        \(BenchStyle.page)\(BenchStyle.charts)</style>
        </head>
        <body>
        <main>
        \(header)\(report.clips.map(section).joined())\(notices)\(method)</main>
        </body>
        </html>

        """
    }

    static func escaped(_ text: String) -> String { SVGDrawing.escaped(text) }

    /// Returns a date in ISO 8601 (UTC) for readers, without seconds.
    static func displayed(date: String) -> String {
        let parts = date.split(separator: "T")
        return parts.count == 2 ? "\(parts[0]) \(parts[1].prefix(5)) UTC" : date
    }

    /// Returns the name, size, rate and length of a clip.
    static func facts(_ clip: BenchReport.Clip) -> String {
        let rate = decimal(clip.framesPerSecond, 3).reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed()
        return "\(clip.input): \(clip.width)×\(clip.height), \(String(rate)) frames/s, \(counted(clip.frames, "frame"))"
    }

    private var header: String {
        let names = report.clips.count > 3 ? counted(report.clips.count, "clip") : report.clips.map(\.input).joined(separator: ", ")
        let device = report.device + (report.devicePath.wrapped.map { " (\($0))" } ?? "")
        let preset = report.preset.wrapped.map { "preset \($0)" } ?? "the default preset"
        let facts = [
            ("Date", Self.displayed(date: report.date)), ("Device", device),
            ("Processor", "\(report.machine.processor), \(counted(report.machine.processors, "logical processor"))"),
            ("Settings", "QP \(report.qps.map(String.init).joined(separator: ", ")) with \(preset)\(report.quick ? ", shortened by --quick" : "")"),
            ("Program", "vaenc \(report.version)"),
        ]
        var text = "<header>\n<h1>Encoders compared: \(Self.escaped(names.isEmpty ? "no clip" : names))"
        if let missing = report.missingGPU { text += "<small>\(Self.escaped(missing))</small>" }
        text += "</h1>\n<dl class=\"facts\">\n"
        for (name, value) in facts { text += "<dt>\(name)</dt><dd>\(Self.escaped(value))</dd>\n" }
        text += "</dl>\n</header>\n"
        if report.interrupted {
            text += "<p class=\"notice\"><strong>Interrupted:</strong> \(report.runs.count) of \(report.plannedRuns) runs are finished. "
            text += "Averages are over the finished runs.</p>\n"
        }
        if report.missingGPU != nil {
            text += "<p class=\"notice\"><strong>No GPU was measured.</strong> Speed, CPU time and memory are those of encoders in software. "
            text += "They do not predict the figures of a GPU.</p>\n"
        }
        return text
    }

    private func section(_ clip: BenchReport.Clip) -> String {
        let charts = BenchCharts(clip, in: report)
        let verdict = BenchVerdict(clip, in: report).lines
        var text = "<section>\n<h2>\(Self.escaped(Self.facts(clip)))</h2>\n"
        if charts.summaries.isEmpty { return text + "<p>No run is finished.</p>\n</section>\n" }
        text += "<ul class=\"verdict\">\n" + verdict.map { "<li>\(Self.escaped($0.replacing(" %", with: "\u{A0}%")))</li>\n" }.joined() + "</ul>\n"
        text += "<h3>Speed and cost</h3>\n" + figures(charts.costs)
        let curves = charts.curves
        if !curves.isEmpty { text += "<h3>Quality over the bit rate</h3>\n" + figures(curves) }
        text += differences(clip) + pictures(clip) + runs(clip, charts.summaries)
        return text + "</section>\n"
    }

    private func figures(_ charts: [BenchCharts.Chart]) -> String {
        "<div class=\"charts\">\n" + charts.map { "<figure>\($0.drawing.element(label: $0.label))</figure>\n" }.joined() + "</div>\n"
    }

    private func pictures(_ clip: BenchReport.Clip) -> String {
        let decoded = report.pictures.filter { $0.input == clip.input }
        guard let original = report.originals.first(where: { $0.input == clip.input }), !decoded.isEmpty else { return "" }
        let isPart = original.shown != VideoSize(width: clip.width, height: clip.height)
        var text = "<h3>Pictures at the same number of bits</h3>\n"
        text += "<p>Frame \(original.frame) of streams of nearly the same size. "
        if isPart { text += "Shown are \(original.shown) samples in the middle. " }
        text += "The QP of each encoder was chosen for this.</p>\n<div class=\"pictures\">\n"
        text += picture(original.png, original.shown, name: "Original", facts: "without loss")
        let names = BenchSummary.all(of: clip.input, in: report).map(\.encoder)
        for item in names.compactMap({ name in decoded.first { $0.encoder == name } }) {
            let psnr = item.psnr.wrapped.map { "PSNR \(decimal($0, 2)) dB" } ?? "equal"
            text += picture(
                item.png, original.shown, name: item.encoder,
                facts: "QP \(item.qp), \(decimal(Double(item.bitrate) / 1000, 0)) kbit/s, \(psnr), SSIM \(decimal(item.ssim, 4))")
        }
        return text + "</div>\n"
    }

    private func picture(_ png: [UInt8], _ size: VideoSize, name: String, facts: String) -> String {
        let (name, facts) = (Self.escaped(name), Self.escaped(facts))
        return "<figure><img alt=\"\(name): \(facts)\" width=\"\(size.width)\" height=\"\(size.height)\" "
            + "src=\"data:image/png;base64,\(Base64.text(png))\"/><figcaption>\(name) <span>\(facts)</span></figcaption></figure>\n"
    }

    private var notices: String {
        if report.notices.isEmpty { return "" }
        return "<section>\n<h2>Notices</h2>\n<ul>\n" + report.notices.map { "<li>\(Self.escaped($0))</li>\n" }.joined() + "</ul>\n</section>\n"
    }
}
