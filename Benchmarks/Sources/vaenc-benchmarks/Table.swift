import TestOracles

/// A measured value and its target.
struct Figure {
    var name: String
    var value: Double
    var unit: String
    /// The upper limit. Without limits the figure is for information only.
    var atMost: Double?
    /// The lower limit.
    var atLeast: Double?

    init(_ name: String, _ value: Double, _ unit: String, atMost: Double? = nil, atLeast: Double? = nil) {
        self.name = name
        self.value = value
        self.unit = unit
        self.atMost = atMost
        self.atLeast = atLeast
    }

    var holds: Bool { atMost.map { value <= $0 } ?? true && atLeast.map { value >= $0 } ?? true }

    var line: String {
        let target =
            if let atMost { "at most \(number(atMost))" } else if let atLeast { "at least \(number(atLeast))" } else {
                ""
            }
        let verdict = target.isEmpty ? "" : holds ? "holds" : "MISSED"
        return
            "  \(padded(name, 58)) \(padded(number(value) + " " + unit, 14, right: true))  \(padded(target, 16)) \(verdict)"
    }
}

func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return right ? space + text : text + space
}

/// Returns the number with about three significant digits and without an exponent.
func number(_ value: Double) -> String {
    guard value.isFinite else { return "unknown" }
    let decimals = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : abs(value) >= 1 ? 2 : 3
    let scale = [1.0, 10, 100, 1000][decimals]
    let rounded = Int((abs(value) * scale).rounded())
    let (whole, part) = (rounded / Int(scale), rounded % Int(scale))
    let digits = String(part)
    let fraction = decimals == 0 ? "" : "." + String(repeating: "0", count: decimals - digits.count) + digits
    return (value < 0 && rounded > 0 ? "-" : "") + "\(whole)\(fraction)"
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

struct Unmeasurable: Error, CustomStringConvertible {
    var description: String
}
