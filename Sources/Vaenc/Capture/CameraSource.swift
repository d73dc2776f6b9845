public import Capture
public import MediaFiles
import Threads
public import VideoBase

/// A camera, or several cameras one after another, as a source of pictures to encode.
///
/// Times are capture times, relative to the first picture plus `SourceOptions.start`. One thread reads; any thread may
/// call `cancel`.
public final class CameraSource: FrameSource {
    /// A change to another camera.
    public struct Switch: Sendable, Hashable {
        /// The path of the camera, for example `/dev/video0`.
        public var path: String
        /// The time in the recording from which the pictures come from this camera.
        public var time: Duration

        /// Creates a change to the camera at `path` at `time`.
        public init(path: String, time: Duration) { (self.path, self.time) = (path, time) }
    }

    /// An event of a capture.
    public enum Notice: Sendable, Hashable {
        /// The first camera is open.
        case started(CaptureInfo)
        /// The pictures now come from another camera.
        case switched(to: CaptureInfo)
        /// The numbers of pictures that were dropped since the last notice: by the driver, as late, and as damaged.
        case dropped(byDriver: Int, late: Int, damaged: Int)
        /// The current camera has ended.
        case ended(CaptureEnd)
        /// The sound device has ended. The pictures continue, with silence.
        case soundEnded(SoundInput.Info, CaptureEnd)
    }

    /// Receives events, on the thread that reads. It may call `cancel`; it must not read a picture.
    public typealias NoticeHandler = @Sendable (Notice) -> Void
    /// Receives each picture before it is encoded, on the thread that reads. It may call `cancel`. It must not keep the
    /// picture or read another one.
    public typealias FrameObserver = @Sendable (CapturedFrame, CaptureInfo) -> Void

    /// The properties of the pictures.
    public let info: SourceInfo
    let cameras: [Camera]
    private let switches: [(time: Double, camera: Int)]
    private let options: SourceOptions
    private let onNotice: NoticeHandler
    private let onFrame: FrameObserver?
    let origin: CaptureOrigin
    let microphone: CameraSound?
    /// The AAC track of the microphone; nil without a microphone.
    public let sound: SourceSound?
    let state: Monitor<State>

    /// An open camera, and the converter of its pictures to the size and color of the first camera.
    final class Camera: Sendable {
        let stream: CameraStream
        let shaper: Monitor<FrameShaper>
        /// Whether the pictures already have that size and color.
        let isUnconverted: Bool

        init(_ stream: CameraStream, output: VideoSize?, color: ColorDescription?, fit: FrameFit) {
            self.stream = stream
            isUnconverted = stream.info.size == output && (color == nil || stream.info.color == color)
            shaper = Monitor(Camera.shaper(stream.info.size, color: stream.info.color, output: output, target: color, fit: fit))
        }

        static func shaper(
            _ size: VideoSize, color: ColorDescription, output: VideoSize?, target: ColorDescription?, fit: FrameFit
        ) -> FrameShaper {
            FrameShaper(source: size, aspect: Rational(1, 1), color: color, target: target, output: output, fit: fit)
        }
    }

    struct State {
        /// The index of the current camera in `cameras`.
        var current = 0
        /// Whether the first picture was requested. Earlier pictures do not belong to the recording.
        var hasBegun = false
        /// The number of switches that were made.
        var switched = 0
        /// The phase of the next camera.
        var next = StreamPhase.idle
        /// The time of the last picture that was returned, in microseconds on the monotonic clock.
        var lastTime: Int64?
        var delivered = 0
        var counts = CaptureCounts()
        var isOver = false
        var soundHasEnded = false
        var isCancelled = false
    }

