import Vaenc

/// The line on stderr while encoding: frames, speed, bit rate, time left. At most ten times a second.
struct ProgressLine {
    enum Style { case none, terminal, json }

    struct Report: Encodable {
        var frames: Int
        var fps: Double
        var bitrate: Int
        var secondsLeft: Nullable<Double>
    }

    let style: Style
    let expectedFrames: Int?
    let frameRate: Rational
    private let began = Clock.now
    private var lastShown = 0.0
    private var shownWidth = 0

    init(style: Style, expectedFrames: Int?, frameRate: Rational) {
        self.style = style
        self.expectedFrames = expectedFrames
        self.frameRate = frameRate
    }

    mutating func update(_ tally: EncodeTally) {
        guard style != .none else { return }
        let now = Clock.now
        guard now - lastShown >= 0.1 else { return }
        lastShown = now
        show(tally.snapshot, elapsed: now - began)
    }

    /// Shows the last state and ends the line.
    mutating func finish(_ tally: EncodeTally) {
        switch style {
        case .none: break
        case .json: show(tally.snapshot, elapsed: Clock.now - began)
        case .terminal: Terminal.write("\r" + String(repeating: " ", count: shownWidth) + "\r", to: 2)
        }
    }

    private mutating func show(_ counts: EncodeTally.Counts, elapsed: Double) {
        let frames = counts.frames.encoded
        let fps = elapsed > 0 ? Double(frames) / elapsed : 0
        let media = counts.mediaSeconds(frameRate: frameRate)
        let bitrate = media > 0 ? Int(Double(counts.packetBytes) * 8 / media) : 0
        let left = expectedFrames.flatMap { fps > 0 ? Double(max(0, $0 - frames)) / fps : nil }
        switch style {
        case .none: break
        case .json:
            let report = Report(
                frames: frames, fps: rounded(fps), bitrate: bitrate, secondsLeft: Nullable(left.map(rounded)))
            if let text = try? JSON.text(report, pretty: false) { Terminal.write(text + "\n", to: 2) }
        case .terminal:
            var line = "\(frames)\(expectedFrames.map { "/\($0)" } ?? "") frames  \(Int(fps.rounded())) fps  \(bitrate / 1000) kbit/s"
            if let left { line += "  \(Int(left.rounded(.up))) s left" }
            let padding = String(repeating: " ", count: max(0, shownWidth - line.count))
            Terminal.write("\r" + line + padding, to: 2)
            shownWidth = line.count
        }
    }
}
