import Vaenc

/// The progress line on stderr during encoding: frames, speed, bit rate, remaining time, and a camera's lost pictures.
/// It is updated at most ten times a second.
struct ProgressLine {
    enum Style { case none, terminal, json }

    struct Report: Encodable {
        var frames: Int
        var fps: Double
        var bitrate: Int
        var secondsLeft: Nullable<Double>
        /// The number of camera pictures that did not reach the encoder: late, damaged or dropped by the driver.
        var lost: Int
    }

    let style: Style
    let expectedFrames: Int?
    /// The duration of the media if the number of frames is unknown.
    let expectedSeconds: Double?
    let frameRate: Rational
    private let began = Clock.now
    private var lastShown = 0.0
    private var shownWidth = 0

    init(style: Style, expectedFrames: Int?, expectedSeconds: Double?, frameRate: Rational) {
        self.style = style
        self.expectedFrames = expectedFrames
        self.expectedSeconds = expectedSeconds
        self.frameRate = frameRate
    }

    mutating func update(_ tally: EncodeTally, lost: @autoclosure () -> Int) {
        guard style != .none else { return }
        let now = Clock.now
        guard now - lastShown >= 0.1 else { return }
        lastShown = now
        show(tally.snapshot, elapsed: now - began, lost: lost())
    }

    /// Shows the last state (JSON), or clears the line (terminal).
    mutating func finish(_ tally: EncodeTally, lost: Int) {
        switch style {
        case .none: break
        case .json: show(tally.snapshot, elapsed: Clock.now - began, lost: lost)
        case .terminal: Terminal.write("\r" + String(repeating: " ", count: shownWidth) + "\r", to: 2)
        }
    }

    /// Estimates the remaining time from the number of frames if it is known, otherwise from the media duration. The
    /// input may end earlier.
    private func secondsLeft(frames: Int, fps: Double, media: Double, elapsed: Double) -> Double? {
        if let expectedFrames { return fps > 0 ? Double(max(0, expectedFrames - frames)) / fps : nil }
        guard let expectedSeconds, media > 0 else { return nil }
        return max(0, expectedSeconds - media) * elapsed / media
    }

    private mutating func show(_ counts: EncodeTally.Counts, elapsed: Double, lost: Int) {
        let frames = counts.frames.encoded
        let fps = elapsed > 0 ? Double(frames) / elapsed : 0
        let media = counts.mediaSeconds(frameRate: frameRate)
        let bitrate = media > 0 ? Int(clamping: Double(counts.packetBytes) * 8 / media) : 0
        let left = secondsLeft(frames: frames, fps: fps, media: media, elapsed: elapsed)
        switch style {
        case .none: break
        case .json:
            let report = Report(
                frames: frames, fps: rounded(fps), bitrate: bitrate, secondsLeft: Nullable(left.map(rounded)), lost: lost)
            if let text = try? JSON.text(report, pretty: false) { Terminal.write(text + "\n", to: 2) }
        case .terminal:
            var line = "\(frames)\(expectedFrames.map { "/\($0)" } ?? "") frames  \(Int(clamping: fps.rounded())) fps  \(bitrate / 1000) kbit/s"
            if let left { line += "  \(Int(clamping: left.rounded(.up))) s left" }
            if lost > 0 { line += "  \(lost) LOST" }
            let padding = String(repeating: " ", count: max(0, shownWidth - line.count))
            Terminal.write("\r" + line + padding, to: 2)
            shownWidth = line.count
        }
    }
}
