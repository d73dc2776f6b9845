import Vaenc
import VideoBase

/// The progress line on stderr during encoding: frames, speed, bit rate, remaining time, and a camera's lost pictures.
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
    private var shownWidth = 0

    init(style: Style) { self.style = style }

    /// Shows a state. The transcoder limits how often it changes.
    mutating func update(_ progress: Transcoder.Progress) {
        let (frames, elapsed) = (progress.framesEncoded, progress.elapsed.seconds)
        let fps = elapsed > 0 ? Double(frames) / elapsed : 0
        let media = progress.mediaDuration.seconds
        let bitrate = media > 0 ? Int(clamping: Double(progress.packetBytes) * 8 / media) : 0
        let left = secondsLeft(progress, fps: fps)
        switch style {
        case .none: break
        case .json:
            let report = Report(
                frames: frames, fps: rounded(fps), bitrate: bitrate, secondsLeft: Nullable(left.map(rounded)), lost: progress.framesLost)
            if let text = try? JSON.text(report, pretty: false) { Terminal.write(text + "\n", to: 2) }
        case .terminal:
            var line =
                "\(frames)\(progress.expectedFrames.map { "/\($0)" } ?? "") frames  \(Int(clamping: fps.rounded())) fps  \(bitrate / 1000) kbit/s"
            if let left { line += "  \(Int(clamping: left.rounded(.up))) s left" }
            if progress.framesLost > 0 { line += "  \(progress.framesLost) LOST" }
            let padding = String(repeating: " ", count: max(0, shownWidth - line.count))
            Terminal.write("\r" + line + padding, to: 2)
            shownWidth = line.count
        }
    }

    /// Clears the line of a terminal.
    func clear() {
        if style == .terminal { Terminal.write("\r" + String(repeating: " ", count: shownWidth) + "\r", to: 2) }
    }

    /// Estimates the remaining time from the number of frames if it is known, otherwise from the media duration. The
    /// input may end earlier.
    private func secondsLeft(_ progress: Transcoder.Progress, fps: Double) -> Double? {
        if let expected = progress.expectedFrames { return fps > 0 ? Double(max(0, expected - progress.framesEncoded)) / fps : nil }
        let media = progress.mediaDuration.seconds
        guard let expected = progress.expectedDuration?.seconds, media > 0 else { return nil }
        return max(0, expected - media) * progress.elapsed.seconds / media
    }
}
