import CLibAV
import LibAV
import Synchronization
package import VideoBase

/// The pictures of a file that libavformat and libavcodec read.
///
/// Times count from the stream's start (or from `options.start`), so a varying rate is kept. If the sound begins before
/// the pictures, times count from the start of the sound. A rotation that the container requests from players is not
/// applied.
package final class DecodingSource: FrameSource {
    package let info: SourceInfo
    package let sounds: [SourceSound]
    /// The index in `sounds` of the stream that `sound` describes; nil if there is none.
    let bestSound: Int?
    package var sound: SourceSound? { bestSound.map { sounds[$0] } }
    private let reader: ByteReader
    let cancelled = Atomic(false)
    let state: Guarded<State?>

    init(_ reader: ByteReader, options: SourceOptions) throws {
        let demuxer = try Demuxer(reader, readsSound: options.readsSound)
        let stream = demuxer.stream
        let decoder = unsafe try VideoDecoder(
            demuxer.decoder, parameters: demuxer.parameters, timeBase: stream.timeBase, VideoDecoder.Options(), demuxer.av)
        let varyingRate = FrameTimes.varyingRate(of: reader, stream, scratch: decoder)
        var info = Self.info(demuxer, options, varyingRate: varyingRate)
        var range = SourceRange(stream, options, frameRate: info.frameRate)
        (info.frameCount, info.durationSeconds) = (range.frameCount, range.seconds)
        info.changes += [range.begin(withSoundAt: demuxer.soundStarts, isRead: !demuxer.sounds.isEmpty)].compactMap { $0 }
        if let target = range.seekTarget(frameRate: info.frameRate), try demuxer.seek(to: target) { decoder.flush() }
        sounds = demuxer.sounds.map {
            SourceSound(track: $0.track, origin: range.zero, cutsStart: range.isCut, stream: $0.index)
        }
        bestSound = demuxer.bestSound
        info.metadata = demuxer.metadata
        info.metadata.chapters = info.metadata.chapters(from: range.zero, to: nil)
        // A time code would be wrong if the output begins with another picture or has another rate.
        if range.isCut || options.frameRate != nil { info.leftOutTimeCode = info.metadata.removeTimeCode() }
        info.unreadStreams = try demuxer.unreadStreams()
        var state = State(
            demuxer: demuxer, decoder: decoder, shaper: Self.shaper(demuxer, options, info.color, turn: demuxer.displayMatrix),
            nativeSize: info.nativeSize, range: range, rate: options.frameRate, fit: options.fit)
        try Self.completeFromFirstPicture(&info, &state, decoder, options)
        self.info = info
        self.reader = reader
        self.state = Guarded(state)
    }

    /// Returns the description of the input as its container states it.
    ///
    /// - Parameter varyingRate: The mean rate of an input whose rate varies; nil if it is constant.
    private static func info(_ demuxer: Demuxer, _ options: SourceOptions, varyingRate: Rational?) -> SourceInfo {
        let stream = demuxer.stream
        let rate = options.frameRate ?? varyingRate ?? stream.frameRate ?? Rational(25, 1)
        let parameters = unsafe demuxer.parameters.pointee
        let size = VideoSize(width: Int(unsafe parameters.width), height: Int(unsafe parameters.height))
        let native = unsafe AVPixelFormat(rawValue: parameters.format)
        let color = unsafe Self.color(parameters, asked: options.colorOfRGB, demuxer.av)
        let shaper = shaper(demuxer, options, color, turn: demuxer.displayMatrix)
        let codec = unsafe String(cString: demuxer.av.pointee.avcodec_get_name!(parameters.codec_id)!)
        var info = SourceInfo(
            size: shaper.outputSize, frameRate: rate, color: color, sampleAspectRatio: shaper.outputAspect,
            frameCount: nil, durationSeconds: nil,
            nativeFormat: PixelFormat(av: native), nativeSize: size,
            kind: unsafe Self.kind(stream.container, codec, native, demuxer.av))
        info.frameRateVaries = varyingRate != nil && options.frameRate == nil
        info.changes = demuxer.changes
        info.isImages = InputContext.holdsImages(stream.container)
        info.frameRateIsAssumed = info.isImages && options.frameRate == nil
        let hasNoRate = info.isImages || stream.isBare && stream.frameRate == Rational(25, 1)
        let inputRate = varyingRate ?? (hasNoRate ? nil : stream.frameRate)
        info.note(options)
        info.changes += [SourceInfo.speedChange(from: inputRate, to: options.frameRate, varies: varyingRate != nil)]
            .compactMap { $0 }
        info.hasSound = demuxer.hasSound
        info.displayMatrix = Self.displayMatrix(demuxer.displayMatrix, of: size, scaledTo: info.size)
        info.notices = [demuxer.notice].compactMap { $0 }
        if let description = unsafe demuxer.av.pointee.av_pix_fmt_desc_get!(native) {
            info.bitDepth = unsafe Int(description.pointee.comp.0.depth)
            if info.nativeFormat == nil { info.nativeFormatName = unsafe String(cString: description.pointee.name) }
        }
        info.masteringDisplay = demuxer.masteringDisplay
        info.contentLight = demuxer.contentLight
        return info
    }

    /// Returns the fitting of the input's pictures into the output's size.
    ///
    /// - Parameter turn: The display matrix.
    private static func shaper(_ demuxer: Demuxer, _ options: SourceOptions, _ color: ColorDescription, turn: [Int32]) -> FrameShaper {
        let parameters = unsafe demuxer.parameters.pointee
        let size = VideoSize(width: Int(unsafe parameters.width), height: Int(unsafe parameters.height))
        let turns = options.outputSizeIsAsShown && SourceInfo.turnsSides(turn)
        let output = turns ? options.outputSize?.turned : options.outputSize
        return FrameShaper(source: size, aspect: demuxer.stream.aspect, color: color, output: output, fit: options.fit)
    }

    /// Completes the description with what only the first picture states, if it may state something.
    private static func completeFromFirstPicture(
        _ info: inout SourceInfo, _ state: inout State, _ decoder: VideoDecoder, _ options: SourceOptions
    ) throws {
        let demuxer = state.demuxer
        if info.bitDepth > 8, info.masteringDisplay == nil || info.contentLight == nil {
            // Many streams contain this metadata in their first picture only.
            try prime(&state)
            if state.isPrimed {
                let frame = unsafe UnsafePointer(decoder.frame!)
                info.masteringDisplay = unsafe info.masteringDisplay ?? HDRSideData.masteringDisplay(frame, demuxer.av)
                info.contentLight = unsafe info.contentLight ?? HDRSideData.contentLight(frame, demuxer.av)
            }
        }
        guard info.isImages, demuxer.displayMatrix.isEmpty else { return }
        // The EXIF orientation of a photo is known only after decoding.
        if !state.isPrimed { try prime(&state) }
        let matrix = state.isPrimed ? unsafe HDRSideData.displayMatrix(UnsafePointer(decoder.frame!), demuxer.av) : []
        if !matrix.isEmpty {
            state.shaper = shaper(demuxer, options, info.color, turn: matrix)
            (info.size, info.sampleAspectRatio) = (state.shaper.outputSize, state.shaper.outputAspect)
            info.displayMatrix = Self.displayMatrix(matrix, of: info.nativeSize, scaledTo: info.size)
        }
        state.imageOrientation = matrix
    }

    /// Decodes the first picture and keeps it for the first read.
    private static func prime(_ state: inout State) throws {
        while true {
            switch try state.decoder.receive() {
            case .frame:
                if state.decoder.frameIsDamaged { continue }
                state.isPrimed = true
                return
            case .end where state.isAtJoint: state.beginRecording()
            case .end: return
            case .broken: continue
            case .needsInput:
                switch try state.read() {
                case .end where state.isAtJoint: _ = try state.decoder.send(end: true)
                case .packet:
                    state.sent.append(unsafe try PacketCopy(of: state.decoder.packet!, state.demuxer.av))
                    _ = try state.decoder.send()
                case .end: try fail(&state, nil)
                case .broken(let words): try fail(&state, words)
                }
            }
        }
    }

    package func readFrame(into planes: PixelPlanes) throws -> FrameTiming? {
        // This check comes first, because a decoded picture would be lost.
        unsafe try planes.check(forPicturesOf: info.size)
        return try read { unsafe try deliver(&$0, to: planes) }
    }

    /// Decodes the next picture, and calls `body`, which takes it from the decoder. Returns nil at the end.
    func read(_ body: (inout State) throws -> Void) throws -> FrameTiming? {
        try state.withLock { state in
            while true {
                if cancelled.load(ordering: .relaxed) { throw SystemError.interrupted }
                guard let timing = try next(&state) else { return nil }
                if let timing = timing.value {
                    try body(&state!)
                    state!.delivered += 1
                    return timing
                }
            }
        }
    }

    /// A decoded picture's time; nil if it is before the start.
    private struct Step { var value: FrameTiming? }

    /// Decodes one picture. Returns nil at the end.
    private func next(_ state: inout State?) throws -> Step? {
        guard let s = state, s.delivered < s.frameLimit else { return nil }
        while true {
            switch try state!.receive() {
            case .frame:
                if state!.frameIsDamaged {
                    // Decoders conceal missing parts. The result is not a picture of the input, and the pictures after
                    // it would follow a gap.
                    if s.decoded == 0, state!.frameIsKey { state!.leading.loseKey() }
                    try Self.handleUndecodable(&state!)
                    guard let failure = state!.failure else { continue }
                    state!.frameLimit = state!.delivered
                    throw broken(state!, failure)
                }
                if state!.leading.skips(isKey: state!.frameIsKey) { continue }
                if s.decoded == 0 { state!.begin() }
                state!.decoded += 1
                guard let step = timing(&state!) else {
                    state!.frameLimit = state!.delivered
                    return nil
                }
                if let end = state!.lossTime, let failure = state!.failure, state!.previous ?? .min >= end {
                    state!.decoded -= 1
                    state!.frameLimit = state!.delivered
                    throw broken(state!, failure)
                }
                return step
            case .end where state!.isAtJoint && state!.failure == nil: state!.beginRecording()
            case .end:
                state!.end()
                state!.frameLimit = state!.delivered
                if let failure = state!.failure { throw broken(state!, failure) }
                if state!.decoded == 0 { throw broken(state!, LibAV.takeLog() ?? "no picture could be decoded") }
                return nil
            case .broken:
                try Self.handleUndecodable(&state!)
            case .needsInput:
                switch try state!.read() {
                case .packet: if try !s.decoder.send() { try Self.handleUndecodable(&state!) }
                case .end where state!.isAtJoint: if try !s.decoder.send(end: true) { try Self.handleUndecodable(&state!) }
                case .end: try Self.fail(&state!, nil)
                case .broken(let words): try Self.fail(&state!, words)
                }
            }
        }
    }

    /// Handles a picture that cannot be decoded. It is damage, except before the first picture: a stream may begin
    /// between key frames, and the picture is then left out.
    private static func handleUndecodable(_ state: inout State) throws {
        if state.decoded > 0 { try fail(&state, LibAV.takeLog() ?? "damaged data") } else { state.leading.miss() }
    }

    /// Ends the input. The decoder returns the pictures that it holds, and then the error is reported.
    private static func fail(_ state: inout State, _ words: String?) throws {
        if state.failure == nil { state.failure = words }
        if !state.inputEnded { _ = try state.decoder.send(end: true) }
        state.inputEnded = true
    }

    private func broken(_ state: State, _ words: String) -> VaencError {
        if LibAV.isNoMemory(words) || !MemoryTrial.fitsPictures(state.nativeSize) { return .noMemory("to decode \(reader.name)") }
        if let growth = reader.growth {
            return VaencError(
                .badInput, "\(reader.name) ends after picture \(state.decoded): \(growth)",
                remedy: ByteReader.growthRemedy)
        }
        let remedy = reader.isSeekable ? nil : InputContext.pipeRemedy
        if state.decoded == 0 {
            if let remedy { return InputContext.unreadable(reader.name, words, remedy: remedy) }
            return InputContext.unreadable(reader.name, words, remedy: InputContext.layoutRemedy).about(.pictureLayout)
        }
        return VaencError(
            .badInput, "\(reader.name) is damaged or truncated after picture \(state.decoded) (\(words))",
            remedy: remedy ?? "use a complete file, or read only the good part with `frameLimit` \(state.decoded)")
    }

    /// Returns the time of the decoder's frame; nil if it is after the end.
    private func timing(_ state: inout State) -> Step? {
        let base = state.demuxer.stream.timeBase
        let none = vaenc_no_pts()
        let frame = unsafe state.frame!
        let rate = info.frameRate
        let length = max(1, Int64((1 / rate.value / base.value).rounded()))
        var time = unsafe frame.pointee.best_effort_timestamp
        // A file may contain any times. The encoder rejects those that are out of range.
        if time == none {
            let start = state.demuxer.stream.startTime ?? 0
            time = state.previous.map { Int64(clamping: Int128($0) + Int128(length)) } ?? start
        }
        // Presentation times must increase.
        if let previous = state.previous, time <= previous { time = Int64(clamping: Int128(previous) + 1) }
        state.previous = time
        // The picture that is shown at the start may begin slightly before it because of rounding.
        if time < state.range.origin { return Step(value: nil) }
        let elapsed = Int128(time) - Int128(state.range.origin)
        if state.range.ticksLeft(after: elapsed) <= 0 { return nil }
        state.noteFirst(seconds: Double(elapsed) * base.value)
        if let rate = state.rate {
            let scale = Int32(clamping: rate.numerator)
            return Step(
                value: FrameTiming(
                    presentation: MediaTime(value: Int64(state.delivered * rate.denominator), timescale: scale),
                    duration: MediaTime(value: Int64(rate.denominator), timescale: scale)))
        }
        let scale = Int32(clamping: base.denominator)
        // A picture that is displayed beyond the end of the requested part is cut there.
        let duration = min(unsafe vaenc_frame_duration(frame), state.range.ticksLeft(after: elapsed))
        return Step(
            value: FrameTiming(
                presentation: MediaTime(value: Int64(clamping: elapsed * Int128(base.numerator)), timescale: scale),
                duration: duration > 0
                    ? MediaTime(value: Int64(clamping: Int128(duration) * Int128(base.numerator)), timescale: scale) : nil))
    }

    func deliver(_ state: inout State, to planes: PixelPlanes) throws {
        // SAFETY: `copy` holds its picture, or the frame holds it until the next `receive`.
        let copy = state.isOnDevice ? try state.decoder.pictureInMemory() : nil
        let frame = unsafe copy?.frame ?? state.frame!
        defer { withExtendedLifetime(copy) {} }
        state.readMetadata()
        let size = unsafe VideoSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        follow(size, &state)
        if let picture = unsafe PixelPlanes(frame) {
            unsafe try state.shaper.shape(picture, to: planes)
        } else {
            unsafe try state.shaper.shape(PictureView(frame: frame), to: planes)
        }
    }

    /// Adapts to a change of the stream's size or depth. The output keeps its own size and depth.
    func follow(_ size: VideoSize, _ state: inout State) {
        if let depth = state.frameDepth, depth > info.bitDepth, info.bitDepth > 0 {
            state.addChange("inputDepth", asked: "\(depth)", used: "\(info.bitDepth)", "the input changes its depth")
        }
        if let first = state.imageOrientation, let frame = unsafe state.frame {
            let matrix = unsafe HDRSideData.displayMatrix(frame, state.demuxer.av)
            if matrix != first {
                state.addChange("rotation", asked: "as in each image", used: "as in the first image", "the images have several orientations")
            }
        }
        let isSameAspect = followAspect(&state)
        if size == state.nativeSize, isSameAspect { return }
        if size != state.nativeSize {
            state.addChange("inputSize", asked: "\(size)", used: "\(info.size)", "the input changes its size")
            state.nativeSize = size
        }
        state.shaper = FrameShaper(
            source: size, aspect: state.aspect ?? state.demuxer.stream.aspect, color: info.color, output: info.size, fit: state.fit)
    }

    /// Follows a change of the stream's sample aspect ratio, as broadcasts have it. Returns whether it is the same.
    private func followAspect(_ state: inout State) -> Bool {
        guard let frame = unsafe state.frame else { return true }
        let coded = unsafe frame.pointee.sample_aspect_ratio
        guard coded.num > 0, coded.den > 0 else { return true }
        let aspect = Rational(Int(coded.num), Int(coded.den)).reduced
        guard let before = state.codedAspect else {
            state.codedAspect = aspect
            return true
        }
        if aspect == before { return true }
        // A container may state another aspect ratio than the stream. It then applies to all pictures.
        let first = state.demuxer.stream.aspect
        let isStream = state.aspect != nil || first.map { $0.reduced == before } ?? true
        state.codedAspect = aspect
        if !isStream { return true }
        state.aspect = aspect
        // Scaled pictures are fitted with their own shape.
        if aspect != first?.reduced, info.size == state.nativeSize {
            let shown = { (ratio: Rational) in "\(ratio.numerator):\(ratio.denominator)" }
            state.addChange(
                "inputAspect", asked: shown(aspect), used: shown(first ?? Rational(1, 1)), "the input changes its sample aspect ratio")
        }
        return false
    }

    package var lateChanges: [EffectiveEntry] {
        state.withLock { state in
            guard let state else { return [] }
            let isReported =
                !state.isDeinterlaced || info.changes.contains { $0.option == Demuxer.deinterlaced.option }
            let missing = isReported ? [] : [Demuxer.deinterlaced]
            return state.changes + missing + [state.demuxer.timesEntry, state.joined.entry].compactMap { $0 }
        }
    }
    package var lateNotices: [String] { state.withLock { $0?.demuxer.lossNotices ?? [] } }
    package var picturesLeftOut: Int { state.withLock { $0?.leading.count ?? 0 } }
    package var dynamicHDR: [UInt8] { state.withLock { $0?.dynamicHDR ?? [] } }

    package func cancel() {
        cancelled.store(true, ordering: .relaxed)
        reader.cancel()
    }

    package func close() { state.withLock { $0 = nil } }
}
