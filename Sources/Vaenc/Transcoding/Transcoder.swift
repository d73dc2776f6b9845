public import MediaFiles
import Synchronization
import Threads
public import VAAPI
public import VideoBase

/// Encodes an input into files or streams: it reads, decodes and scales the pictures, encodes them once for each
/// output, copies or encodes the sound, and writes the containers.
///
///     let transcoder = try Transcoder(input: "movie.mkv", output: "movie.mp4") { $0.rate.quality = 26 }
///     let result = try await transcoder.run { print($0.framesEncoded) }
///     print(result.outputs[0].bytes, result.notices)
///
/// A transcoder runs once. Any thread may call `cancel`. The command `vaenc encode` uses it.
public final class Transcoder: Sendable {
    /// The options that apply to all outputs.
    public struct Options: Sendable {
        /// The device that encodes, and decodes if it can.
        public var device = DeviceSelector.auto
        /// Whether to throw an error if no hardware encodes. Otherwise `auto` falls back to software.
        public var requireHardware = false
        /// Changes of the encoders' settings, by the index of the frame before which they apply.
        public var rateChanges: [Int: RunningChange] = [:]
        /// Whether the sound matches the times of the pictures. Otherwise it is left out.
        package var soundFitsPictures = true
        /// Settings of the effective configuration that always have a value and were not requested.
        package var inheritedSettings: Set<String> = []

        /// Creates the default options.
        public init() {}
    }

    /// The state of a run.
    public struct Progress: Sendable {
        /// The number of frames that were read and passed to the encoders.
        public var framesRead = 0
        /// The number of frames whose packets were delivered, of the first output that has not failed.
        public var framesEncoded = 0
        /// The number of frames that the input is expected to have; nil if unknown.
        public var expectedFrames: Int?
        /// The duration of the input; nil if unknown.
        public var expectedDuration: Duration?
        /// The time since the outputs were opened.
        public var elapsed = Duration.zero
        /// The duration of the packets so far, in media time.
        public var mediaDuration = Duration.zero
        /// The number of bytes of the packets so far, without the container and sound.
        public var packetBytes = 0
        /// The number of a camera's pictures that did not reach the encoder: late, damaged, or dropped by its driver.
        public var framesLost = 0
    }

    /// A decision that was made for the user, as one line of text.
    public struct Notice: Sendable, Hashable {
        /// The time of a notice.
        public enum Moment: Sendable, Hashable {
            /// The time before the first frame, after the setup succeeded.
            case start
            /// The time before the first frame, while later steps of the setup may still fail.
            case preparation
            /// The time during which frames are encoded.
            case running
            /// The time after the last frame.
            case end
        }

        /// The notice, in one line without a full stop. Names of settings are in backticks.
        public var text: String
        /// The time at which the notice became known.
        public var moment: Moment
    }

    struct State {
        var isStarted = false
        var isCancelled = false
        var hasEnded = false
        var sinks: [OutputSink] = []
    }

    let source: any FrameSource
    let outputs: [Output]
    let options: Options
    /// Whether the transcoder opened the source, and must close it.
    private let ownsSource: Bool
    let state = Mutex(State())

    /// Creates a transcoder for a source and its outputs. Opens no output.
    ///
    /// - Parameters:
    ///   - source: The input: a result of `MediaInput.open`, or a `CameraSource`. The caller closes it after the run.
    ///   - outputs: The outputs, at least one, each of another name. Their configurations have the size of the source.
    ///   - options: The options that apply to all outputs.
    public init(_ source: any FrameSource, outputs: [Output], options: Options = Options()) {
        (self.source, self.outputs, self.options, ownsSource) = (source, outputs, options, false)
    }

