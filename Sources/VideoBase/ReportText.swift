/// Formats a count with its noun: `1 frame`, `2 frames`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Formats a number with `places` digits after the decimal point.
package func decimal(_ value: Double, _ places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
    let scaled = Int((abs(value) * scale).rounded())
    let whole = scaled / Int(scale)
    let sign = value < 0 && scaled > 0 ? "-" : ""
    if places == 0 { return sign + String(whole) }
    let fraction = String(scaled % Int(scale))
    return sign + "\(whole)." + String(repeating: "0", count: places - fraction.count) + fraction
}

/// Rounds to three decimal places, for reports.
package func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
