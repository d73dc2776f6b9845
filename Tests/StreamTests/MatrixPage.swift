import TestOracles

/// docs/FEATURE-MATRIX.md from what was found. Personalities that agree in every cell share a column.
struct MatrixPage {
    /// By personality, then by feature.
    let columns: [[FeatureCell]]

    private var groups: [[Int]] {
        var groups: [[Int]] = []
        for index in columns.indices {
            if let at = groups.firstIndex(where: { columns[$0[0]] == columns[index] }) {
                groups[at].append(index)
            } else {
                groups.append([index])
            }
        }
        return groups
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ").map(String.init)

    var text: String {
        let groups = groups
        var lines = [
            "# Features by device", "",
            "Written by the tests (FeatureMatrixTests): every cell is a stream that the reference driver made while it",
            "played that device, from the device's own list of capabilities. Nothing here ran on the devices themselves.",
            "**yes**: libavcodec takes the stream and shows the driver's reconstruction, so does openh264 where the",
            "stream has neither B pictures nor long-term references, and the stream shows what was asked for (by FFmpeg's",
            "trace_headers, where it is a header's field). A number: the device lacks it, for the reason below; the",
            "effective configuration says so, and `--strict` refuses it.", "",
        ]
        for (group, letter) in zip(groups, Self.letters) {
            let names = group.map { FeatureMatrix.name(Personality.all[$0]) }
            lines.append("- **\(letter)**: \(names.joined(separator: ", "))")
        }
        var reasons: [String] = []
        func cell(_ cell: FeatureCell) -> String {
            guard let lack = cell.lack else { return cell.note == nil ? "yes" : "yes *" }
            if !reasons.contains(lack) { reasons.append(lack) }
            return "\((reasons.firstIndex(of: lack) ?? 0) + 1)"
        }
        var row = 0
        for (name, features) in Feature.all {
            lines += ["", "| \(name) | " + zip(groups, Self.letters).map(\.1).joined(separator: " | ") + " |"]
            lines.append("|---|" + String(repeating: "---|", count: groups.count))
            for feature in features {
                let cells = groups.map { columns[$0[0]].count > row ? cell(columns[$0[0]][row]) : "?" }
                lines.append("| \(feature.name) | " + cells.joined(separator: " | ") + " |")
                row += 1
            }
        }
        lines += ["", "\\* by vaenc's own rate controller over the QP of each picture: the driver has no such mode.", ""]
        for (index, reason) in reasons.enumerated() { lines.append("\(index + 1). \(reason)") }
        return lines.joined(separator: "\n") + "\n"
    }
}
