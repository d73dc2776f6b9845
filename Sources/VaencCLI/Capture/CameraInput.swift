import Capture
import MediaFiles
import Preview
import Synchronization
import Vaenc

/// A camera as the input of a run, with its preview window and its part of the report.
struct CameraInput {
    let source: CameraSource
    /// The preview window; nil if none was requested.
    let preview: CameraPreview?
    private let notices: NoticeList

    /// The notices of the camera's thread, as human-readable text.
    private final class NoticeList: Sendable {
        private let texts = Mutex<[String]>([])
        func add(_ text: String) { texts.withLock { $0.append(text) } }
        var all: [String] { texts.withLock { $0 } }
    }

    init(
        _ path: String, request: CaptureRequest, switches: [CameraSource.Switch], options: SourceOptions, microphone: String?,
        preview: Bool,
        printsNotices: Bool
    ) throws {
        let notices = NoticeList()
        let window = preview ? try CameraPreview(of: options) : nil
        var observer: CameraSource.FrameObserver?
        if let window { observer = { frame, info in window.show(frame, info) } }
        source = try CameraSource(
            path, request: request, switches: switches, options: options, microphone: microphone, onFrame: observer,
            onNotice: { notice in
                guard let text = Self.text(notice) else { return }
                notices.add(text)
                if printsNotices { Terminal.note(text) }
            })
        self.preview = window
        self.notices = notices
    }

    /// Returns the text of a notice; nil for notices that are reported elsewhere or in total at the end.
    private static func text(_ notice: CameraSource.Notice) -> String? {
        switch notice {
        case .started(let info): "capturing from \(words(info))"
        case .switched(let info): "switched to \(words(info))"
        case .soundEnded(let info, let end):
            "the sound of \(info.name) has ended (\(end.name)): the recording continues with silence"
        case .dropped, .ended: nil
        }
    }

    private static func words(_ info: CaptureInfo) -> String {
        let rate = info.frameRate.map { ", \(decimal($0.value, 2)) frames/s" } ?? ""
        return "\(info.path) (\(info.name)): \(info.size) \(info.layout)\(rate)"
    }

    /// Adds the counts and notices of the camera's threads to a report.
    ///
    /// - Parameter printsNotices: Whether notices that become known only at the end are printed on stderr too.
    func complete(_ report: inout EncodeReport, printsNotices: Bool) {
        report.capture = CaptureReport(source)
        let late = [preview?.notice, dropNotice].compactMap { $0 }
        if printsNotices { for text in late { Terminal.note(text) } }
        report.notices += (notices.all + late).map { OptionNames.translate(FileName.printable($0)) }
        if let failure = source.failure { report.notices.append(OptionNames.translate(FileName.printable(failure.message))) }
    }

    /// A line with the numbers of lost pictures; nil if none was lost.
    var dropNotice: String? {
        let counts = source.counts
        let parts = [
            (counts.droppedByDriver, "dropped by the driver"), (counts.late, "dropped because they were late"),
            (counts.damaged, "damaged"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return parts.isEmpty ? nil : "camera frames that were not encoded: \(parts.joined(separator: ", "))"
    }
}

/// The part of the report that describes cameras.
struct CaptureReport: Encodable, Sendable {
    struct Camera: Encodable, Sendable {
        var path: String
        var name: String
        var driver: String
        var bus: String
        var format: String
        var converted: Bool
        var width: Int
        var height: Int
        var frameRate: Nullable<Rational>
        var exportsBuffers: Bool
        var captured: Int
        var droppedByDriver: Int
        var late: Int
        var damaged: Int
        var unused: Int
        var timesReplaced: Int
        /// `stopped`, `unplugged`, `stalled` or `failed`.
        var ended: String
    }

    struct Sound: Encodable, Sendable {
        var device: String
        var rate: Int
        var channels: Int
        /// The number of samples of each channel.
        var samples: Int
        var gaps: Int
        var samplesFilled: Int
        var samplesDropped: Int
        /// The deviation of the device's clock from the system's clock in millionths; positive if the device's is
        /// faster.
        var driftPPM: Double
        var ended: String
    }

    /// The counts of all cameras together.
    var captured: Int
    var droppedByDriver: Int
    var late: Int
    var damaged: Int
    var unused: Int
    /// The end of the camera that was recorded last.
    var ended: String
    var cameras: [Camera]
    var sound: Sound?

    init(_ source: CameraSource) {
        let counts = source.counts
        (captured, droppedByDriver, late) = (counts.captured, counts.droppedByDriver, counts.late)
        (damaged, unused) = (counts.damaged, counts.unused)
        ended = (source.end ?? .stopped).name
        sound = source.soundAccount.map { info, counts, end in
            Sound(
                device: info.name, rate: info.rate, channels: info.channels, samples: counts.samples, gaps: counts.gaps,
                samplesFilled: counts.samplesFilled, samplesDropped: counts.samplesDropped, driftPPM: counts.driftPPM,
                ended: (end ?? .stopped).name)
        }
        cameras = source.account.map { info, counts, end in
            Camera(
                path: info.path, name: info.name, driver: info.driver, bus: info.bus, format: info.layout.description,
                converted: info.isConverted, width: info.size.width, height: info.size.height,
                frameRate: Nullable(info.frameRate), exportsBuffers: info.exportsBuffers, captured: counts.captured,
                droppedByDriver: counts.droppedByDriver, late: counts.late, damaged: counts.damaged, unused: counts.unused,
                timesReplaced: counts.timesReplaced, ended: (end ?? .stopped).name)
        }
    }
}
