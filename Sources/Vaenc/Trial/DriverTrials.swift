import Glibc
import ReferenceDisplay
import Synchronization
import VAAPI
import VideoBase

/// Trials of drivers in a separate process, before this process uses them. A driver that aborts or crashes would end
/// this process.
///
/// The trial program is `vaenc`: the running one, or for other programs the one that is installed with the reference
/// driver. Without this program, or if VAENC_DRIVER_TRIALS is 0, no driver is tried. A trial that succeeded is recorded
/// for later processes, unless VAENC_DRIVER_TRIALS is `always`.
public enum DriverTrials {
    /// The path of a `vaenc` of this version. By default, it is the program beside the reference driver's file
    /// (`PREFIX/bin/vaenc`); nil if there is none.
    public static var program: String? {
        get { state.withLock { $0.program } ?? installed() }
        set { state.withLock { $0.program = newValue } }
    }

    private struct State {
        var program: String?
        /// Whether this is the process that runs a trial.
        var isServing = false
        /// The trials that succeeded earlier, by their arguments.
        var proved: Set<[String]> = []
    }

    private static let state = Mutex(State())

    /// The command of `vaenc` that runs a trial.
    package static let command = "try-driver"

    /// The exit status of a trial in which the loading of a driver did not end. No other library can be loaded in that
    /// state.
    package static let hungStatus: Int32 = 98

    private static func installed() -> String? {
        guard let folder = ReferenceDisplay.driverFolder else { return nil }
        // SAFETY: access only reads the string.
        return ["\(folder)/../../bin/vaenc", "\(folder)/vaenc"].first { unsafe access($0, X_OK) == 0 }
    }

    /// Returns whether a driver must be tried. The reference driver is tried only with fault injection.
    private static func mustBeTried(_ kind: DeviceKind) -> Bool {
        kind == .vaapi || kind == .reference && Environment.value("VAENC_FAULT") != nil
    }

    private static func name(_ kind: DeviceKind, _ path: String?) -> String { path ?? kind.rawValue }

    /// Runs a trial in a child process. Returns nil if trials are disabled or unavailable.
    ///
    /// - Parameter what: The arguments of the trial.
    private static func run(_ what: [String], _ kind: DeviceKind) throws -> TrialChild? {
        guard mustBeTried(kind), Environment.value("VAENC_DRIVER_TRIALS") != "0", !state.withLock({ $0.isServing }), let program else { return nil }
        // The trial makes many calls and pictures, each with the device's time limit.
        let (limit, isTooLong) = DriverCallWatchdog.usualLimit(of: kind).multipliedReportingOverflow(by: 6)
        return TrialChild.run(program, [command] + what, silenceNanoseconds: isTooLong ? .max : limit)
    }

    /// Returns the reason not to use the device after a trial; nil if the driver did not end or block the process.
    private static func failure(_ child: TrialChild, _ kind: DeviceKind, _ path: String?) -> VaencError? {
        let remedy = "use another device, or update the driver"
        let device = name(kind, path)
        if child.isHung || child.signal == 0 && child.status == hungStatus {
            return VaencError(.deviceFailed, "the driver of \(device) does not answer", remedy: remedy)
        }
        guard child.isCrashed else { return nil }
        let words = child.lastMessage.isEmpty ? "" : ": \(child.lastMessage)"
        return VaencError(
            .deviceFailed,
            "the driver of \(device) crashed the process that tested it (\(signalName(child.signal)))\(words)",
            remedy: remedy)
    }

    private static func signalName(_ signal: Int32) -> String {
        switch signal {
        case SIGABRT: "SIGABRT"
        case SIGSEGV: "SIGSEGV"
        case SIGBUS: "SIGBUS"
        case SIGILL: "SIGILL"
        case SIGFPE: "SIGFPE"
        default: "signal \(signal)"
        }
    }

    // MARK: Trials

    /// Queries all capabilities of a device in another process.
    ///
    /// - Throws: `deviceFailed` if the driver ends that process or does not respond.
    static func proveReport(_ kind: DeviceKind, _ path: String?) throws {
        try prove(["report", name(kind, path)], kind, path)
    }

    /// Opens a device in another process and queries what it decodes.
    ///
    /// - Throws: `deviceFailed` if the driver ends that process or does not respond.
    static func proveDecoder(_ kind: DeviceKind, _ path: String?) throws {
        try prove(["open", name(kind, path)], kind, path)
    }

    /// Creates an encoder in another process, once for each kind of configuration.
    ///
    /// - Throws: `deviceFailed` if the driver ends that process or does not respond. This process detects all other
    ///   failures itself.
    static func tryEncoder(_ kind: DeviceKind, _ path: String?, _ configuration: EncoderConfiguration) throws {
        try prove(["encode", name(kind, path)] + configuration.trialArguments, kind, path)
    }

    /// Runs a trial, unless it has succeeded before.
    private static func prove(_ what: [String], _ kind: DeviceKind, _ path: String?) throws {
        if state.withLock({ $0.proved.contains(what) }) { return }
        let record = state.withLock { $0.isServing } ? nil : TrialRecord(what, kind, path)
        if let record, record.isValid() {
            _ = state.withLock { $0.proved.insert(what) }
            return
        }
        guard let child = try run(what, kind) else { return }
        if let failure = failure(child, kind, path) { throw failure }
        guard child.signal == 0, child.status == 0 else { return }
        _ = state.withLock { $0.proved.insert(what) }
        TrialRecord.takeOverMemoryTrials(child.lines)
        record?.save(child.lines)
    }

