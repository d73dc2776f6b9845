import VideoBase

/// Collects the elements of an SVG picture. The user unit is a pixel.
struct SVGDrawing {
    private let width: Double
    private let height: Double
    private var body = ""

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// The complete document.
    var text: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.number(width))" height="\(Self.number(height))" \
        viewBox="0 0 \(Self.number(width)) \(Self.number(height))" font-family="sans-serif" font-size="12">
        <rect width="100%" height="100%" fill="#ffffff"/>
        \(body)</svg>

        """
    }

    enum Anchor: String {
        case start, middle, end
    }

    mutating func text(_ text: String, x: Double, y: Double, anchor: Anchor = .start, color: String = "#333333", turned: Bool = false) {
        let turn = turned ? " transform=\"rotate(-90 \(Self.number(x)) \(Self.number(y)))\"" : ""
        body += "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor.rawValue)\" "
        body += "fill=\"\(color)\"\(turn)>\(Self.escaped(text))</text>\n"
    }

    /// Adds a bar.
    ///
    /// - Parameter title: The text that appears while the pointer rests on the bar.
    mutating func bar(x: Double, y: Double, width: Double, height: Double, color: String, title: String) {
        body += "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" "
        body += "height=\"\(Self.number(height))\" fill=\"\(color)\"><title>\(Self.escaped(title))</title></rect>\n"
    }

    mutating func line(_ points: [(x: Double, y: Double)], color: String, width: Double = 1, dashed: Bool = false) {
        let coordinates = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
        body += "<polyline points=\"\(coordinates)\" fill=\"none\" stroke=\"\(color)\" "
        body += "stroke-width=\"\(Self.number(width))\""
        body += (dashed ? " stroke-dasharray=\"5 4\"" : "") + "/>\n"
    }

    private static func number(_ value: Double) -> String { decimal(value, 2) }

    /// Escapes markup, and replaces characters that XML 1.0 does not allow.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// A linear scale with round numbers at its marks.
struct PlotScale {
    /// The values of the marks, in the value's unit.
    let marks: [Double]
    let top: Double
    private let origin: Double
    private let length: Double

    /// Chooses the marks.
    ///
    /// - Parameters:
    ///   - largest: The largest value that must fit.
    ///   - origin: The coordinate of 0.
    ///   - length: The distance from `origin` up to the top of the scale. If negative, the scale extends to the right.
    init(largest: Double, origin: Double, length: Double, count: Int = 5) {
        let rough = max(largest, 1) / Double(count)
        let power = exponential10(logarithm10(rough).rounded(.down))
        let step = max([1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough, 1)
        top = (max(largest, 1) / step).rounded(.up) * step
        marks = (0...Int((top / step).rounded())).map { Double($0) * step }
        self.origin = origin
        self.length = length
    }

    /// Returns the coordinate of a value.
    func coordinate(_ value: Double) -> Double { origin - value / top * length }
}
