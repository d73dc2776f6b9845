import VideoBase

/// Formats the report as a human-readable table.
enum BenchTable {
    static func text(_ report: BenchReport) -> String {
        let head = ["path", "encoder", "input", "rate", "fps", "CPU ms/frame", "first ms", "peak MB", "bytes", "kbit/s", "PSNR-Y", "SSIM-Y"]
        var rows = [head]
        for run in report.runs {
            rows.append([
                run.path, run.encoder, run.input, run.rate, decimal(run.fps, 1), decimal(run.cpuMsPerFrame, 2),
                decimal(run.firstPacketMs, 1), decimal(Double(run.peakKB) / 1024, 1), String(run.bytes),
                String(run.bitrate / 1000), run.psnr.wrapped.map { decimal($0, 2) } ?? "-",
                run.ssim.wrapped.map { decimal($0, 4) } ?? "-",
            ])
        }
        var text = "device: \(report.device)\n"
        if let missing = report.missingGPU { text += "\(missing)\n" }
        text += align(rows)
        if !report.bdRate.isEmpty {
            text += "\nBits for the same luma PSNR (BD-rate):\n"
            text += align(
                report.bdRate.map {
                    [
                        $0.input, $0.of, "against", $0.against,
                        $0.percent.wrapped.map { ($0 > 0 ? "+" : "") + decimal($0, 1) + " %" } ?? "no common range",
                    ]
                })
        }
        text += ratios(report)
        return text
    }

    /// Returns the ratios of vaenc to FFmpeg on the same driver, for runs that both have.
    private static func ratios(_ report: BenchReport) -> String {
        var rows: [[String]] = []
        for theirs in report.runs where theirs.path == "ffmpeg" {
            for ours in report.runs
            where ours.input == theirs.input && ours.rate == theirs.rate && ours.codec == theirs.codec
                && (ours.path == "vaapi" || ours.path == "reference")
            {
                rows.append([
                    ours.codec, ours.input, ours.rate, "CPU " + ratio(ours.cpuMsPerFrame, theirs.cpuMsPerFrame),
                    "fps " + ratio(ours.fps, theirs.fps), "first packet " + ratio(ours.firstPacketMs, theirs.firstPacketMs),
                    "memory " + ratio(Double(ours.peakKB), Double(theirs.peakKB)), "bytes " + ratio(Double(ours.bytes), Double(theirs.bytes)),
                ])
            }
        }
        return rows.isEmpty ? "" : "\nvaenc ÷ ffmpeg on the same driver:\n" + align(rows)
    }

    private static func ratio(_ a: Double, _ b: Double) -> String { b > 0 ? decimal(a / b, 2) : "-" }

    private static func align(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { $1 + String(repeating: " ", count: widths[$0] - $1.count) }.joined(separator: "  ")
                .trimmingTrailingSpaces + "\n"
        }.joined()
    }
}

extension String {
    var trimmingTrailingSpaces: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
