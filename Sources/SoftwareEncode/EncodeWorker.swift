import Glibc
import RateControl
import VideoBase

/// The software encoder's thread: takes pictures from a queue, and gives packets to the handler.
final class EncodeWorker: Sendable {
    struct Job: Sendable {
        var buffer: SoftwarePixelBuffer
        var timing: FrameTiming
        var forceKey: Bool
        var regions: [RegionOfInterest]
        var captions: [UInt8]
        var userData: [[UInt8]]
        var dynamicHDR: [UInt8]
        var limits: RateLimits
        var index: Int64
        var start: Int64
    }

    /// What threads wait on.
    struct State {
        var queue: [Job] = []
        var taken = 0
        var delivered = 0
        /// Taken, and never to be delivered: the session failed or was invalidated before.
        var lost: Set<Int64> = []
        var dropped: Int { lost.count }
        /// The frame whose packet the handler has.
        var leaving: Int64?
        /// Presentation times of the frames taken and not delivered.
        var waiting: [Int64: MediaTime] = [:]
        var lastTime: MediaTime?
        /// What the next pictures are to be coded with.
        var limits = RateLimits()
        /// The next picture is to be a key frame.
        var forcesKey = false
        /// Times at which a key frame is due, of those asked for in the configuration.
        var keyTimesLeft: ArraySlice<Double> = []
        /// All that was taken is to be given out.
        var drains = false
        var error: (any Error)?
        var isInvalid = false
        var isRunning = false
        var thread: pthread_t?
        /// Limits that pictures broke, and pictures that broke the buffer or a data-rate limit.
        var broken = LimitViolations()
        var tooLarge = 0

        /// Nothing more comes out but the packet that the handler has.
        mutating func giveUp() {
            queue = []
            lost.formUnion(waiting.keys.filter { $0 != leaving })
            waiting = waiting.filter { $0.key == leaving }
        }
    }

    let monitor = Monitor(State())
    private let settings: EncoderSettings
    private let headers: StreamHeaders
    private let handler: PacketHandler

    init(_ settings: EncoderSettings, _ headers: StreamHeaders, _ handler: @escaping PacketHandler) {
        self.settings = settings
        self.headers = headers
        self.handler = handler
        monitor.withLock {
            $0.limits = settings.limits
            $0.keyTimesLeft = settings.configuration.forcedKeyTimes.sorted()[...]
        }
    }

    /// Starts the thread with an encoder that was opened already.
    func start(_ first: sending CodecContext) throws {
        monitor.withLock { $0.isRunning = true }
        let handover = Monitor(Optional(first))
        let started = OwnThread.start {
            self.monitor.withLock { $0.thread = pthread_self() }
            self.run(handover.withLock { $0.take() })
            self.monitor.withLock {
                $0.isRunning = false; $0.queue = []
            }
        }
        if !started {
            monitor.withLock { $0.isRunning = false }
            throw VaencError.noThread("for \(settings.encoderName)")
        }
    }

    /// Ends the thread, and waits for that unless called from the handler, on it. Nothing is delivered afterwards.
    func stop() {
        monitor.withLock { state in
            state.isInvalid = true
            state.giveUp()
        }
        monitor.wait { state -> Void? in
            let isOwn = state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
            return state.isRunning && !isOwn ? nil : ()
        }
    }

    private enum Work {
        case picture(Job)
        case drain
        case stop
    }

    private func run(_ first: CodecContext?) {
        var context = first
        var limits = settings.limits
        var history = TimeHistory(settings, headers)
        var books = SoftwareRateCompliance(settings, headers)
        do {
            while true {
                let work: Work = monitor.wait { state in
                    if state.isInvalid { return .stop }
                    if !state.queue.isEmpty { return .picture(state.queue.removeFirst()) }
                    return state.drains ? .drain : nil
                }
                switch work {
                case .stop: return
                case .picture(let job):
                    if let encoder = context, settings.needsNewStream(limits, job.limits) {
                        context = nil
                        try encoder.sendEnd()
                        try deliver(from: encoder, &history, &books)
                    }
                    if limits != job.limits {
                        books.change(job.limits, pending: monitor.withLock { $0.waiting.count })
                        limits = job.limits
                    }
                    let encoder = try context ?? CodecContext(settings.with(limits))
                    context = encoder
                    history.append(
                        job,
                        encoder.unwritten(
                            captions: job.captions, userData: job.userData, dynamicHDR: job.dynamicHDR))
                    job.buffer.memory.padToEven()
                    encoder.change(settings.given(job.limits))
                    try encoder.send(
                        job.buffer, index: job.index, forceKey: job.forceKey, regions: job.regions,
                        captions: job.captions, userData: job.userData)
                    try deliver(from: encoder, &history, &books)
                case .drain:
                    if let encoder = context, monitor.withLock({ $0.delivered < $0.taken }) {
                        // An encoder that was drained has ended: the next picture starts a new one, with a key frame.
                        context = nil
                        try encoder.sendEnd()
                        try deliver(from: encoder, &history, &books)
                    }
                    monitor.withLock { state in
                        if state.queue.isEmpty { state.drains = false }
                    }
                }
            }
        } catch {
            let isFirst = monitor.withLock { state in
                if state.isInvalid { return false }
                state.error = error
                state.giveUp()
                return true
            }
            if isFirst { handler(.failure(error)) }
        }
    }