    /// Tries modes of a device in other processes. If a mode ends its process, the next process continues with the mode
    /// after it.
    ///
    /// - Parameter modes: Indices in `TrialEncode.all`.
    /// - Returns: The failure of each mode (nil if it works), by index; nil if trials are unavailable.
    static func verify(_ modes: Range<Int>, of report: DeviceReport) -> [Int: String?]? {
        var results: [Int: String?] = [:]
        var next = modes.lowerBound
        while next < modes.upperBound {
            let what = ["verify", name(report.kind, report.path), "\(next)", "\(modes.upperBound)"]
            guard let child = try? run(what, report.kind) else { return nil }
            let before = next
            for line in child.lines {
                let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
                guard words.count >= 2, let mode = Int(words[1]), modes.contains(mode) else { continue }
                switch words[0] {
                case "ok": results[mode] = .some(nil)
                case "failed": results[mode] = words.count > 2 ? String(words[2]) : "failed"
                default: continue
                }
                next = mode + 1
            }
            if next == modes.upperBound { break }
            if let failure = failure(child, report.kind, report.path) {
                results[next] = failure.message
                next += 1
            } else if next == before {
                // The program has another version, or something else ended it.
                return nil
            }
        }
        return results
    }

    // MARK: The trial process

    /// The reason why a trial process ends with an error.
    package enum TrialFailure: Error {
        /// The arguments describe no trial: the program that started this process has another version.
        case unknownTrial
        /// The loading of a driver did not end. The exit status is `hungStatus`.
        case loaderIsStuck
    }

    /// Runs the trial that the arguments after `command` describe. Only the program `vaenc` calls it.
    ///
    /// - Parameter arguments: The arguments after `command`.
    package static func serve(_ arguments: [String]) throws(TrialFailure) {
        state.withLock { $0.isServing = true }
        guard arguments.count >= 2, let selector = DeviceSelector(arguments[1]) else { throw .unknownTrial }
        switch arguments[0] {
        case "report":
            let report = Devices.reports(selector)
            // The driver must be loaded while its files are listed.
            let display = report.first?.usable == true ? open(selector) : nil
            if display != nil { TrialRecord.printResult() }
        case "verify":
            guard arguments.count == 4, let first = Int(arguments[2]), let end = Int(arguments[3]), first <= end else {
                throw .unknownTrial
            }
            verify(first..<end, selector)
        case "open":
            let backends = VideoCodec.allCases.map { try? DecodeBackend.choose(selector, $0, requireHardware: true) }
            if backends.contains(where: { $0 != nil }) { TrialRecord.printResult() }
        case "encode":
            guard let configuration = EncoderConfiguration(trialArguments: arguments.dropFirst(2)) else { throw .unknownTrial }
            let made = try? EncoderChoice.makeEncoder(
                configuration: configuration, device: selector, requireHardware: true
            ) { _ in }
            // If this fails without ending the process, it also fails in the parent process, which reports it.
            if let made, (try? TrialEncode.feed(made.encoder)) != nil { TrialRecord.printResult() }
            made?.encoder.invalidate()
        default: throw .unknownTrial
        }
        if Display.isLoaderStuck { throw .loaderIsStuck }
    }

    private static func open(_ selector: DeviceSelector) -> Display? {
        guard case .path(let path) = selector else { return nil }
        return try? Display.open(renderNode: path)
    }

    private static func verify(_ modes: Range<Int>, _ selector: DeviceSelector) {
        guard let report = Devices.reports(selector).first else { return }
        let all = TrialEncode.all(of: report)
        for mode in modes.clamped(to: all.indices) {
            let failure = all[mode].failure()
            let words = failure.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
            let line = Array("\(words == nil ? "ok" : "failed") \(mode)\(words.map { " " + $0 } ?? "")\n".utf8)
            // SAFETY: write reads the bytes of the array. A line is shorter than the length that a pipe accepts in one
            // write.
            _ = unsafe line.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        }
    }
}

extension EncoderConfiguration {
    /// The settings that determine which objects of the driver are created.
    fileprivate var trialArguments: [String] {
        var result = ["size=\(size.width)x\(size.height)", "format=\((inputFormat.bitDepth > 8 ? PixelFormat.p010 : .nv12).rawValue)"]
        func add(_ name: String, _ value: (some CustomStringConvertible)?) {
            if let value { result.append("\(name)=\(value)") }
        }
        add("codec", codec?.rawValue)
        add("profile", profile?.rawValue)
        add("depth", bitDepth)
        add("rate", rate.rateControl?.rawValue)
        add("bitrate", rate.bitrate?.value)
        add("qp", rate.qp)
        add("quality", rate.quality)
        add("bframes", structure.bFrames)
        add("lowpower", lowPower)
        return result
    }

    fileprivate init?(trialArguments: some Sequence<String>) {
        var values: [String: String] = [:]
        for argument in trialArguments {
            let parts = argument.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
        let sides = values["size"]?.split(separator: "x").compactMap { Int($0) } ?? []
        guard sides.count == 2, let format = values["format"].flatMap(PixelFormat.init(rawValue:)) else { return nil }
        self.init(size: VideoSize(width: sides[0], height: sides[1]))
        inputFormat = format
        codec = values["codec"].flatMap(VideoCodec.init(rawValue:))
        profile = values["profile"].flatMap(CodecProfile.init(rawValue:))
        bitDepth = values["depth"].flatMap { Int($0) }
        rate.rateControl = values["rate"].flatMap(RateControlMode.init(rawValue:))
        rate.bitrate = values["bitrate"].flatMap { Int($0) }.map { BitsPerSecond($0) }
        rate.qp = values["qp"].flatMap { Int($0) }
        rate.quality = values["quality"].flatMap { Int($0) }
        structure.bFrames = values["bframes"].flatMap { Int($0) }
        lowPower = values["lowpower"].flatMap { Bool($0) }
    }
}
