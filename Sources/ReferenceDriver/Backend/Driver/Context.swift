internal import CVA

/// A VA context: one stream. Its pictures are encoded in order on a thread of its own.
///
/// What is not marked otherwise is guarded by the display's monitor.
final class Context: @unchecked Sendable {
    let id: VAContextID
    let config: Config.Choice
    let widthInMacroblocks: Int
    let heightInMacroblocks: Int
    let environment: Environment
    private let monitor: Monitor

    /// The picture between vaBeginPicture and vaEndPicture.
    var picture: OpenPicture?
    /// What earlier pictures of the stream said and still holds.
    var stream = StreamState()

    /// VAENC_REFERENCE_MODE=null.
    let nullSlices = NullSlices()

    private var queue: [EncodeJob] = []
    private var isFinishing = false
    private var thread: Thread?
    /// Used on the context's thread only.
    private var encoder: PictureEncoder?
    private var recording: ReconstructionFile?
    private var isRecordingOpened = false

    init(id: VAContextID, config: Config.Choice, width: Int, height: Int, environment: Environment, monitor: Monitor) {
        self.id = id
        self.config = config
        widthInMacroblocks = (width + 15) / 16
        heightInMacroblocks = (height + 15) / 16
        self.environment = environment
        self.monitor = monitor
    }

    /// Where a picture for `surface` goes: the picture that is there, if it has this context's size, or a new one.
    func reconstruction(for surface: Surface) -> ReconstructedPicture {
        if let picture = surface.reconstruction, picture.widthInMacroblocks == widthInMacroblocks,
            picture.heightInMacroblocks == heightInMacroblocks
        {
            return picture
        }
        return ReconstructedPicture(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
    }

    /// With the monitor held: queues a picture, and starts the thread with the first one.
    func submit(_ job: EncodeJob) throws {
        if thread == nil {
            thread = Thread { [unowned self] in work() }
            guard thread != nil else { throw Refusal.allocation("no thread for context \(id)") }
        }
        for surface in job.surfaces { surface.jobs.append(job) }
        job.coded.job = job
        queue.append(job)
        monitor.wakeAll()
    }

    /// Encodes what is queued and ends the thread. Not with the monitor held; once only.
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
            let result = encode(job.picture)
            let units = job.picture.leading + result.slices + job.picture.trailing
            record(job.picture, codedBytes: units.reduce(0) { $0 + $1.count })
            monitor.withLock {
                job.coded.write(
                    units, averageQP: job.picture.averageQP, maximumFrameBits: job.picture.maximumFrameBits)
                job.coded.job = nil
                for surface in job.surfaces { surface.jobs.removeAll { $0 === job } }
                job.isDone = true
                monitor.wakeAll()
            }
        }
    }

    /// Waits for work; nil when the context is finished and nothing is left.
    private func nextJob() -> EncodeJob? {
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

    private func encode(_ picture: PlannedPicture) -> PictureResult {
        let encoder =
            self.encoder
            ?? PictureEncoder(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
        self.encoder = encoder
        return encoder.encode(picture.encode)
    }

    private func record(_ picture: PlannedPicture, codedBytes: Int) {
        guard let path = environment.reconstructionPath else { return }
        if !isRecordingOpened {
            isRecordingOpened = true
            recording = ReconstructionFile(path: path)
        }
        recording?.append(picture.encode.reconstruction, picture.record, codedBytes: codedBytes)
    }
}
