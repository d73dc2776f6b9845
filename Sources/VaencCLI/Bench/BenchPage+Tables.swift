import VideoBase

extension BenchPage {
    /// Returns the table of the BD-rates of a clip.
    func differences(_ clip: BenchReport.Clip) -> String {
        let entries = report.bdRate.filter { $0.input == clip.input }
        if entries.isEmpty { return "" }
        let rows = entries.map { entry in
            row([entry.of, entry.against, Self.percent(entry.percent.wrapped), Self.percent(entry.percentSSIM.wrapped)], names: 2)
        }
        return "<h3>Bits for the same quality (BD-rate)</h3>\n"
            + "<p>Negative values mean that the encoder needs fewer bits than the encoder that it is compared with.</p>\n"
            + table("BD-rates", ["Encoder", "Compared with", "Same PSNR", "Same SSIM"], rows, names: 2)
    }

    /// Returns the table of all runs of a clip.
    func runs(_ clip: BenchReport.Clip, _ summaries: [BenchSummary]) -> String {
        let rows = summaries.flatMap { summary in
            summary.runs.map { run in
                row(
                    [
                        run.encoder, String(run.qp), decimal(run.fps, 1), decimal(run.cpuMsPerFrame, 2), decimal(run.firstPacketMs, 1),
                        decimal(Double(run.peakKB) / 1024, 1), String(run.bytes), decimal(Double(run.bitrate) / 1000, 1),
                        run.psnr.wrapped.map { decimal($0, 2) } ?? "–", run.ssim.wrapped.map { decimal($0, 4) } ?? "–",
                    ], names: 1, dot: summary.style)
            }
        }
        let head = [
            "Encoder", "QP", "frames/s", "CPU ms/frame", "First packet ms", "Peak MiB", "Bytes", "kbit/s", "PSNR-Y dB", "SSIM-Y",
        ]
        return "<details open=\"open\"><summary>All runs (\(rows.count))</summary>\n\(table("All runs", head, rows, names: 1))</details>\n"
    }

    /// The conditions of the measurement.
    var method: String {
        """
        <section class="method">
        <h2>How this was measured</h2>
        <ul>
        <li>Every encoder gets the same raw NV12 frames and runs in a separate process. The speed and the time to the first packet \
        include the start of the program. Other programs that run at the same time change them, most of all in short runs.</li>
        <li>Speed, CPU time and time to the first packet are averages over all QPs. The memory is the largest peak.</li>
        <li>PSNR and SSIM are those of the luma samples of the decoded pictures, over all frames.</li>
        <li>The BD-rate is the average difference in bits over the range of quality that both curves have. It needs four QPs.</li>
        <li>vaenc uses its default structure. FFmpeg and the software encoders use no B pictures. The GOP is five seconds.</li>
        </ul>
        </section>

        """
    }

    private static func percent(_ value: Double?) -> String {
        guard let value else { return "no common range" }
        let text = decimal(abs(value), 1)
        return (text == "0.0" ? "" : value < 0 ? "−" : "+") + text + " %"
    }

    /// - Parameters:
    ///   - names: The number of cells at the beginning that are text.
    ///   - dot: The name of the style of a mark before the first cell; nil for none.
    private func row(_ cells: [String], names: Int, dot: String? = nil) -> String {
        var text = "<tr>"
        for (index, cell) in cells.enumerated() {
            let mark = index == 0 ? dot.map { "<span class=\"dot dot-\($0)\"></span>" } ?? "" : ""
            let content = mark + Self.escaped(cell)
            text += index == 0 ? "<th scope=\"row\">\(content)</th>" : "<td\(index < names ? " class=\"name\"" : "")>\(content)</td>"
        }
        return text + "</tr>\n"
    }

    private func table(_ label: String, _ head: [String], _ rows: [String], names: Int) -> String {
        var text = "<div class=\"scroll\" role=\"region\" aria-label=\"\(label)\" tabindex=\"0\">\n<table>\n<thead><tr>"
        for (index, cell) in head.enumerated() {
            text += "<th scope=\"col\"\(index > 0 && index < names ? " class=\"name\"" : "")>\(Self.escaped(cell))</th>"
        }
        return text + "</tr></thead>\n<tbody>\n" + rows.joined() + "</tbody>\n</table>\n</div>\n"
    }
}
