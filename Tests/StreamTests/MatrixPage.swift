import TestOracles

/// Writes docs/FEATURE-MATRIX.md from the results.
struct MatrixPage {
    /// The table of one codec.
    struct Part {
        var title: String
        var groups: [(group: String, features: [Feature])]
        /// The personalities that each column represents.
        var personalities: [[String?]]
        /// The cells, by column, then by feature.
        var columns: [[FeatureCell]]

        /// The columns; columns that are equal in every cell are merged.
        fileprivate var merged: [[Int]] {
            var merged: [[Int]] = []
            for index in columns.indices {
                if let at = merged.firstIndex(where: { columns[$0[0]] == columns[index] }) {
                    merged[at].append(index)
                } else {
                    merged.append([index])
                }
            }
            return merged
        }
    }

    let parts: [Part]

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ").map(String.init)

    private static let head = [
        "# Features by device", "",
        "The tests write this page (FeatureMatrixTests). For each cell, they encode one stream on the reference driver, which",
        "imitates the device ([personalities](REFERENCE-DRIVER.md#personalities)). Nothing on this page ran on the devices",
        "themselves.", "",
        "- **yes**: The stream has the requested feature (fields of headers are checked with FFmpeg's trace_headers). The",
        "  pictures that libavcodec decodes equal the driver's reconstruction. HEVC streams are also decoded by libde265, and",
        "  H.264 streams without B pictures and long-term references by openh264.",
        "- **yes \\***: vaenc's own rate controller provides the mode. The driver does not have it.",
        "- **a number**: The device does not support the feature. The notes below have the reason. The effective configuration",
        "  reports it, and `--strict` refuses it.", "",
        "HEVC streams use the fastest quality level unless the feature is a quality level.",
    ]

    var text: String {
        var lines = Self.head
        var reasons: [String] = []
        func cell(_ cell: FeatureCell) -> String {
            guard let lack = cell.lack else { return cell.note == nil ? "yes" : "yes *" }
            if !reasons.contains(lack) { reasons.append(lack) }
            return "\((reasons.firstIndex(of: lack) ?? 0) + 1)"
        }
        for part in parts {
            let merged = part.merged
            lines += ["", "## \(part.title)", ""]
            for (group, letter) in zip(merged, Self.letters) {
                let members = Set(group.flatMap { part.personalities[$0] })
                let names = Personality.all.filter(members.contains).map(FeatureMatrix.name)
                lines.append("- **\(letter)**: \(names.joined(separator: ", "))")
            }
            var row = 0
            for (name, features) in part.groups {
                lines += ["", "| \(name) | " + zip(merged, Self.letters).map(\.1).joined(separator: " | ") + " |"]
                lines.append("|---|" + String(repeating: "---|", count: merged.count))
                for feature in features {
                    let cells = merged.map { part.columns[$0[0]].count > row ? cell(part.columns[$0[0]][row]) : "?" }
                    lines.append("| \(feature.name) | " + cells.joined(separator: " | ") + " |")
                    row += 1
                }
            }
        }
        lines += ["", "\\* by vaenc's own rate controller over the QP of each picture: the driver has no such mode.", ""]
        for (index, reason) in reasons.enumerated() { lines.append("\(index + 1). \(reason)") }
        return lines.joined(separator: "\n") + "\n"
    }
}
