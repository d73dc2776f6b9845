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
    /// The open input; nil after `close`.
    let input: Guarded<DecodedInput?>

    init(_ reader: ByteReader, options: SourceOptions) throws {
        let demuxer = try Demuxer(reader, readsSound: options.readsSound)
        let stream = demuxer.stream
        let decoder = unsafe try VideoDecoder(
            demuxer.decoder, parameters: demuxer.parameters, timeBase: stream.timeBase, options: VideoDecoder.Options(),
            av: demuxer.av)
        let varyingRate = FrameTimes.varyingRate(of: reader, stream, scratch: decoder)
        var info = Self.info(demuxer, options, varyingRate: varyingRate)
        var range = SourceRange(stream, options, frameRate: info.frameRate)
        (info.frameCount, info.duration) = (range.frameCount, range.seconds.flatMap(Duration.init(checkedSeconds:)))
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
        let times = PictureTimes(range, stream, frameRate: info.frameRate, requested: options.frameRate)
        let shaper = Self.shaper(demuxer, options: options, color: info.color, turn: demuxer.displayMatrix)
        let input = DecodedInput(
            reader, demuxer: demuxer, decoder: decoder, range: range, times: times,
            fitting: PictureFitting(shaper, info, aspect: stream.aspect, fit: options.fit, imageOrientation: nil))
        try Self.completeFromFirstPicture(&info, input: input, options: options)
        self.info = info
        self.reader = reader
        self.input = Guarded(input)
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
        let shaper = shaper(demuxer, options: options, color: color, turn: demuxer.displayMatrix)
        let codec = unsafe String(cString: demuxer.av.pointee.avcodec_get_name!(parameters.codec_id)!)
        var info = SourceInfo(
            size: shaper.outputSize, frameRate: rate, color: color, sampleAspectRatio: shaper.outputAspect,
            frameCount: nil, duration: nil,
            nativeFormat: PixelFormat(av: native), nativeSize: size,
            kind: unsafe Self.kind(stream.container, codec: codec, format: native, av: demuxer.av))
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
    private static func shaper(_ demuxer: Demuxer, options: SourceOptions, color: ColorDescription, turn: [Int32])
        -> FrameShaper
    {
        let parameters = unsafe demuxer.parameters.pointee
        let size = VideoSize(width: Int(unsafe parameters.width), height: Int(unsafe parameters.height))
        let turns = options.outputSizeIsAsShown && SourceInfo.turnsSides(turn)
        let output = turns ? options.outputSize?.turned : options.outputSize
        return FrameShaper(source: size, aspect: demuxer.stream.aspect, color: color, output: output, fit: options.fit)
    }

    /// Completes the description with what only the first picture states, if it may state something.
    private static func completeFromFirstPicture(_ info: inout SourceInfo, input: DecodedInput, options: SourceOptions)
        throws
    {
        let demuxer = input.demuxer
        if info.bitDepth > 8, info.masteringDisplay == nil || info.contentLight == nil {
            // Many streams contain this metadata in their first picture only.
            try input.prime()
            if input.isPrimed {
                let frame = unsafe UnsafePointer(input.decoder.frame!)
                info.masteringDisplay = unsafe info.masteringDisplay ?? HDRSideData.masteringDisplay(frame, demuxer.av)
                info.contentLight = unsafe info.contentLight ?? HDRSideData.contentLight(frame, demuxer.av)
            }
        }
        guard info.isImages, demuxer.displayMatrix.isEmpty else { return }
        // The EXIF orientation of a photo is known only after decoding.
        if !input.isPrimed { try input.prime() }
        let matrix = input.isPrimed ? unsafe HDRSideData.displayMatrix(UnsafePointer(input.decoder.frame!), demuxer.av) : []
        var shaper = input.fitting.shaper
        if !matrix.isEmpty {
            shaper = Self.shaper(demuxer, options: options, color: info.color, turn: matrix)
            (info.size, info.sampleAspectRatio) = (shaper.outputSize, shaper.outputAspect)
            info.displayMatrix = Self.displayMatrix(matrix, of: info.nativeSize, scaledTo: info.size)
        }
        input.fitting = PictureFitting(shaper, info, aspect: demuxer.stream.aspect, fit: options.fit, imageOrientation: matrix)
    }

    package func readFrame(into planes: PixelPlanes) throws -> FrameTiming? {
        // This check comes first, because a decoded picture would be lost.
        unsafe try planes.check(forPicturesOf: info.size)
        return try read { unsafe try deliver($0, to: planes) }
    }

    /// Decodes the next picture, and calls `body`, which takes it from the decoder. Returns nil at the end.
    func read(_ body: (DecodedInput) throws -> Void) throws -> FrameTiming? {
        try input.withLock { input in
            while true {
                if cancelled.load(ordering: .relaxed) { throw SystemError.interrupted }
                guard let input, let picture = try input.next() else { return nil }
                if case .shown(let timing) = picture {
                    try body(input)
                    input.noteDelivery()
                    return timing
                }
            }
        }
    }

    func deliver(_ input: DecodedInput, to planes: PixelPlanes) throws {
        // SAFETY: `copy` holds its picture, or the frame holds it until the next `receive`.
        let copy = input.isOnDevice ? try input.decoder.pictureInMemory() : nil
        let frame = unsafe copy?.frame ?? input.frame!
        defer { withExtendedLifetime(copy) {} }
        input.readMetadata()
        input.follow(unsafe VideoSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height)))
        if let picture = unsafe PixelPlanes(frame) {
            unsafe try input.fitting.shaper.shape(picture, to: planes)
        } else {
            unsafe try input.fitting.shaper.shape(PictureView(frame: frame), to: planes)
        }
    }

    package var lateChanges: [EffectiveEntry] {
        input.withLock { input in
            guard let input else { return [] }
            let isReported =
                !input.deinterlacing.isUsed || info.changes.contains { $0.option == Demuxer.deinterlaced.option }
            let missing = isReported ? [] : [Demuxer.deinterlaced]
            return input.fitting.changes.entries + missing + [input.demuxer.timesEntry, input.feed.joined.entry].compactMap { $0 }
        }
    }
    package var lateNotices: [String] { input.withLock { $0?.demuxer.lossNotices ?? [] } }
    package var picturesLeftOut: Int { input.withLock { $0?.feed.leading.count ?? 0 } }
    package var dynamicHDR: [UInt8] { input.withLock { $0?.dynamicHDR ?? [] } }

    package func cancel() {
        cancelled.store(true, ordering: .relaxed)
        reader.cancel()
    }

    package func close() { input.withLock { $0 = nil } }
}
