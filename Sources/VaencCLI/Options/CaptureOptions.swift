public import ArgumentParser
public import Capture
import MediaFiles
import Vaenc

struct CaptureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Capture size (default 1280x720; the nearest supported size is used).", valueName: "WxH"))
    var captureSize: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Input number of the capture card, \(OptionRange.captureInput.words) (default: its current input).",
            valueName: "N"))
    var captureInput: Int?

    @Option(
        help: ArgumentHelp(
            "If the encoder is too slow, drop the oldest frames or keep as many as the driver has buffers "
                + "(default drop).",
            valueName: "drop|keep"))
    var lateFrames: LateFrames?

    @Option(
        help: ArgumentHelp(
            "Switch to another camera at this time of the recording, in seconds or as HH:MM:SS.mmm (may be repeated).",
            valueName: "/dev/videoM@T"))
    var switchTo: [String] = []

    @Option(
        help: ArgumentHelp(
            "Record this sound device too: default, hw:1, alsa:NAME, pulse:NAME; lavfi:GRAPH for tests (default: no sound).",
            valueName: "NAME"))
    var audioDevice: String?

    @Flag(help: "Show the frames in a window. Closing it does not end the recording.")
    var preview = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Stop if the camera delivers no frame for this many seconds, 0.1 to 3600 (default 5).",
            valueName: "SECONDS"))
    var stallTimeout: Double?

    /// Returns whether a name refers to a camera.
    static func isCamera(_ input: String) -> Bool { input.hasPrefix("/dev/video") || input.hasPrefix("/dev/v4l/") }

    /// Opens the input if it is a camera; returns nil for other inputs.
    ///
    /// - Throws: `usage` for camera options with another input, and for file options with a camera.
    func open(
        _ input: String?, options: InputOptions, readsSound: Bool = false, printsNotices: Bool
    ) throws -> CameraInput? {
        guard let input, Self.isCamera(input) else {
            if let option = usedOptions.first {
                throw VaencError.usage(
                    "\(option) applies only to cameras", remedy: "leave it out, or name /dev/videoN as the input")
            }
            return nil
        }
        if options.inputSize != nil {
            throw VaencError.usage("--input-size does not apply to cameras", remedy: "use --capture-size")
        }
        if audioDevice == "" {
            throw VaencError.usage(
                "the value of --audio-device is empty", remedy: "name a device, or leave it out")
        }
        let source = try options.sourceOptions(isCamera: true)
        return try CameraInput(
            input, request: try request(options, source), switches: try switches(), options: source,
            microphone: readsSound ? audioDevice : nil, preview: preview,
            printsNotices: printsNotices)
    }

    /// The names of the options of this group that the command line contains.
    private var usedOptions: [String] {
        [
            captureSize.map { _ in "--capture-size" }, captureInput.map { _ in "--capture-input" },
            lateFrames.map { _ in "--late-frames" }, switchTo.isEmpty ? nil : "--switch-to", preview ? "--preview" : nil,
            stallTimeout.map { _ in "--stall-timeout" }, audioDevice.map { _ in "--audio-device" },
        ].compactMap { $0 }
    }

    private func request(_ options: InputOptions, _ source: SourceOptions) throws -> CaptureRequest {
        var request = CaptureRequest()
        request.size = try captureSize.map { try SourceOptions.size("--capture-size", $0) }
        request.frameRate = source.frameRate
        if let name = options.inputFormat {
            guard let layout = CaptureLayout(SourceOptions.plainName(name.lowercased())) else {
                throw VaencError.usage(
                    "--input-format \(name) is not a camera format",
                    remedy: "use one of \(CaptureLayout.names.joined(separator: ", "))")
            }
            request.layout = layout
        }
        try OptionValue.check("--capture-input", value: captureInput, in: OptionRange.captureInput)
        request.input = captureInput
        request.lateFrames = lateFrames ?? .drop
        if let stallTimeout {
            guard stallTimeout >= 0.1, stallTimeout <= 3600, let timeout = Duration(checkedSeconds: stallTimeout) else {
                throw VaencError.usage("--stall-timeout \(stallTimeout) is out of range", remedy: "use 0.1 to 3600 seconds")
            }
            request.stallTimeout = timeout
            request.openTimeout = timeout
        }
        return request
    }

    private func switches() throws -> [CameraSource.Switch] {
        try switchTo.map { text in
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            let wrong = VaencError.usage(
                "--switch-to \(text) is not valid", remedy: "write /dev/videoM@TIME, such as /dev/video1@5")
            guard parts.count == 2, Self.isCamera(String(parts[0])) else { throw wrong }
            let seconds = try OptionValue.time("--switch-to", String(parts[1].trimmingSuffix("s")))
            guard seconds > 0, seconds < 1e9, let time = Duration(checkedSeconds: seconds) else { throw wrong }
            return CameraSource.Switch(path: String(parts[0]), time: time)
        }
    }
}

extension LateFrames: ExpressibleByArgument {}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring { hasSuffix(suffix) ? dropLast(suffix.count) : self }
}

extension CaptureOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        captureSize = line.value("--capture-size")
        captureInput = line.value("--capture-input")
        lateFrames = line.value("--late-frames")
        switchTo = line.values("--switch-to")
        audioDevice = line.value("--audio-device")
        preview = line.flag("--preview")
        stallTimeout = line.value("--stall-timeout")
    }
}
