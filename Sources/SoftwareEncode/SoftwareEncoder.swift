import LibAV
import Synchronization
import Threads
package import VideoBase

/// An encoder that uses libx264 or libx265 through libavcodec.
///
/// The buffers are NV12 for H.264 and I420 for HEVC (10-bit I420 for Main 10). The library reads them without a copy.
/// The presets 1 to 7 are the libraries' veryslow, slower, slow, medium, fast, veryfast and ultrafast. Only the
/// configuration determines the positions of key frames; scene cuts add none. Completing frames ends the library's
/// stream, so the next picture is a key frame.
package final class SoftwareEncoder: VideoEncoder {
    /// Returns the reason why `codec` cannot be encoded in software (a library or encoder is missing); nil if it can
    /// be.
    package static func unavailability(of codec: VideoCodec) -> VaencError? {
        do throws(VaencError) {
            _ = unsafe try CodecContext.find(codec.softwareLibrary.rawValue)
            return nil
        } catch {
            return error
        }
    }

    /// The libraries' maximum rate in bits per second, and their maximum buffer size in bits.
    package static let highestRate = 2_000_000_000

    /// Returns the maximum number of reference pictures that a library supports if no picture is reordered.
    package static func maxReferences(_ codec: VideoCodec) -> Int { codec.softwareLibrary.maxReferences }

    /// Returns the levels of a codec in tenths, in rising order; 9 is H.264's level 1b.
    package static func levels(_ codec: VideoCodec) -> [Int] { SoftwareLevel.numbers(codec).sorted() }

    /// Returns the maximum number of slices in a picture for a configuration. Without a size, a common one is used.
    package static func maxSlices(_ configuration: EncoderConfiguration) -> Int {
        EncoderSettings.maxSlices(configuration)
    }

    /// Returns whether the rate can change while a session with this configuration runs. This is possible in H.264
    /// without HRD parameters, which libx264 writes for one rate only.
    package static func changesRate(_ configuration: EncoderConfiguration) -> Bool {
        let writesHRD = configuration.headers.hrdParameters ?? (configuration.rate.rateControl == .cbr)
        return configuration.encodedCodec.softwareLibrary.changesRate && !writesHRD
    }

    private struct Prepared {
        var description: EncoderDescription
        var worker: EncodeWorker
    }

    private let settings: EncoderSettings
    private let handler: PacketHandler
    private let pool: FramePool
    private let prepared = Mutex<Prepared?>(nil)

    /// Creates an encoder. The library is opened later, in `prepare`.
    ///
    /// - Throws: `usage` for values out of range; `unavailable` if libavcodec or the encoder is missing, if the library
    ///   does not support a setting, and for a difference that `strict` rejects.
    package init(configuration: EncoderConfiguration, onPacket: @escaping PacketHandler) throws {
        settings = try EncoderSettings(configuration)
        if let missing = Self.unavailability(of: configuration.encodedCodec) { throw missing }
        handler = onPacket
        pool = FramePool(
            format: settings.bufferFormat, size: configuration.size, limit: settings.queueDepth + 2)
    }

    deinit { invalidate() }

    /// The stream that the encoder produces.
    ///
    /// - Throws: `internalFault` if the encoder is not prepared.
    package var encoderDescription: EncoderDescription {
        get throws {
            guard let description = prepared.withLock({ $0?.description }) else {
                throw VaencError(.internalFault, "the encoder is not prepared")
            }
            return description
        }
    }

    /// Allocates the buffers, opens the library and starts the encoder's thread. Idempotent. Blocks.
    ///
    /// - Throws: `unavailable` if there is not enough memory or no thread, or if the library does not support the
    ///   settings; `deviceFailed` if the library returns no parameter sets.
    package func prepare() throws {
        try prepared.withLock { prepared in
            if prepared != nil { return }
            // Allocate the buffers before the library is opened, because opening checks that the remaining memory is
            // enough.
            try pool.fill()
            let context = try CodecContext(settings)
            guard
                var headers = StreamHeaders(
                    context.headers, codec: settings.codec, encoderName: settings.encoderName)
            else { throw VaencError(.deviceFailed, "\(settings.encoderName) wrote no parameter sets") }
            headers.adoptHRD(settings)
            let description = try describe(headers)
            let worker = EncodeWorker(settings, headers: headers, handler: handler)
            try worker.start(context)
            prepared = Prepared(description: description, worker: worker)
        }
    }

    private func describe(_ headers: StreamHeaders) throws -> EncoderDescription {
        var entries = settings.effective
        let c = settings.configuration
        let chosen: SettingReason = headers.profile.bitDepth > 8 ? "the samples have 10 bits" : .standard
        let kept: SettingReason = c.profile == headers.profile ? .requested : "\(settings.encoderName) chose it"
        entries.append(
            EffectiveEntry(
                option: "profile", asked: c.profile?.shortName, used: headers.profile.shortName,
                why: c.profile == nil ? chosen : kept))
        let asked = c.level.map(\.description)
        let otherLevel: SettingReason =
            settings.takesLevel
            ? "needed by \(settings.codedSize) at \(c.frameRate), the bit rate or the buffer"
            : "libx265 accepts no level with a constant QP"
        // general_level_idc 255 (H.265 Annex A).
        let noLimits: SettingReason? =
            headers.level.tenths == 85
            ? "size, rate and buffer exceed every level: in H.265, level 8.5 means no limits" : nil
        entries.append(
            EffectiveEntry(
                option: "level", asked: asked, used: headers.level.description,
                why: noLimits
                    ?? (asked == nil ? "from the size and rate" : asked == headers.level.description ? .requested : otherLevel)))
        if let tier = headers.tier {
            entries.append(
                EffectiveEntry(
                    option: "tier", asked: c.tier?.name, used: tier.name,
                    why: c.tier == nil
                        ? "from the rate and buffer"
                        : c.tier == tier ? .requested : "\(settings.encoderName) chose it"))
        }
        if c.headers.hrdParameters == true, settings.writesHRD, headers.hrd == nil {
            entries.change(
                "hrdParameters", asked: "on", used: "off",
                why: "\(settings.encoderName) wrote no usable HRD parameters")
        }
        if c.strict, let error = entries.strictError { throw error }
        return EncoderDescription(
            kind: .software, path: nil, driver: headers.library, codec: settings.codec, profile: headers.profile,
            level: headers.level, tier: headers.tier, size: settings.codedSize,
            frameRate: c.frameRate, effective: entries,
            parameterSets: headers.parameterSets)
    }

    private func worker() throws -> EncodeWorker {
        try prepare()
        guard let worker = prepared.withLock({ $0?.worker }) else { throw Self.invalid }
        return worker
    }

    private static let invalid = VaencError(.usage, "the session was invalidated", remedy: "create a new session")

    /// Returns a buffer to draw a frame into. Blocks while all buffers are in use. Prepares the encoder if necessary.
    ///
    /// - Throws: What `prepare` throws; `usage` after `invalidate`; the error that ended the encoder.
    package func makePixelBuffer() throws -> any PixelBuffer {
        let worker = try worker()
        guard let buffer = try pool.take() else { throw worker.monitor.withLock { $0.error } ?? Self.invalid }
        return buffer
    }

    /// Takes a frame. Blocks while the queue is full; with `lowLatency`, until the frame's packet is delivered. A
    /// buffer that is not from `makePixelBuffer` is copied, and converted if necessary.
    ///
    /// - Throws: What `prepare` throws; `usage` for an invalid frame, time or option, and after `invalidate`; the error
    ///   that ended the encoder.
    package func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        let start = MonotonicClock.nanoseconds
        let worker = try worker()
        try options.check(settings.configuration.size)
        let own = try ownBuffer(buffer)
        let depth = settings.queueDepth
        let index = try worker.monitor.wait { state -> Int64? in
            try Self.check(state)
            if let last = state.lastTime, timing.presentation <= last {
                throw VaencError(
                    .usage,
                    "presentation times must increase, but \(timing.presentation.seconds) s follows \(last.seconds) s",
                    remedy: "encode frames in presentation order")
            }
            // Completing has priority: frames that are passed in meanwhile belong to the next stream.
            if state.queue.count >= depth || state.drains { return nil }
            try own.take()
            let index = state.taken
            var forced = options.forceKeyFrame || settings.isAllIntra || settings.configuration.structure.forcedKeyFrames.contains(index)
            // The library keeps no long-term references. Only a key frame does not depend on pictures that may be lost.
            forced = forced || state.forcesKey || options.refreshFromLongTerm
            state.forcesKey = false
            while let due = state.keyTimesLeft.first, timing.presentation.seconds >= due - 1e-9 {
                forced = true
                state.keyTimesLeft.removeFirst()
            }
            let regions = options.regionsOfInterest ?? settings.configuration.coding.regionsOfInterest
            state.queue.append(
                EncodeWorker.Job(
                    buffer: own, timing: timing, forceKey: forced, regions: settings.takesRegions ? regions : [],
                    captions: options.captions, userData: options.userData, dynamicHDR: options.dynamicHDR,
                    limits: state.limits, index: Int64(index), start: start))
            if forced { state.latestKey = index }
            state.taken += 1
            state.waiting[Int64(index)] = timing.presentation
            state.lastTime = timing.presentation
            return Int64(index)
        }
        if settings.configuration.pipeline.lowLatency {
            // The packet is delivered before the next picture is requested. A packet that the handler already has is
            // delivered whatever happens to the session.
            try worker.monitor.wait { state -> Void? in
                if state.lost.contains(index) { try Self.check(state) }
                return state.waiting[index] == nil ? () : nil
            }
        }
    }

    private static func check(_ state: EncodeWorker.State) throws {
        if let error = state.error { throw error }
        if state.isInvalid || !state.isRunning { throw invalid }
    }

    /// Returns the buffer itself if it belongs to this session's pool, else a converted copy.
    private func ownBuffer(_ buffer: any PixelBuffer) throws -> SoftwarePixelBuffer {
        if let own = buffer as? SoftwarePixelBuffer, own.belongs(to: pool) { return own }
        guard buffer.size == settings.configuration.size else {
            throw VaencError(
                .usage, "the frame's size is \(buffer.size), but the encoder expects \(settings.configuration.size)",
                remedy: "use a buffer that makePixelBuffer returns")
        }
        if settings.configuration.strict {
            try Validation.validate(frameDepth: buffer.format.bitDepth, codedDepth: settings.bufferFormat.bitDepth)
        }
        guard let copy = try pool.take() else { throw Self.invalid }
        if buffer.format == copy.format {
            // SAFETY: both buffers have the session's size and the rows of its format.
            try unsafe buffer.withUnsafePlanes {
                try unsafe $0.check(of: buffer)
                unsafe copy.memory.copyRows(of: $0)
            }
            return copy
        }
        let scaler = try Scaler()
        // SAFETY: both sets of planes are valid during the closures.
        unsafe try buffer.withUnsafePlanes { from in
            try unsafe from.check(of: buffer)
            unsafe try scaler.scale(
                PictureView(from), to: PictureView(copy.memory.planes), color: settings.configuration.display.color)
        }
        return copy
    }

    /// Blocks until the packets of all frames with a presentation time up to `time` are delivered; nil means all
    /// frames. If a frame is outstanding, the library's stream ends, and the next frame is a key frame.
    ///
    /// - Throws: `usage` after `invalidate`; the error that ended the encoder.
    package func completeFrames(until time: MediaTime?) throws {
        guard let worker = prepared.withLock({ $0?.worker }) else { return }
        let target: Int? = try worker.monitor.withLock { state in
            try Self.check(state)
            let isDue = state.waiting.values.contains { pending in time.map { pending <= $0 } ?? true }
            if !isDue { return nil }
            state.drains = true
            return state.taken
        }
        guard let target else { return }
        try worker.monitor.wait { state -> Void? in
            try Self.check(state)
            return state.delivered >= target ? () : nil
        }
    }

    /// Ends the session. Frames that are not complete are dropped. Waits for a handler call that is running, except if
    /// the handler itself calls this method. Idempotent.
    package func invalidate() {
        pool.close()
        prepared.withLock { $0?.worker }?.stop()
    }

    /// The number of frames that were taken and neither delivered nor dropped.
    package var pendingFrameCount: Int {
        prepared.withLock { $0?.worker }?.monitor.withLock { $0.taken - $0.delivered - $0.dropped } ?? 0
    }

    /// The numbers of frames taken, delivered, dropped and pending, and of pictures that exceeded limits.
    package var statistics: EncoderStatistics {
        var result = EncoderStatistics()
        prepared.withLock { $0?.worker }?.monitor.withLock {
            result.taken = $0.taken
            result.delivered = $0.delivered
            result.dropped = $0.dropped
            result.pending = $0.taken - $0.delivered - $0.dropped
            (result.broken, result.limitsBroken) = ($0.broken, $0.tooLarge)
        }
        return result
    }

    /// Changes rates, in H.264 only: libx264 can change them between two pictures. With a variable rate, another
    /// average needs a new stream of the library, which begins with a key frame.
    ///
    /// - Throws: `unavailable` for other changes; `usage` for invalid values.
    package func change(_ change: RunningChange) throws {
        let limits = try worker().monitor.withLock { state in
            try Self.check(state)
            state.limits = try settings.changed(state.limits, by: change)
            return state.limits
        }
        prepared.withLock { prepared in
            guard let report = prepared?.description.effective else { return }
            prepared?.description.effective = settings.report(report, with: change, limits)
        }
    }

    /// Checks changes that follow each other, without making them.
    package func check(_ changes: [RunningChange]) throws {
        var limits = settings.limits
        for change in changes { limits = try settings.changed(limits, by: change) }
    }

    /// Makes the next frame a key frame, because the library does not allow references to be chosen. Frames before the
    /// latest requested key frame are ignored: no later picture depends on them.
    package func invalidateReferences(displayIndices: [Int]) throws {
        // A pass of intra refresh takes several pictures, which depend on those before it.
        let repairsAtOnce = !settings.configuration.structure.intraRefresh
        try worker().monitor.withLock { state in
            try Self.check(state)
            let first = repairsAtOnce ? state.latestKey : 0
            if displayIndices.contains(where: { (first..<state.taken).contains($0) }) { state.forcesKey = true }
        }
    }
}
