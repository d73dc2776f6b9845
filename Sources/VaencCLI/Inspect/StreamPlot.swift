import BitstreamInspection
import VideoBase

/// Plots a stream: the sizes and types of its pictures as bars, their QP as a line above, and the fullness of the
/// decoder's buffer below.
struct StreamPlot {
    private let report: InspectReport
    private let schedule: HRDReport.Schedule?
    private var drawing: SVGDrawing

    // The panels: left and right edge of both, top and bottom of each.
    private static let left = 70.0
    private static let margin = 60.0
    private static let sizes = (top: 70.0, bottom: 330.0)
    private static let buffer = (top: 402.0, bottom: 562.0)
    private let right: Double
    private let step: Double

    private static func color(_ type: InspectReport.PictureType) -> SVGDrawing.Paint {
        switch type {
        case .i: "#b2182b"
        case .p: "#2166ac"
        case .b: "#92c5de"
        }
    }
    private static let qpColor: SVGDrawing.Paint = "#333333"
    private static let bufferColor: SVGDrawing.Paint = "#1b7837"
    private static let axisColor: SVGDrawing.Paint = "#888888"
    private static let gridColor: SVGDrawing.Paint = "#e4e4e4"

    /// Draws the plot.
    ///
    /// - Parameter schedule: The schedule whose buffer fullness is drawn; nil for none.
    init(_ report: InspectReport, _ schedule: HRDReport.Schedule?) {
        self.report = report
        self.schedule = schedule
        let count = Double(max(report.frames.count, 1))
        let width = min(max(count * 8, 640), 2400)
        step = width / count
        right = Self.left + width
        drawing = SVGDrawing(width: right + Self.margin, height: schedule == nil ? Self.sizes.bottom + 50 : Self.buffer.bottom + 50)
        draw()
    }

    var svg: String { drawing.text }

    private func middle(_ index: Int) -> Double { Self.left + (Double(index) + 0.5) * step }

    private mutating func draw() {
        let name = report.codec.standardName
        let size = report.width.wrapped.flatMap { width in report.height.wrapped.map { ", \(width)×\($0)" } } ?? ""
        drawing.text("\(report.input): \(name) \(report.profile.wrapped ?? "")@\(report.level.wrapped ?? "?")\(size)", x: Self.left, y: 24)
        legend()
        drawSizes()
        drawQP()
        if let schedule { draw(schedule) }
    }

    private mutating func legend() {
        var x = Self.left
        for kind in InspectReport.PictureType.allCases {
            let pictures = report.frames.filter { $0.type == kind }
            if pictures.isEmpty { continue }
            drawing.bar(x: x, y: 40, width: 12, height: 12, color: Self.color(kind), title: kind.rawValue)
            let text = "\(kind): \(counted(pictures.count, "picture"))"
            drawing.text(text, x: x + 17, y: 51)
            x += 40 + Double(text.count) * 7
        }
        drawing.line([(x, 46), (x + 16, 46)], color: Self.qpColor, width: 1.5)
        drawing.text("QP of slice headers", x: x + 21, y: 51)
    }

    /// Draws the marks, the grid and the title on the left or right side.
    private mutating func axis(_ scale: PlotScale, _ title: String, top: Double, bottom: Double, onRight: Bool = false) {
        let x = onRight ? right : Self.left
        for mark in scale.marks {
            let y = scale.coordinate(mark)
            if !onRight { drawing.line([(Self.left, y), (right, y)], color: Self.gridColor) }
            drawing.text(decimal(mark, 0), x: onRight ? x + 6 : x - 6, y: y + 4, anchor: onRight ? .start : .end)
        }
        drawing.line([(x, top), (x, bottom)], color: Self.axisColor)
        drawing.text(title, x: onRight ? x + 44 : x - 52, y: (top + bottom) / 2, anchor: .middle, turned: true)
    }

    /// Draws the horizontal axis, with pictures in coding order.
    private mutating func pictures(bottom: Double) {
        drawing.line([(Self.left, bottom), (right, bottom)], color: Self.axisColor)
        let count = report.frames.count
        let scale = PlotScale(largest: Double(max(count - 1, 1)), origin: Self.left + step / 2, length: -step * Double(max(count - 1, 1)), count: 10)
        for mark in scale.marks where Int(mark) < count {
            drawing.text(decimal(mark, 0), x: middle(Int(mark)), y: bottom + 16, anchor: .middle)
        }
        drawing.text("picture, in coding order", x: (Self.left + right) / 2, y: bottom + 34, anchor: .middle)
    }

    private mutating func drawSizes() {
        let (top, bottom) = Self.sizes
        let largest = Double(report.frames.map(\.bytes).max() ?? 0)
        let inThousands = largest >= 10_000
        let unit = inThousands ? 1000.0 : 1
        let scale = PlotScale(largest: largest / unit, origin: bottom, length: bottom - top)
        axis(scale, inThousands ? "size in kB" : "size in bytes", top: top, bottom: bottom)
        for frame in report.frames {
            let y = scale.coordinate(Double(frame.bytes) / unit)
            drawing.bar(
                x: middle(frame.index) - step * 0.4, y: y, width: step * 0.8, height: bottom - y,
                color: Self.color(frame.type),
                title: "picture \(frame.index), shown \(frame.display): \(frame.type)\(frame.key ? ", key" : ""), \(frame.bytes) bytes, QP "
                    + decimal(frame.qp, 1))
        }
        pictures(bottom: bottom)
    }

    private mutating func drawQP() {
        let (top, bottom) = Self.sizes
        let scale = PlotScale(largest: max(report.frames.map(\.qp).max() ?? 0, 51), origin: bottom, length: bottom - top)
        axis(scale, "QP", top: top, bottom: bottom, onRight: true)
        let points = report.frames.map { (x: middle($0.index), y: scale.coordinate(max($0.qp, 0))) }
        drawing.line(points, color: Self.qpColor, width: 1.5)
    }

    /// Draws the fullness of the buffer, which rises while bits arrive and falls when a picture is removed.
    private mutating func draw(_ schedule: HRDReport.Schedule) {
        let (top, bottom) = Self.buffer
        let size = Double(schedule.cpbSize) / 1000
        let most = max(schedule.fullness.map(\.before).max() ?? 0, 0) / 1000
        let scale = PlotScale(largest: max(size, most), origin: bottom, length: bottom - top, count: 4)
        axis(scale, "buffer in kbit", top: top, bottom: bottom)
        pictures(bottom: bottom)
        let sizeY = scale.coordinate(size)
        drawing.line([(Self.left, sizeY), (right, sizeY)], color: Self.bufferColor, dashed: true)
        drawing.text(
            "\(schedule.isNAL ? "NAL" : "VCL") HRD: \(decimal(Double(schedule.bitrate) / 1000, 0)) kbit/s "
                + "\(schedule.isConstant ? "constant" : "at most"), buffer of \(decimal(size, 0)) kbit (dashed)",
            x: Self.left, y: top - 8, color: Self.bufferColor)
        let points = schedule.fullness.flatMap { sample in
            [sample.before, sample.after].map { (x: middle(sample.frame), y: scale.coordinate(max($0, 0) / 1000)) }
        }
        drawing.line(points, color: Self.bufferColor, width: 1.5)
    }
}