    /// Opens all cameras in advance, so that a switch takes no time and cannot fail because a camera does not open.
    ///
    /// - Parameters:
    ///   - path: The path of the first camera.
    ///   - request: The request for each camera.
    ///   - switches: The changes to other cameras, in the order of their times.
    ///   - options: The fields `start`, `duration`, `frameLimit`, `outputSize` and `fit` are used; the others are
    ///     ignored.
    ///   - microphone: The sound device to record, as `SoundInput` names it; nil for none.
    ///   - onFrame: Receives each picture before it is encoded.
    ///   - onNotice: Receives events.
    /// - Throws: The errors of `CameraStream` and `SoundInput`; `usage` if the switches are not in order or an option is
    ///   out of range.
    public init(
        _ path: String, request: CaptureRequest = CaptureRequest(), switches: [Switch] = [],
        options: SourceOptions = SourceOptions(), microphone: String? = nil, onFrame: FrameObserver? = nil,
        onNotice: @escaping NoticeHandler = { _ in }
    ) throws {
        try options.validate()
        if zip(switches, switches.dropFirst()).contains(where: { $0.time >= $1.time }) {
            throw VaencError(
                .usage, "the switches between cameras are not in order of time",
                remedy: "sort them by time")
        }
        let paths = ([path] + switches.map(\.path)).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let first = try CameraStream(path, request)
        let size = options.outputSize ?? first.info.size
        let color = first.info.color
        var cameras = [Camera(first, output: size, color: nil, fit: options.fit)]
        for other in paths.dropFirst() {
            let stream = try CameraStream(other, request)
            cameras.append(Camera(stream, output: size, color: color, fit: options.fit))
        }
        self.cameras = cameras
        self.switches = switches.map { one in (one.time.seconds, paths.firstIndex(of: one.path) ?? 0) }
        self.options = options
        self.onNotice = onNotice
        self.onFrame = onFrame
        origin = CaptureOrigin()
        self.microphone = try microphone.map { try CameraSound($0) }
        sound = self.microphone.map { SourceSound(track: $0.track, origin: .zero, cutsStart: false) }
        state = Monitor(State())
        info = Self.describe(first.info, size: size, request: request, options: options)
        onNotice(.started(first.info))
    }

    private static func describe(
        _ camera: CaptureInfo, size: VideoSize, request: CaptureRequest, options: SourceOptions
    ) -> SourceInfo {
        var format: PixelFormat?
        if case .raw(let found) = camera.layout { format = found }
        var info = SourceInfo(
            size: size, frameRate: camera.frameRate ?? request.frameRate ?? Rational(30), color: camera.color,
            sampleAspectRatio: Rational(1, 1), frameCount: options.frameLimit, duration: options.duration,
            nativeFormat: format, nativeSize: camera.size, kind: "camera, \(camera.layout)")
        info.note(options)
        if format == nil { info.nativeFormatName = camera.layout.description }
        info.frameRateVaries = true
        info.isLive = true
        func note(_ option: String, asked: String?, used: String) {
            guard let asked, asked != used else { return }
            info.changes.append(
                EffectiveEntry(option: option, asked: asked, used: used, why: "nearest that the camera supports"))
        }
        note("captureSize", asked: request.size?.description, used: camera.size.description)
        note("captureRate", asked: request.frameRate?.description, used: info.frameRate.description)
        return info
    }

    // MARK: Reading

    /// Writes the next picture into `planes` and returns its time; nil at the end. Blocks until the camera returns a
    /// picture or stalls.
    ///
    /// - Throws: `usage` if `planes` has another size than `info`; `interrupted` after `cancel`; the error of the
    ///   camera if it ended before the first picture.
    public func readFrame(into planes: PixelPlanes) throws -> FrameTiming? {
        guard let (frame, camera, timing) = try nextPicture() else { return nil }
        unsafe try shape(frame, of: camera, to: planes)
        return timing
    }

    /// Returns the next picture as the camera captured it, with its time in the recording; nil at the end.
    func nextPicture() throws -> (CapturedFrame, Camera, FrameTiming)? {
        while true {
            guard let camera = currentCamera() else { return nil }
            guard let frame = try camera.stream.next() else {
                // Any remaining switches are after the end of the recording.
                if camera.stream.isPast { finish() } else { try ended(camera) }
                return nil
            }
            reportDrops()
            reportSoundEnd()
            let elapsed = frame.time.seconds - zero(frame.time).seconds
            if prepare(elapsed) || elapsed < lastSwitchTime {
                camera.stream.countUnused()
                continue
            }
            if let duration = options.duration?.seconds, elapsed >= duration - 1e-9 {
                camera.stream.countUnused()
                finish()
                return nil
            }
            guard let time = take(frame.time) else {
                camera.stream.countUnused()
                continue
            }
            if state.withLockWithoutNotifying({ $0.isOver }) { finish() }
            onFrame?(frame, camera.stream.info)
            return (frame, camera, FrameTiming(presentation: time))
        }
    }

    /// Returns the time zero of the recording: the time of the first picture plus the skipped start. Earlier sound is
    /// discarded, because players would delay the first picture or show it early.
    func zero(_ time: MediaTime) -> MediaTime {
        let start = options.start?.seconds ?? 0
        if let first = origin.settled { return after(start, first) }
        let first = origin.settle(time)
        if let duration = options.duration?.seconds {
            let end = after(start + duration - 1e-9, first)
            for camera in cameras { camera.stream.end(at: end) }
        }
        return after(start, first)
    }

    private func after(_ seconds: Double, _ time: MediaTime) -> MediaTime {
        let ticks = Int64(clamping: (seconds * Double(time.timescale)).rounded(.up))
        return MediaTime(value: Int64(clamping: Int128(time.value) + Int128(ticks)), timescale: time.timescale)
    }

