internal import CVA

/// A VA context: one stream. Its pictures are encoded in order on a thread of its own.
///
/// What is not marked otherwise is guarded by the display's monitor.
final class Context: @unchecked Sendable {
    let id: VAContextID
    let config: Config.Choice
    /// The picture in areas of 16×16 samples, H.264's macroblocks.
    let widthInMacroblocks: Int
    let heightInMacroblocks: Int
    let environment: Environment
    private let manners: DriverManners
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
    private var encoder: CodecEncoder?
    private var controller: RateController?
    private var recording: ReconstructionFile?
    private var isRecordingOpened = false

    init(
        id: VAContextID, config: Config.Choice, width: Int, height: Int, environment: Environment,
        manners: DriverManners, monitor: Monitor
    ) {
        self.manners = manners
        self.id = id
        self.config = config
        widthInMacroblocks = (width + 15) / 16
        heightInMacroblocks = (height + 15) / 16
        self.environment = environment
        self.monitor = monitor
    }

    /// What rolling intra refresh counts in: luma samples of a side of a block.
    var refreshBlock: Int { stream.refreshBlock }

    /// Throws unless `surface` holds pictures of the context's size and bit depth.
    func checkTakes(_ surface: Surface) throws {
        guard (surface.width + 15) / 16 >= widthInMacroblocks, (surface.height + 15) / 16 >= heightInMacroblocks else {
            throw Refusal.resolution("a surface of \(surface.width)x\(surface.height) is too small for its context")
        }
        guard surface.isWide == (config.entry.bitDepth > 8) else {
            throw Refusal(
                VA_STATUS_ERROR_INVALID_SURFACE,
                "surface \(surface.id) is not of the \(config.entry.bitDepth) bits that the context encodes")
        }
    }

    /// What the rate controller must know of a picture; nil at constant QPs.
    func rated(
        _ picture: OpenPicture, _ sequence: SequenceRate, _ kind: RatedPicture.Kind, isIDR: Bool,
        _ stream: inout StreamState
    ) throws -> RatedPicture? {
        stream.pictureNumber = isIDR ? 0 : stream.pictureNumber + 1
        guard let mode = config.rateMode else { return nil }
        let settings = try stream.rate.settings(
            mode, sequence: sequence, maximumFrameBits: stream.maximumFrameBits)
        var rated = RatedPicture(
            settings: settings, kind: kind, layer: stream.rate.layer(ofPicture: stream.pictureNumber, settings),
            samples: 256 * widthInMacroblocks * heightInMacroblocks)
        if let skip = picture.skip, skip.skip_frame_flag == 1 {
            rated.skippedPictures = Int(skip.num_skip_frames)
            rated.skippedBits = Int(skip.size_skip_frames)
        }
        return rated
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
            let coded = encode(job.picture, room: job.coded.memory.byteCount)
            if !job.picture.isSkipped { record(job.picture, coded) }
            monitor.withLock {
                job.coded.write(
                    coded.units, headers: job.picture.leading.count, averageQP: coded.averageQP,
                    maximumFrameBits: job.picture.maximumFrameBits, flags: coded.flags, manners: manners)
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

    /// A picture in the stream.
    private struct CodedPicture {
        /// NAL units with their start codes.
        var units: [[UInt8]]
        var averageQP: Int
        /// VA_CODED_BUF_STATUS_… flags.
        var flags: UInt32 = 0

        var byteCount: Int { units.reduce(0) { $0 + $1.count } }
    }

    private func encode(_ planned: PlannedPicture, room: Int) -> CodedPicture {
        var picture = planned
        if picture.isSkipped {
            return CodedPicture(units: picture.leading + picture.trailing, averageQP: picture.initialQP)
        }
        let known = encoder.flatMap { $0.takes(picture.encode) ? $0 : nil }
        let encoder = known ?? CodecEncoder(picture.encode)
        self.encoder = encoder
        func encodeOnce(qp: Int?) -> (CodedPicture, EncodedSlices) {
            let slices = encoder.encode(picture.encode, picture.orders(qp: qp, columns: widthInMacroblocks))
            return (self.coded(picture, slices), slices)
        }
        guard let rated = picture.rate else { return encodeOnce(qp: nil).0 }
        if picture.adaptsMacroblocks {
            picture.activity = MacroblockActivity.deltas(
                picture.encode.sourceLuma, columns: widthInMacroblocks, rows: heightInMacroblocks)
        }
        var controller = self.controller ?? RateController(rated)
        var qp = controller.begin(rated)
        var (coded, slices) = encodeOnce(qp: qp)
        while let next = controller.retry(bits: 8 * coded.byteCount, qp: qp) {
            qp = next
            (coded, slices) = encodeOnce(qp: qp)
        }
        let bytes = coded.byteCount
        if controller.overruns(bits: 8 * bytes) { coded.flags |= UInt32(VA_CODED_BUF_STATUS_BITRATE_OVERFLOW) }
        var filler = controller.fillerBytes(bits: 8 * bytes)
        if filler > 0 {
            // What has no room is not sent, and the buffer of a decoder overflows.
            let unit = FillerUnit(config.entry.codec)
            let bytes = unit.bytes(min(filler, max(room - bytes, unit.leastBytes)))
            filler = bytes.count
            coded.units.insert(bytes, at: coded.units.count - picture.trailing.count)
        }
        controller.end(
            bits: 8 * bytes, filler: 8 * filler, qp: qp,
            intraShare: slices.intraShare)
        self.controller = controller
        return coded
    }

    private func coded(_ picture: PlannedPicture, _ slices: EncodedSlices) -> CodedPicture {
        let limit = picture.maximumSliceBytes > 0 ? picture.maximumSliceBytes : .max
        return CodedPicture(
            units: picture.leading + slices.units + picture.trailing, averageQP: slices.averageQP,
            flags: slices.units.contains { $0.count > limit } ? UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK) : 0)
    }

    private func record(_ picture: PlannedPicture, _ coded: CodedPicture) {
        guard let path = environment.reconstructionPath else { return }
        if !isRecordingOpened {
            isRecordingOpened = true
            recording = ReconstructionFile(path: path)
        }
        recording?.append(
            picture.encode.reconstruction, picture.record, qp: coded.averageQP, codedBytes: coded.byteCount)
    }
}