    private func deliver(from encoder: CodecContext, _ history: inout TimeHistory, _ books: inout SoftwareRateCompliance) throws {
        while let output = try encoder.receive() {
            guard var packet = history.packet(output, headers, settings.codec) else {
                throw VaencError(.internalFault, "the software encoder gave a packet of an unknown picture")
            }
            let isOver = monitor.withLock { state in
                if !state.isInvalid { state.leaving = output.presentationIndex }
                return state.isInvalid
            }
            if isOver { return }
            let broken = books.add(&packet)
            monitor.withLock { state in
                (state.broken, state.tooLarge) = (books.limits.broken, books.limits.tooLarge)
                if broken != nil, settings.configuration.strict { state.leaving = nil }
            }
            if settings.configuration.strict, let broken { throw broken.error(frame: packet.displayIndex) }
            handler(.success(packet))
            monitor.withLock { state in
                state.delivered += 1
                state.leaving = nil
                state.waiting[output.presentationIndex] = nil
            }
        }
    }
}

/// The times of the pictures in the encoder, by their number, and what its streams do not know of each other.
private struct TimeHistory {
    private var entries: [Int64: (timing: FrameTiming, start: Int64, messages: PictureMessages)] = [:]
    private var first: (index: Int64, time: MediaTime)?
    private var codingIndex = 0
    private var oldest: Int64 = 0
    private let frameRate: Rational
    private let keyMessages: PictureMessages
    private let delimits: Bool
    private var idrNumbers: IDRNumbers?
    /// Pictures by which decoding order and display order differ at most.
    private let depth: Int64

    init(_ settings: EncoderSettings, _ headers: StreamHeaders) {
        let configuration = settings.configuration
        switch settings.codec {
        case .h264: idrNumbers = IDRNumbers(parameterSets: headers.parameterSets)
        // IDR pictures have no idr_pic_id.
        case .hevc: idrNumbers = nil
        }
        depth = Int64(settings.reorderDepth)
        frameRate = configuration.frameRate.reduced
        delimits = configuration.accessUnitDelimiters
        keyMessages = PictureMessages(keyFramesOf: configuration)
    }

    mutating func append(_ job: EncodeWorker.Job, _ messages: PictureMessages) {
        if first == nil { first = (job.index, job.timing.presentation) }
        entries[job.index] = (job.timing, job.start, messages)
    }

    /// The packet as the session gives it out; nil for a picture that was never put in.
    mutating func packet(_ output: CodecContext.Output, _ headers: StreamHeaders, _ codec: VideoCodec) -> EncodedPacket?
    {
        guard let entry = entries[output.presentationIndex] else { return nil }
        let decodeIndex = self.decodeIndex(output)
        let decode = decodeTime(decodeIndex)
        // Decoding times never go back: what is older is not asked for again.
        while oldest < decodeIndex - 1 {
            entries[oldest] = nil
            oldest += 1
        }
        defer { codingIndex += 1 }
        let own = headers.arranged(output.bytes, isKey: output.isKey, codec: codec, delimits: delimits)
        let arranged = idrNumbers?.renumbered(own, isIDR: output.kind.isIDR) ?? own
        let messages = output.isKey ? keyMessages + entry.messages : entry.messages
        var packet = EncodedPacket(
            codec: codec, bytes: messages.inserted(into: arranged, codec: codec), type: output.type,
            presentation: entry.timing.presentation, decode: decode, duration: entry.timing.duration,
            displayIndex: Int(output.presentationIndex), codingIndex: codingIndex, qp: output.qp,
            latencyNanoseconds: monotonicNanoseconds() - entry.start)
        packet.isReference = !output.kind.isDisposable
        packet.isRandomAccess = output.kind.isIDR || (output.isKey && output.kind.recovery == 0)
        packet.recoveryFrameCount = output.kind.isIDR ? nil : output.kind.recovery
        return packet
    }

    /// The number of the frame at whose time the next picture is decoded: as many before the picture's own place in coding
    /// order as the library reorders. The library says it too, but x265 does not where only one picture comes or two, and
    /// after a drain it begins anew, behind what was decoded before.
    private func decodeIndex(_ output: CodecContext.Output) -> Int64 {
        min(Int64(codingIndex) - depth, output.presentationIndex)
    }

    /// The encoder's decoding time is the number of a picture: that picture's time. Before the first picture, time
    /// runs on backwards at the frame rate.
    private func decodeTime(_ index: Int64) -> MediaTime {
        if let known = entries[index] { return known.timing.presentation }
        guard let first else { return .zero }
        return first.time.earlier(byPictures: first.index - index, of: frameRate)
    }
}
