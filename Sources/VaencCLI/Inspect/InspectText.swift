import VideoBase

/// The inspection as human-readable text: a summary, the structure in one line, and a line for each picture.
enum InspectText {
    private static let piece = 1000

    /// Writes the text.
    ///
    /// - Parameters:
    ///   - withPictures: Whether to write the line for each picture too.
    ///   - write: Takes the next lines. Returns whether to continue.
    /// - Returns: Whether every call of `write` returned true.
    static func write(_ report: InspectReport, withPictures: Bool, _ write: (String) -> Bool) -> Bool {
        func lines(_ lines: [String]) -> Bool { write(lines.map { $0 + "\n" }.joined()) }
        guard withPictures else { return lines(summary(report)) }
        guard lines(summary(report) + heading(report)) else { return false }
        return stride(from: 0, to: report.frames.count, by: piece).allSatisfy { start in
            lines(report.frames[start..<min(start + piece, report.frames.count)].map(row))
        }
    }

    private static func summary(_ report: InspectReport) -> [String] {
        let size = report.width.wrapped.flatMap { width in report.height.wrapped.map { "\(width)×\($0)" } } ?? "size unknown"
        var lines = [
            "\(report.input): \(report.codec.standardName) \(report.profile.wrapped ?? "profile unknown")"
                + "@\(report.level.wrapped ?? "?"), \(size), \(report.bitDepth) bits, \(report.container)"
        ]
        let frames = report.frames
        let kinds = InspectReport.PictureType.allCases.map { kind in (kind, frames.filter { $0.type == kind }) }.filter { !$0.1.isEmpty }
        lines.append(
            "\(counted(frames.count, "picture")), \(counted(report.nalUnits.count, "NAL unit")), \(report.bytes) bytes; "
                + kinds.map { kind, pictures in
                    let bytes = pictures.reduce(0) { $0 + $1.bytes } / pictures.count
                    let qp = pictures.reduce(0) { $0 + $1.qp } / Double(pictures.count)
                    return "\(pictures.count) \(kind) of \(bytes) bytes at QP \(decimal(qp, 1))"
                }.joined(separator: ", "))
        if !frames.isEmpty { lines.append(structure(report)) }
        if let hrd = report.hrd.wrapped {
            let schedules = hrd.schedules.map {
                "\($0.type) \($0.bitrate / 1000) kbit/s \($0.constant ? "constant" : "at most") into \($0.bufferBits) bits"
            }
            lines.append(
                "decoder's buffer: \(schedules.joined(separator: ", ")): "
                    + (hrd.conforms ? "conforms" : "\(counted(hrd.violations.count, "violation"))"))
            lines += hrd.violations.prefix(10).map(line)
        } else {
            lines.append("decoder's buffer: the stream has no HRD parameters")
        }
        if !report.violations.isEmpty { lines.append("\(counted(report.violations.count, "violation")) of the standard:") }
        lines += report.violations.prefix(20).map(line)
        return lines
    }

    private static func line(_ fault: InspectReport.Fault) -> String {
        "  " + (fault.frame.wrapped.map { "picture \($0): " } ?? "") + "\(fault.message) (\(fault.rule))"
    }

    /// Returns the first group in output order, and the values for the whole stream. `K` is a key picture, `b` a
    /// picture that no other refers to.
    private static func structure(_ report: InspectReport) -> String {
        let referred = Set(report.frames.flatMap(\.references))
        let shown = report.frames.sorted { $0.display < $1.display }
        let letters = shown.map { frame in
            frame.key ? "K" : frame.type == .b && !referred.contains(frame.index) ? "b" : frame.type.rawValue
        }
        let keys = letters.indices.filter { letters[$0] == "K" }
        let end = keys.dropFirst().first ?? letters.count
        let group = letters[..<min(end, 64)].joined() + (end > 64 ? "…" : "")
        let distances = zip(keys, keys.dropFirst()).map { $1 - $0 }
        var words = ["structure: \(group)"]
        if let shortest = distances.min(), let longest = distances.max() {
            words.append(shortest == longest ? "a key picture every \(longest)" : "key pictures \(shortest) to \(longest) apart")
        } else {
            words.append(counted(keys.count, "key picture"))
        }
        words.append("at most \(counted(report.frames.map(\.references.count).max() ?? 0, "reference"))")
        words.append("reorder depth \(report.reorderDepth)")
        if let layers = report.frames.compactMap(\.temporalLayer.wrapped).max(), layers > 0 {
            words.append("\(layers + 1) temporal layers")
        }
        return words.joined(separator: ", ") + " (K: key picture, b: not referenced)"
    }

    private static func row(_ cells: [String]) -> String {
        func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
        return zip(cells, [7, 7, 5, 4, 6, 9, 10, 10, 6]).map(right).joined() + "  " + (cells.last ?? "")
    }

    private static func heading(_ report: InspectReport) -> [String] {
        report.frames.isEmpty ? [] : [row(["picture", "shown", "type", "key", "QP", "bytes", "pts", "dts", "layer", "references"])]
    }

    private static func row(_ frame: InspectReport.Frame) -> String {
        row([
            "\(frame.index)", "\(frame.display)", frame.type.rawValue, frame.key ? "key" : "",
            frame.qp == frame.qp.rounded() ? "\(Int(frame.qp))" : decimal(frame.qp, 1), "\(frame.bytes)",
            frame.pts.wrapped.map { decimal($0, 3) } ?? "-", frame.dts.wrapped.map { decimal($0, 3) } ?? "-",
            frame.temporalLayer.wrapped.map { "\($0)" } ?? "-",
            frame.references.map { "\($0)" }.joined(separator: " "),
        ])
    }
}
