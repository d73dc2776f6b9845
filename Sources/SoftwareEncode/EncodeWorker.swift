import BitstreamInspection
import RateControl
import Threads
import VideoBase

/// The thread of the software encoder. It takes pictures from a queue and passes packets to the handler.
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

    /// The state that threads wait for.
    struct State {
        var queue: [Job] = []
        var taken = 0
        var delivered = 0
        /// The frames that were taken and will not be delivered, because the session failed or was invalidated.
        var lost: Set<Int64> = []
        var dropped: Int { lost.count }
        /// The frame whose packet is being passed to the handler.
        var leaving: Int64?
        /// The presentation times of the frames that were taken and not delivered, by index.
        var waiting: [Int64: MediaTime] = [:]
        var lastTime: MediaTime?
        /// The rate limits for the next pictures.
        var limits = RateLimits()
        /// Whether the next picture must be a key frame.
        var forcesKey = false
        /// The index of the latest frame that was requested as a key frame; 0 if there is none.
        var latestKey = 0
        /// The remaining times of the configuration at which a key frame is due, in seconds.
        var keyTimesLeft: ArraySlice<Double> = []
        /// Whether all pictures that were taken must be delivered now.
        var drains = false
        var error: (any Error)?
        var isInvalid = false
        var isRunning = false
        var thread: ThreadIdentity?
        /// The limits that pictures exceeded, and the number of pictures that exceeded the buffer or a data rate limit.
        var broken = LimitViolations()
        var tooLarge = 0

        /// Drops all frames except the one whose packet the handler has.
        mutating func dropFrames() {
            queue = []
            lost.formUnion(waiting.keys.filter { $0 != leaving })
            waiting = waiting.filter { $0.key == leaving }
        }
    }

    let monitor = Monitor(State())
    private let settings: EncoderSettings
    private let headers: StreamHeaders
    private let handler: PacketHandler

    init(_ settings: EncoderSettings, headers: StreamHeaders, handler: @escaping PacketHandler) {
        self.settings = settings
        self.headers = headers
        self.handler = handler
        monitor.withLock {
            $0.limits = settings.limits
            $0.keyTimesLeft = settings.configuration.structure.forcedKeyTimes.map(\.seconds).sorted()[...]
        }
    }

    /// Starts the thread with an encoder that is already open.
    func start(_ first: sending CodecContext) throws {
        monitor.withLock { $0.isRunning = true }
        let handover = Monitor(Optional(first))
        let started = DedicatedThread.start("vaenc-software") {
            self.monitor.withLock { $0.thread = .current }
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

    /// Stops the thread. Waits until it has ended, except if called from the handler on this thread. No packet is
    /// delivered afterwards.
    func stop() {
        monitor.withLock { state in
            state.isInvalid = true
            state.dropFrames()
        }
        monitor.wait { state -> Void? in
            state.isRunning && state.thread != .current ? nil : ()
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
        var compliance = SoftwareRateCompliance(settings, headers)
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
                        try deliver(from: encoder, &history, &compliance)
                    }
                    if limits != job.limits {
                        compliance.change(job.limits, pending: monitor.withLock { $0.waiting.count })
                        limits = job.limits
                    }
                    let encoder = try context ?? CodecContext(settings.with(limits))
                    context = encoder
                    history.append(
                        job,
                        encoder.unwritten(
                            captions: job.captions, userData: job.userData, dynamicHDR: job.dynamicHDR))
                    job.buffer.memory.padToEven()
                    encoder.change(settings.libraryLimits(job.limits))
                    try encoder.send(
                        job.buffer, index: job.index, forceKey: job.forceKey, regions: job.regions,
                        captions: job.captions, userData: job.userData)
                    try deliver(from: encoder, &history, &compliance)
                case .drain:
                    if let encoder = context, monitor.withLock({ $0.delivered < $0.taken }) {
                        // A drained encoder has ended. The next picture begins a new stream with a key frame.
                        context = nil
                        try encoder.sendEnd()
                        try deliver(from: encoder, &history, &compliance)
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
                state.dropFrames()
                return true
            }
            if isFirst { handler(.failure(error)) }
        }
    }

    private func deliver(
        from encoder: CodecContext, _ history: inout TimeHistory, _ compliance: inout SoftwareRateCompliance
    ) throws {
        while let output = try encoder.receive() {
            guard var packet = history.packet(output, headers: headers, codec: settings.codec) else {
                throw VaencError(.internalFault, "the software encoder returned a packet of an unknown picture")
            }
            let isOver = monitor.withLock { state in
                if !state.isInvalid { state.leaving = output.presentationIndex }
                return state.isInvalid
            }
            if isOver { return }
            let broken = compliance.add(&packet)
            monitor.withLock { state in
                (state.broken, state.tooLarge) = (compliance.limits.broken, compliance.limits.tooLarge)
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

/// The times of the pictures in the encoder, by index, and the state that continues across the library's streams.
private struct TimeHistory {
    private var entries: [Int64: (timing: FrameTiming, start: Int64, messages: PictureMessages)] = [:]
    private var first: (index: Int64, time: MediaTime)?
    private var codingIndex = 0
    private var oldest: Int64 = 0
    private let frameRate: Rational
    private let keyMessages: PictureMessages
    private let delimits: Bool
    /// The number of pictures in a pass of the intra refresh, if the library does not write recovery points; nil
    /// otherwise.
    private let refreshLength: Int?
    private var idrNumbers: IDRNumbers?
    /// The maximum difference between decoding order and display order, in pictures.
    private let depth: Int64
    private let hasConstantQP: Bool
    /// Reads the QP of a picture from libx264's stream, because libavcodec reports that of another picture.
    private let slices: SliceQPs?

    init(_ settings: EncoderSettings, _ headers: StreamHeaders) {
        let configuration = settings.configuration
        switch settings.codec {
        case .h264: idrNumbers = IDRNumbers(parameterSets: headers.parameterSets)
        // IDR pictures have no idr_pic_id.
        case .hevc: idrNumbers = nil
        }
        hasConstantQP = settings.mode == .cqp
        switch settings.codec {
        case .h264: slices = hasConstantQP ? SliceQPs(parameterSets: headers.parameterSets) : nil
        case .hevc: slices = nil
        }
        depth = Int64(settings.reorderDepth)
        frameRate = configuration.frameRate.reduced
        delimits = configuration.headers.accessUnitDelimiters
        keyMessages = PictureMessages(keyFramesOf: configuration)
        switch settings.library {
        case .x264: refreshLength = nil
        case .x265: refreshLength = configuration.structure.intraRefresh ? settings.number("keyint") : nil
        }
    }

    mutating func append(_ job: EncodeWorker.Job, _ messages: PictureMessages) {
        if first == nil { first = (job.index, job.timing.presentation) }
        entries[job.index] = (job.timing, job.start, messages)
    }

    /// Returns the packet as the session delivers it; nil for an unknown picture.
    mutating func packet(_ output: CodecContext.Output, headers: StreamHeaders, codec: VideoCodec) -> EncodedPacket? {
        guard let entry = entries[output.presentationIndex] else { return nil }
        let decodeIndex = self.decodeIndex(output)
        let decode = decodeTime(decodeIndex)
        // Decoding times never decrease, so older entries are not needed any more.
        while oldest < decodeIndex - 1 {
            entries[oldest] = nil
            oldest += 1
        }
        defer { codingIndex += 1 }
        let refresh = output.isKey ? nil : refreshLength.flatMap { headers.areRepeated(in: output.bytes, codec) ? $0 : nil }
        let own = headers.arranged(output.bytes, isKey: output.isKey, isRefresh: refresh != nil, codec: codec, delimits: delimits)
        let arranged = idrNumbers?.renumbered(own, isIDR: output.kind.isIDR) ?? own
        var messages = output.isKey ? keyMessages + entry.messages : entry.messages
        if let refresh { messages = PictureMessages(refreshOf: refresh) + messages }
        var packet = EncodedPacket(
            codec: codec, bytes: messages.inserted(into: arranged, codec: codec), type: output.type,
            presentation: entry.timing.presentation, decode: decode, duration: entry.timing.duration,
            displayIndex: Int(output.presentationIndex), codingIndex: codingIndex, qp: qp(output, codec),
            latency: .nanoseconds(MonotonicClock.nanoseconds - entry.start))
        packet.isReference = !output.kind.isDisposable
        packet.isRandomAccess = output.kind.isIDR || (output.isKey && output.kind.recovery == 0)
        packet.recoveryFrameCount = output.kind.isIDR ? nil : output.kind.recovery ?? refresh
        return packet
    }

    /// Returns the QP of a picture if it is constant, and not the library's choice.
    private func qp(_ output: CodecContext.Output, _ codec: VideoCodec) -> Int? {
        guard hasConstantQP else { return nil }
        return switch codec {
        case .h264: output.kind.firstSlice.flatMap { slices?.qp(of: output.bytes[$0]) }
        case .hevc: output.qp
        }
    }

    /// Returns the index of the frame at whose time the next picture is decoded: the coding index minus the reordering
    /// depth. The library's own decoding times are not used: x265 does not report them if there are only one or two
    /// pictures, and after a drain it begins again with times before those that were already used.
    private func decodeIndex(_ output: CodecContext.Output) -> Int64 {
        min(Int64(codingIndex) - depth, output.presentationIndex)
    }

    /// Returns the decoding time: the presentation time of the picture with this index. Before the first picture, times
    /// are extrapolated at the frame rate.
    private func decodeTime(_ index: Int64) -> MediaTime {
        if let known = entries[index] { return known.timing.presentation }
        guard let first else { return .zero }
        return first.time.earlier(byPictures: first.index - index, of: frameRate)
    }
}