    /// Returns the current camera; nil after the end.
    private func currentCamera() -> Camera? {
        let (current, begins) = state.withLock { state in
            defer { state.hasBegun = true }
            return (state.isOver ? nil : state.current, !state.hasBegun)
        }
        guard let current else { return nil }
        if begins {
            microphone?.begin()
            cameras[current].stream.enter(.active)
        }
        return cameras[current]
    }

    /// The time of the last switch in seconds; 0 for the first camera.
    private var lastSwitchTime: Double {
        let switched = state.withLockWithoutNotifying { $0.switched }
        return switched > 0 ? switches[switched - 1].time : 0
    }

    /// Prepares the next switch, or makes it if its time has come. Returns true if the current camera has changed.
    private func prepare(_ elapsed: Double) -> Bool {
        let (switched, readiness) = state.withLockWithoutNotifying { ($0.switched, $0.next) }
        guard switched < switches.count else { return false }
        let next = switches[switched]
        let current = state.withLockWithoutNotifying { $0.current }
        // A camera needs some time until it returns pictures. Start it early, and fill its queue just before the
        // switch.
        if readiness < .warm, next.camera != current, elapsed >= next.time - 2 {
            cameras[next.camera].stream.enter(.warm)
            state.withLock { $0.next = .warm }
        }
        if readiness < .active, elapsed >= next.time - 2.5 / info.frameRate.value {
            cameras[next.camera].stream.enter(.active)
            state.withLock { $0.next = .active }
        }
        guard elapsed >= next.time else { return false }
        if next.camera != current {
            cameras[current].stream.enter(.warm)
            onNotice(.switched(to: cameras[next.camera].stream.info))
        }
        state.withLock { state in
            state.switched += 1
            state.next = .idle
            state.current = next.camera
        }
        return next.camera != current
    }

    /// Returns the picture's time in the recording; nil if it is not after the last picture.
    private func take(_ time: MediaTime) -> MediaTime? {
        let origin = zero(time).converted(to: 1_000_000).value
        return state.withLock { state in
            // Two cameras may capture at the same time. Containers do not distinguish times that are less than 1 ms
            // apart.
            if let last = state.lastTime, time.value < last + 1000 { return nil }
            state.lastTime = time.value
            state.delivered += 1
            if let limit = options.frameLimit, state.delivered >= limit { state.isOver = true }
            return MediaTime(value: max(0, time.value.subtractingReportingOverflow(origin).partialValue), timescale: 1_000_000)
        }
    }

    func shape(_ frame: CapturedFrame, of camera: Camera, to planes: PixelPlanes) throws {
        unsafe try frame.withUnsafePlanes { picture in
            try camera.shaper.withLockWithoutNotifying { shaper in unsafe try shaper.shape(picture, to: planes) }
        }
    }

    private func reportDrops() {
        let counts = counts
        let before = state.withLock { state in
            defer { state.counts = counts }
            return state.counts
        }
        let (driver, late) = (counts.droppedByDriver - before.droppedByDriver, counts.late - before.late)
        let damaged = counts.damaged - before.damaged
        if driver + late + damaged > 0 { onNotice(.dropped(byDriver: driver, late: late, damaged: damaged)) }
    }

    private func reportSoundEnd() {
        guard let input = microphone?.input, let end = input.end else { return }
        let isFirst = state.withLock { state in
            defer { state.soundHasEnded = true }
            return !state.soundHasEnded && !state.isCancelled
        }
        if isFirst { onNotice(.soundEnded(input.info, end)) }
    }

    /// - Throws: The reason why the camera ended, if it returned no picture.
    private func ended(_ camera: Camera) throws {
        reportDrops()
        let end = camera.stream.end ?? .stopped
        finish()
        let delivered = state.withLockWithoutNotifying { $0.delivered }
        onNotice(.ended(end))
        if delivered == 0, let error = end.error(camera.stream.info.path) { throw error }
    }

    /// Ends the recording. The cameras run until they are closed, and their pictures are not counted any more.
    private func finish() {
        state.withLock { $0.isOver = true }
        for camera in cameras { camera.stream.rest() }
    }

    /// Makes a running or later read throw `interrupted`. May be called from any thread.
    public func cancel() {
        state.withLock { $0.isCancelled = true }
        for camera in cameras { camera.stream.cancel() }
    }

    /// Stops all cameras and the microphone, and waits for each of them for at most two seconds. Idempotent.
    public func close() {
        finish()
        for camera in cameras { camera.stream.close() }
        microphone?.close()
    }
}