    /// Creates a transcoder for a file. Reads the file's header; opens no output.
    ///
    /// - Parameters:
    ///   - input: The path of a file that libavformat reads, `-` for standard input, or `testsrc:WxH@FPS:FRAMES`.
    ///   - output: The path of a file, or a URL that begins with `rtmp://` or `srt://`. Its extension determines the
    ///     container.
    ///   - device: The device that encodes.
    ///   - overwrite: Whether to replace an existing file.
    ///   - configure: Changes the configuration of the encoder, which describes the input's pictures. Without a bit
    ///     rate or QP, the encoder aims at a constant quality.
    /// - Throws: `DescribedError`: the errors of `MediaInput.open`; `usage` if the output is the input, or if its name
    ///   determines no container.
    public init(
        input: String, output: String, device: DeviceSelector = .auto, overwrite: Bool = false,
        configure: (inout EncoderConfiguration) -> Void = { _ in }
    ) throws {
        var sinkOptions = SinkOptions()
        sinkOptions.overwrite = overwrite
        if let same = MediaOutput.overwritten(input, by: output, options: sinkOptions) {
            throw VaencError(.usage, "\(same) is the input itself", remedy: "name another output")
        }
        let format = try MediaOutput.format(of: output, options: sinkOptions).format
        var sourceOptions = SourceOptions()
        sourceOptions.readsSound = format.holdsTracks
        let source = try MediaInput.open(input, options: sourceOptions)
        // A pipe may end unexpectedly.
        sinkOptions.survivesKill = MediaInput.isPipe(input) && source.info.frameCount == nil
        var configuration = EncoderConfiguration(encoding: source.info)
        configure(&configuration)
        var one = Output(output, configuration, options: sinkOptions)
        do { try one.chooseCodec() } catch {
            source.close()
            throw error
        }
        var options = Options()
        options.device = device
        (self.source, outputs, self.options, ownsSource) = (source, [one], options, true)
    }

    deinit { if ownsSource { source.close() } }

    /// Stores the sinks that `cancel` and `abandon` must reach.
    func begin(_ sinks: [OutputSink]) {
        let isCancelled = state.withLock { state in
            state.sinks = sinks
            return state.isCancelled
        }
        if isCancelled { cancel() }
    }

    /// Records that the run has ended: `cancel` and `abandon` have no effect from now on.
    private func end() {
        state.withLock { state in
            state.hasEnded = true
            state.sinks = []
        }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Encodes the input, finishes the outputs and returns the result. Blocks until the end of the input.
    ///
    /// If an output fails, no unfinished file has its name, and the other outputs continue. Its result has the error.
    /// After `cancel`, the outputs are finished with the frames so far.
    ///
    /// - Parameters:
    ///   - progress: Called on this thread, at most ten times a second, and once at the end.
    ///   - onNotice: Called on this thread for each notice as it becomes known, except those at the end. The result
    ///     contains all notices.
    /// - Throws: `DescribedError`: the first error, if no output was finished; `interrupted` if `cancel` was called
    ///   before the first frame; `usage` for a second run.
    @available(*, noasync, message: "it blocks its thread; call the async form, from an async function")
    public func run(
        progress: @escaping @Sendable (Progress) -> Void = { _ in }, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) throws -> Result {
        try runOnce(progress, onNotice)
    }

    /// Encodes the input, as the blocking form does, on a separate thread. If the task is cancelled, the outputs are
    /// finished with the frames so far, as after `cancel`.
    ///
    /// - Parameters:
    ///   - progress: Called on the transcoder's thread, at most ten times a second.
    ///   - onNotice: Called on the transcoder's thread for each notice as it becomes known, except those at the end.
    public func run(
        progress: @escaping @Sendable (Progress) -> Void = { _ in }, onNotice: @escaping @Sendable (Notice) -> Void = { _ in }
    ) async throws -> Result {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let starts = DedicatedThread.start("vaenc-transcode") { [self] in
                    continuation.resume(with: Swift.Result { try runOnce(progress, onNotice) })
                }
                if !starts {
                    continuation.resume(throwing: VaencError.noThread("to transcode"))
                }
            }
        } onCancel: {
            cancel()
        }
    }

    private func runOnce(
        _ progress: @escaping @Sendable (Progress) -> Void, _ onNotice: @escaping @Sendable (Notice) -> Void
    ) throws -> Result {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { throw VaencError(.usage, "the transcoder ran already", remedy: "create another one") }
        defer { end() }
        return try TranscodeRun(self).run(progress: progress, onNotice: onNotice)
    }

    /// Ends the run soon: the outputs are finished with the frames that were read so far, under their final names.
    /// Idempotent; has no effect after the run.
    public func cancel() {
        let sinks: [OutputSink]? = state.withLock { state in
            if state.hasEnded { return nil }
            state.isCancelled = true
            return state.sinks
        }
        guard let sinks else { return }
        source.cancel()
        for sink in sinks { sink.abortBlockingIO() }
    }

    /// Ends all outputs before the program exits, without waiting for the run.
    ///
    /// - Returns: The paths of parts of recordings that remain.
    package func abandon() -> [String] {
        state.withLock { $0.hasEnded ? [] : $0.sinks }.compactMap { $0.abandonSoon() }
    }
}
