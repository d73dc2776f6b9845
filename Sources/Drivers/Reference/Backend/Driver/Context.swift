internal import CVA

/// A VA context, which processes the pictures of one stream in order on one thread.
///
/// The display's monitor guards all members that do not say otherwise.
final class Context: @unchecked Sendable {
    let id: VAContextID
    let config: Config.Choice
    /// The width of the largest picture, in areas of 16×16 luma samples (H.264 macroblocks).
    let widthInMacroblocks: Int
    /// The height of the largest picture, in the same unit.
    let heightInMacroblocks: Int
    let environment: Environment
    private let monitor: Monitor

    /// The picture between vaBeginPicture and vaEndPicture; nil outside.
    var picture: OpenPicture?
    /// The parameters from earlier pictures of the stream that still apply.
    var stream: StreamState

    /// Makes the slices of VAENC_REFERENCE_MODE=null for H.264.
    let nullSlices = H264NullSlices()

    /// Encodes the pictures if the context encodes.
    let encoder: EncodeWorker
    /// Decodes the pictures; nil if the context does not decode.
    let decoder: DecodeWorker?
    /// The pictures that the context has decoded.
    var decoded = DecodedPictures()

    /// The scalers of a context that processes.
    let scalers = ScalerCache()

    private var queue: [Job] = []
    private var isFinishing = false
    private var thread: Thread?

    init(
        id: VAContextID, config: Config.Choice, width: Int, height: Int, environment: Environment,
        behavior: DriverBehavior, counts: CopyCounts, decoder: DecodeWorker?, monitor: Monitor
    ) {
        self.decoder = decoder
        self.id = id
        self.config = config
        widthInMacroblocks = (max(width, 0) + 15) / 16
        heightInMacroblocks = (max(height, 0) + 15) / 16
        stream = StreamState(columns: widthInMacroblocks, rows: heightInMacroblocks)
        self.environment = environment
        self.monitor = monitor
        encoder = EncodeWorker(environment: environment, behavior: behavior, counts: counts)
    }

    /// Throws unless the context can use `surface`: its size, layout and bit depth must match the context's.
    func validateSurface(_ surface: Surface) throws {
        if config.kind == .process { return }
        guard (surface.width + 15) / 16 >= widthInMacroblocks, (surface.height + 15) / 16 >= heightInMacroblocks else {
            throw Refusal.resolution("a surface of \(surface.width)x\(surface.height) is too small for its context")
        }
        // For decoding, `Driver.check` compares the format with the bit depth in the picture parameters.
        let encoded: SurfaceFormat = config.entry.bitDepth > 8 ? .p010 : .nv12
        guard config.kind == .encode, surface.format != encoded else { return }
        let refusal = Refusal(
            VA_STATUS_ERROR_INVALID_SURFACE,
            "surface \(surface.id) has the format \(surface.format.name), but the context encodes \(encoded.name)")
        guard config.entry.codec?.convertsSamples == true, surface.format.isSemiPlanar else { throw refusal }
        try environment.tolerate(.surfaceFormat, refusal)
    }

    /// Returns the rate controller's input for a picture; nil if the rate control mode is CQP.
    func ratedPicture(
        _ picture: EncodePicture, _ sequence: SequenceRate, _ kind: RatedPicture.Kind, isIDR: Bool,
        _ stream: inout StreamState
    ) throws -> RatedPicture? {
        stream.pictureNumber = isIDR ? 0 : stream.pictureNumber + 1
        guard let mode = config.rateMode else { return nil }
        let settings = try stream.rate.settings(
            mode, sequence: sequence, maximumFrameBits: stream.maximumFrameBits)
        var rated = RatedPicture(
            settings: settings, kind: kind, layer: stream.rate.layer(ofPicture: stream.pictureNumber, settings),
            samples: 256 * stream.columns * stream.rows,
            levelBits: sequence.levelSizeLimit?.bits(
                isFirst: stream.isFirst, framesPerSecond: settings.stream.framesPerSecond))
        if let skip = picture.skip, skip.skip_frame_flag == 1 {
            rated.skippedPictures = Int(skip.num_skip_frames)
            rated.skippedBits = Int(skip.size_skip_frames)
        }
        return rated
    }

    /// Queues a picture. The first picture starts the thread. The caller must hold the monitor.
    func submit(_ job: Job) throws {
        if thread == nil {
            thread = Thread("vaenc-driver") { [unowned self] in work() }
            guard thread != nil else { throw Refusal.allocation("no thread for context \(id)") }
        }
        for surface in job.surfaces { surface.jobs.append(job) }
        queue.append(job)
        monitor.wakeAll()
    }

    /// Waits until the queued jobs are done and the thread has ended. Call it once, without the monitor.
    func finish() {
        let thread = monitor.withLock {
            isFinishing = true
            monitor.wakeAll()
            defer { self.thread = nil }
            return self.thread
        }
        thread?.join()
    }

    /// Runs the jobs until the context is finished. This is the body of the thread.
    private func work() {
        while let job = nextJob() {
            let shared = monitor.withLock { job.surfaces.flatMap(\.sharedObjects) }
            for object in shared { object.beginAccess() }
            job.task.run()
            for object in shared { object.endAccess() }
            monitor.withLock {
                job.task.finish()
                for surface in job.surfaces { surface.jobs.removeAll { $0 === job } }
                job.isDone = true
                monitor.wakeAll()
            }
        }
    }

    /// Waits for the next job whose dependencies are done. Returns nil if the context is finished and the queue is
    /// empty.
    private func nextJob() -> Job? {
        monitor.withLock {
            while true {
                if let job = queue.first {
                    if job.dependencies.allSatisfy(\.isDone) { return queue.removeFirst() }
                } else if isFinishing {
                    return nil
                }
                _ = monitor.wait()
            }
        }
    }
}
