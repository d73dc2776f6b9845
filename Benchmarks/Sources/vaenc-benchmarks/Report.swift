import Glibc

/// Prints figures as they are measured, and keeps them for `--json`.
final class Report {
    private var part = ""
    private var figures: [(part: String, figure: Figure)] = []
    private var failures: [String] = []
    /// The number of figures that missed their target or could not be measured.
    var missed: Int { figures.count { !$0.figure.holds } + failures.count }

    func begin(_ part: Part) {
        self.part = part.name
        show(part.title)
    }

    func add(_ figure: Figure) {
        figures.append((part, figure))
        show(figure.line)
    }

    /// Prints the same figure of several programs in one line.
    func list(_ name: String, _ unit: String, _ values: [(program: String, value: Double)]) {
        figures += values.map { (part, Figure("\(name), \($0.program)", $0.value, unit)) }
        show("  \(name): " + values.map { "\($0.program) \(number($0.value))" }.joined(separator: ", ") + " \(unit)")
    }

    func heading(_ text: String) { show("  " + text) }

    func note(_ text: String) { show("  " + text) }

    func fail(_ name: String, _ error: any Error) {
        failures.append("\(part) \(name): \(error)")
        show("  \(name): not measured: \(error)")
    }

    private func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Returns the line that begins a report: the date and how busy the machine is.
    static var conditions: String { "\(date), \(processors) processors, load \(number(load))" }

    private static var date: String {
        var time = time(nil), parts = tm()
        var buffer = [CChar](repeating: 0, count: 64)
        // SAFETY: strftime writes at most the given number of bytes, with a final zero.
        unsafe gmtime_r(&time, &parts)
        let count = unsafe strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M UTC", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }

    private static var load: Double {
        var averages = [0.0]
        return unsafe getloadavg(&averages, 1) == 1 ? averages[0] : .nan
    }

    /// Returns all figures as a JSON text.
    var json: String {
        let lines = figures.map { part, figure in
            var members = ["\"part\": \(quoted(part))", "\"name\": \(quoted(figure.name))", "\"value\": \(finite(figure.value))"]
            members.append("\"unit\": \(quoted(figure.unit))")
            if let limit = figure.atMost { members.append("\"atMost\": \(limit)") }
            if let limit = figure.atLeast { members.append("\"atLeast\": \(limit)") }
            return "    {" + members.joined(separator: ", ") + "}"
        }
        return """
            {
              "conditions": \(quoted(Self.conditions)),
              "notMeasured": [\(failures.map(quoted).joined(separator: ", "))],
              "figures": [
            \(lines.joined(separator: ",\n"))
              ]
            }

            """
    }

    private func finite(_ value: Double) -> String { value.isFinite ? "\((value * 1e5).rounded() / 1e5)" : "null" }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case _ where scalar.value < 32: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
