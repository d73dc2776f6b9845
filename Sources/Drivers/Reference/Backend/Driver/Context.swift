internal import CVA

/// A VA context: one stream. Its pictures are worked on in order, on a thread of its own.
///
/// What is not marked otherwise is guarded by the display's monitor.
final class Context: @unchecked Sendable {
    let id: VAContextID
    let config: Config.Choice
    /// The largest picture in areas of 16×16 samples, H.264's macroblocks.
    let widthInMacroblocks: Int
    let heightInMacroblocks: Int
    let environment: Environment
    private let monitor: Monitor

    /// The picture between vaBeginPicture and vaEndPicture.
    var picture: OpenPicture?
    /// What earlier pictures of the stream said and still holds.
    var stream: StreamState

    /// VAENC_REFERENCE_MODE=null.
    let nullSlices = NullSlices()

    /// Encodes, where the context does that.
    let encoder: EncodeWorker
    /// Decodes, where the context does that; and what it has decoded.
    let decoder: DecodeWorker?
    var decoded = DecodedPictures()

    /// Where the context processes.
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
        encoder = EncodeWorker(codec: config.entry.codec, environment: environment, behavior: behavior, counts: counts)
    }

    /// Throws unless `surface` holds pictures of the context's size, layout and bit depth.
    func checkTakes(_ surface: Surface) throws {
        if config.kind == .process { return }
        guard (surface.width + 15) / 16 >= widthInMacroblocks, (surface.height + 15) / 16 >= heightInMacroblocks else {
            throw Refusal.resolution("a surface of \(surface.width)x\(surface.height) is too small for its context")
        }
        // What is decoded has the bit depth that its parameters say.
        let encoded: SurfaceFormat = config.entry.bitDepth > 8 ? .p010 : .nv12
        guard config.kind == .encode, surface.format != encoded else { return }
        let refusal = Refusal(
            VA_STATUS_ERROR_INVALID_SURFACE,
            "surface \(surface.id) has the format \(surface.format.name), but the context encodes \(encoded.name)")
        guard config.entry.codec.convertsSamples, surface.format.isSemiPlanar else { throw refusal }
        try environment.tolerate(.surfaceFormat, refusal)
    }

    /// What the rate controller must know of a picture; nil at constant QPs.
    func rated(
        _ picture: EncodePicture, _ sequence: SequenceRate, _ kind: RatedPicture.Kind, isIDR: Bool,
        _ stream: inout StreamState
    ) throws -> RatedPicture? {
        stream.pictureNumber = isIDR ? 0 : stream.pictureNumber + 1
        guard let mode = config.rateMode else { return nil }
        let settings = try stream.rate.settings(
            mode, sequence: sequence, maximumFrameBits: stream.maximumFrameBits)
        var rated = RatedPicture(
            settings: settings, kind: kind, layer: stream.rate.layer(ofPicture: stream.pictureNumber, settings),
            samples: 256 * stream.columns * stream.rows)
        if let skip = picture.skip, skip.skip_frame_flag == 1 {
            rated.skippedPictures = Int(skip.num_skip_frames)
            rated.skippedBits = Int(skip.size_skip_frames)
        }
        return rated
    }

    /// With the monitor held: queues a picture, and starts the thread with the first one.
    func submit(_ job: Job) throws {
        if thread == nil {
            thread = Thread { [unowned self] in work() }
            guard thread != nil else { throw Refusal.allocation("no thread for context \(id)") }
        }
        for surface in job.surfaces { surface.jobs.append(job) }
        queue.append(job)
        monitor.wakeAll()
    }

    /// Does what is queued and ends the thread. Not with the monitor held; once only.
    func finish() {
        let thread = monitor.withLock {
            isFinishing = true
            monitor.wakeAll()
            defer { self.thread = nil }
            return self.thread
        }
        thread?.join()
    }

    /// The thread's life.
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

    /// Waits for work; nil when the context is finished and nothing is left.
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
