import VideoBase

/// Draws all charts of a report into one SVG document, which follows the viewer's light or dark color scheme.
struct BenchPlot {
    private let report: BenchReport

    init(_ report: BenchReport) { self.report = report }

    private static let (margin, gap) = (24.0, 32.0)
    private static let column = BenchCharts.width + gap

    var svg: String {
        let sections = report.clips.map { clip in
            let charts = BenchCharts(clip, in: report)
            return (clip: clip, rows: Self.pairs(charts.costs) + Self.pairs(charts.curves))
        }
        func height(_ row: [BenchCharts.Chart]) -> Double { (row.map(\.drawing.height).max() ?? 0) + Self.gap }
        let total = sections.reduce(76.0) { $0 + 44 + $1.rows.reduce(0) { $0 + height($1) } }
        var drawing = SVGDrawing(
            width: Self.margin * 2 + Self.column * 2 - Self.gap, height: total, styleSheet: BenchStyle.charts)
        drawing.text(report.title, x: Self.margin, y: 32, color: .style("ink"), isBold: true)
        let kind = report.interrupted ? ", interrupted after \(report.runs.count) of \(report.plannedRuns) runs" : ""
        drawing.text(
            "\(BenchPage.displayed(date: report.date)), \(report.machine.processor), vaenc \(report.version)\(kind)", x: Self.margin, y: 52,
            color: .style("muted"))
        var y = 76.0
        for section in sections {
            drawing.text(BenchPage.facts(section.clip), x: Self.margin, y: y + 16, color: .style("ink"), isBold: true)
            y += 44
            for row in section.rows {
                for (index, chart) in row.enumerated() { drawing.add(chart.drawing, x: Self.margin + Self.column * Double(index), y: y) }
                y += height(row)
            }
        }
        return drawing.text
    }

    private static func pairs(_ charts: [BenchCharts.Chart]) -> [[BenchCharts.Chart]] {
        stride(from: 0, to: charts.count, by: 2).map { Array(charts[$0..<min($0 + 2, charts.count)]) }
    }
}
