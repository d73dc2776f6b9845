import Vaenc
import VideoBase

/// Draws the charts of a clip: bars of speed and cost, and the rate–distortion curves of each codec.
struct BenchCharts {
    /// A drawing, and its description for screen readers.
    struct Chart {
        var label: String
        var drawing: SVGDrawing
    }

    let clip: BenchReport.Clip
    let summaries: [BenchSummary]

    init(_ clip: BenchReport.Clip, in report: BenchReport) {
        self.clip = clip
        summaries = BenchSummary.all(of: clip.input, in: report)
    }

    /// The width of a chart. It is near that of a phone, so that its text has a readable size there.
    static let width = 420.0

    /// Speed, CPU time, time to the first packet and memory.
    var costs: [Chart] {
        [
            bars("Speed", "frames/s, higher is better", places: 1, \.fps),
            bars("CPU time", "ms per frame, lower is better", places: 2, \.cpuMsPerFrame),
            bars("Time to the first packet", "ms from the start of the program, lower is better", places: 0, \.firstPacketMs),
            bars("Peak memory", "MiB, lower is better", places: 1, \.peakMiB),
        ]
    }

    /// For each codec, luma PSNR and luma SSIM over the bit rate.
    var curves: [Chart] {
        VideoCodec.allCases.flatMap { codec in
            let ofCodec = summaries.filter { $0.codec == codec.rawValue }
            return [
                Self.curves("\(codec.standardName): PSNR", "luma PSNR in dB", ofCodec, limit: .infinity, \.psnr.wrapped),
                Self.curves("\(codec.standardName): SSIM", "luma SSIM", ofCodec, limit: 1, \.ssim.wrapped),
            ].compactMap(\.self)
        }
    }

    private func bars(_ title: String, _ unit: String, places: Int, _ value: (BenchSummary) -> Double) -> Chart {
        let (row, top, left, right) = (24.0, 52.0, 132.0, 58.0)
        var drawing = SVGDrawing(width: Self.width, height: top + row * Double(summaries.count) + 4)
        drawing.text(title, x: 0, y: 16, color: .style("ink"), isBold: true)
        drawing.text(unit, x: 0, y: 34, color: .style("muted"))
        let values = summaries.map(value)
        let largest = max(values.filter(\.isFinite).max() ?? 0, 1e-9)
        var words: [String] = []
        for (index, (summary, value)) in zip(summaries, values).enumerated() {
            let y = top + row * Double(index)
            let length = value.isFinite ? max(value / largest, 0) * (Self.width - left - right) : 0
            let text = decimal(value, places)
            drawing.text(summary.encoder, x: 0, y: y + 12, color: .style("ink"))
            drawing.bar(
                x: left, y: y, width: max(length, 1), height: row - 8, color: .style(summary.style), title: "\(summary.encoder): \(text) \(unit)")
            drawing.text(text, x: left + length + 6, y: y + 12, color: .style("ink"))
            words.append("\(summary.encoder) \(text)")
        }
        return Chart(label: "\(title) in \(unit): \(words.joined(separator: ", "))", drawing: drawing)
    }

    /// Returns the curves of encoders; nil if no run has the quality.
    private static func curves(
        _ title: String, _ axis: String, _ summaries: [BenchSummary], limit: Double, _ quality: (BenchReport.Run) -> Double?
    ) -> Chart? {
        let lines = summaries.map { summary in
            (
                summary: summary,
                points: summary.runs.compactMap { run in quality(run).map { (run: run, rate: Double(run.bitrate) / 1000, quality: $0) } }
            )
        }.filter { !$0.points.isEmpty }
        guard !lines.isEmpty else { return nil }
        let (left, top, right, bottom) = (60.0, 34.0, width - 12, 268.0)
        var drawing = SVGDrawing(width: width, height: bottom + 64)
        drawing.text(title, x: 0, y: 16, color: .style("ink"), isBold: true)
        let points = lines.flatMap(\.points)
        let across = PlotRange(logarithmic: points.map(\.rate), origin: left, length: right - left)
        let up = PlotRange(points.map(\.quality), origin: bottom, length: top - bottom, limit: limit)
        for mark in up.marks {
            let y = up.coordinate(mark)
            drawing.line([(left, y), (right, y)], color: .style("grid"))
            drawing.text(decimal(mark, up.places), x: left - 6, y: y + 4, anchor: .end, color: .style("muted"))
        }
        for mark in across.marks {
            let x = across.coordinate(mark)
            drawing.line([(x, top), (x, bottom)], color: .style("grid"))
            drawing.text(decimal(mark, across.places), x: x, y: bottom + 16, anchor: .middle, color: .style("muted"))
        }
        drawing.line([(left, top), (left, bottom), (right, bottom)], color: .style("axis"))
        drawing.text(axis, x: 10, y: (top + bottom) / 2, anchor: .middle, color: .style("muted"), turned: true)
        drawing.text("kbit/s, logarithmic", x: (left + right) / 2, y: bottom + 34, anchor: .middle, color: .style("muted"))
        var legend = 0.0
        for (summary, points) in lines {
            let paint = SVGDrawing.Paint.style(summary.style)
            let places = points.map { (x: across.coordinate($0.rate), y: up.coordinate($0.quality)) }
            drawing.line(places, color: paint, width: 2, dashed: summary.path == "software")
            for (place, point) in zip(places, points) {
                let text = "\(summary.encoder) at QP \(point.run.qp): \(decimal(point.rate, 0)) kbit/s, \(decimal(point.quality, limit == 1 ? 4 : 2))"
                drawing.mark(summary.marker, x: place.x, y: place.y, color: paint, title: text)
            }
            drawing.mark(summary.marker, x: legend + 6, y: bottom + 54, color: paint, title: summary.encoder)
            drawing.text(summary.encoder, x: legend + 16, y: bottom + 58, color: .style("ink"))
            legend += 34 + Double(summary.encoder.count) * 6.6
        }
        let ends = lines.compactMap { line in
            line.points.last.map { "\(line.summary.encoder) \(decimal($0.quality, limit == 1 ? 4 : 2)) at \(decimal($0.rate, 0)) kbit/s" }
        }
        return Chart(label: "\(title) over the bit rate. At the highest QP: \(ends.joined(separator: ", "))", drawing: drawing)
    }
}
