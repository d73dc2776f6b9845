import VideoBase

/// Collects the elements of an SVG picture. The user unit is a pixel.
struct SVGDrawing: Sendable {
    /// A color, or a name whose classes `fill-NAME` and `stroke-NAME` a style sheet defines.
    enum Paint: ExpressibleByStringLiteral, Sendable {
        case color(String)
        case style(String)

        init(stringLiteral color: String) { self = .color(color) }

        fileprivate var fill: String {
            switch self {
            case .color(let color): "fill=\"\(color)\""
            case .style(let name): "class=\"fill-\(name)\""
            }
        }

        fileprivate var stroke: String {
            switch self {
            case .color(let color): "stroke=\"\(color)\""
            case .style(let name): "class=\"stroke-\(name)\""
            }
        }
    }

    /// A shape that marks a point.
    enum Marker: Sendable {
        case circle, square, triangle
    }

    let width: Double
    let height: Double
    /// The style sheet of the document; nil for a white background without one. It must contain no markup.
    private let styleSheet: String?
    private var body = ""

    init(width: Double, height: Double, styleSheet: String? = nil) {
        self.width = width
        self.height = height
        self.styleSheet = styleSheet
    }

    /// The complete document.
    var text: String {
        let background =
            styleSheet.map { "<style>\n\($0)</style>\n<rect width=\"100%\" height=\"100%\" class=\"fill-page\"/>" }
            ?? "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.number(width))" height="\(Self.number(height))" \
            viewBox="0 0 \(Self.number(width)) \(Self.number(height))" font-family="sans-serif" font-size="12">
            \(background)
            \(body)</svg>

            """
    }

    /// Returns an element for an HTML page, which has the width of its container and the page's styles.
    ///
    /// - Parameter label: What the picture shows, for screen readers.
    func element(label: String) -> String {
        let label = Self.escaped(label)
        return "<svg viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" role=\"img\" aria-label=\"\(label)\" font-size=\"12\">\n"
            + "<title>\(label)</title>\n\(body)</svg>"
    }

    /// Adds another drawing, with its upper left corner at the given point.
    mutating func add(_ other: SVGDrawing, x: Double, y: Double) {
        body += "<g transform=\"translate(\(Self.number(x)) \(Self.number(y)))\">\n\(other.body)</g>\n"
    }

    enum Anchor: String {
        case start, middle, end
    }

    mutating func text(
        _ text: String, x: Double, y: Double, anchor: Anchor = .start, color: Paint = "#333333", turned: Bool = false, isBold: Bool = false
    ) {
        let turn = turned ? " transform=\"rotate(-90 \(Self.number(x)) \(Self.number(y)))\"" : ""
        body += "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor.rawValue)\" "
        body += "\(color.fill)\(isBold ? " font-weight=\"bold\"" : "")\(turn)>\(Self.escaped(text))</text>\n"
    }

    /// Adds a bar.
    ///
    /// - Parameter title: The text that appears while the pointer rests on the bar.
    mutating func bar(x: Double, y: Double, width: Double, height: Double, color: Paint, title: String) {
        body += "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" "
        body += "height=\"\(Self.number(height))\" \(color.fill)><title>\(Self.escaped(title))</title></rect>\n"
    }

    /// Adds a mark at a point.
    ///
    /// - Parameter title: The text that appears while the pointer rests on the mark.
    mutating func mark(_ marker: Marker, x: Double, y: Double, color: Paint, title: String) {
        let size = 4.5
        let shape =
            switch marker {
            case .circle: "circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(size))\""
            case .square:
                "rect x=\"\(Self.number(x - 4))\" y=\"\(Self.number(y - 4))\" width=\"8\" height=\"8\""
            case .triangle:
                "path d=\"M\(Self.number(x)) \(Self.number(y - size - 1))l5.5 9.5h-11z\""
            }
        let name = shape.prefix { $0 != " " }
        body += "<\(shape) \(color.fill)><title>\(Self.escaped(title))</title></\(name)>\n"
    }

    mutating func line(_ points: [(x: Double, y: Double)], color: Paint, width: Double = 1, dashed: Bool = false) {
        let coordinates = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
        body += "<polyline points=\"\(coordinates)\" fill=\"none\" \(color.stroke) "
        body += "stroke-width=\"\(Self.number(width))\""
        body += (dashed ? " stroke-dasharray=\"5 4\"" : "") + "/>\n"
    }

    private static func number(_ value: Double) -> String { decimal(value, 2) }

    /// Escapes markup, and replaces characters that XML 1.0 does not allow.
    static func escaped(_ text: String) -> String {
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
