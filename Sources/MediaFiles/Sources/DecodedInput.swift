import CLibAV
import LibAV
import VideoBase

/// An input that is open for decoding: its packets, the decoder and what becomes of the pictures. Only one thread may use it
/// at a time.
final class DecodedInput {
    private let reader: ByteReader
    let range: SourceRange
    var demuxer: Demuxer { feed.demuxer }
    private(set) var feed: DecoderFeed
    private(set) var decoder: any PictureDecoder
    private(set) var deinterlacing: Deinterlacing
    private var times: PictureTimes
    var fitting: PictureFitting
    /// Whether the decoder's frame holds the first picture, which is not output yet.
    private(set) var isPrimed = false
    /// The number of decoded pictures.
    private(set) var decoded = 0
    /// The number of pictures that were output.
    private var delivered = 0
    /// The number of pictures to output. It becomes the number of the pictures so far when the input ends.
    private var limit: Int
    /// Whether the decoder has received the end of the stream.
    private(set) var inputEnded = false
    /// The reason why the input ends early. It is reported after the good pictures.
    private var failure: String?
    /// The dynamic HDR metadata of the latest picture; empty if it has none.
    private(set) var dynamicHDR: [UInt8] = []

    init(
        _ reader: ByteReader, demuxer: Demuxer, decoder: any PictureDecoder, range: SourceRange, times: PictureTimes,
        fitting: PictureFitting
    ) {
        self.reader = reader
        self.range = range
        self.decoder = decoder
        self.times = times
        self.fitting = fitting
        feed = DecoderFeed(demuxer, range)
        deinterlacing = Deinterlacing(timeBase: demuxer.stream.timeBase)
        limit = range.frameLimit
    }

    // MARK: The beginning

    /// Decodes the first picture and keeps it for the first read.
    func prime() throws {
        while true {
            switch try decoder.receive() {
            case .frame:
                if decoder.frameIsDamaged { continue }
                isPrimed = true
                return
            case .end where feed.awaitsDrain: beginRecording()
            case .end: return
            case .broken: continue
            case .needsInput:
                switch try readPacket() {
                case .end where feed.awaitsDrain: _ = try decoder.send(end: true)
                case .packet:
                    feed.replay.keep(unsafe try PacketCopy(of: decoder.packet!, demuxer.av))
                    _ = try decoder.send()
                case .end: try fail(nil)
                case .broken(let words): try fail(words)
                }
            }
        }
    }

    /// Replaces the decoder, which has returned no picture but the one that is kept. The new decoder reads the same packets.
    func replaceDecoder(by other: any PictureDecoder) {
        decoder = other
        feed.replay.restart()
        isPrimed = false
        inputEnded = false
    }

    // MARK: Pictures

    /// The picture that `next` returned, valid until the next call. It may be on a device.
    var frame: UnsafePointer<AVFrame>? { unsafe deinterlacing.frame(of: decoder) }
    var isOnDevice: Bool { unsafe frame?.pointee.format == AV_PIX_FMT_VAAPI.rawValue }
    private var frameIsKey: Bool { unsafe frame.map { unsafe vaenc_is_key($0) } ?? false }

    /// A decoded picture.
    enum Picture {
        case beforeStart
        case shown(FrameTiming)
    }

    /// Decodes the next picture. Returns nil at the end.
    /// - Throws: `badInput` after the last good picture of a damaged input.
    func next() throws -> Picture? {
        guard delivered < limit else { return nil }
        while true {
            switch try receive() {
            case .frame:
                if deinterlacing.isDamaged(of: decoder) {
                    // Decoders conceal missing parts. The result is not a picture of the input, and the pictures after
                    // it would follow a gap.
                    if decoded == 0, frameIsKey { feed.leading.loseKey() }
                    try handleUndecodable()
                    guard let failure else { continue }
                    limit = delivered
                    throw broken(failure)
                }
                if feed.leading.skips(isKey: frameIsKey) { continue }
                return try takePicture()
            case .end where feed.awaitsDrain && failure == nil: beginRecording()
            case .end:
                feed.end()
                limit = delivered
                if let failure { throw broken(failure) }
                if decoded == 0 { throw broken(LibAV.takeLog() ?? "no picture could be decoded") }
                return nil
            case .broken:
                try handleUndecodable()
            case .needsInput:
                switch try readPacket() {
                case .packet: if try !decoder.send() { try handleUndecodable() }
                case .end where feed.awaitsDrain: if try !decoder.send(end: true) { try handleUndecodable() }
                case .end: try fail(nil)
                case .broken(let words): try fail(words)
                }
            }
        }
    }

    private func readPacket() throws -> InputContext.Reading {
        try unsafe feed.read(decoder.packet!, hasDecoded: decoded > 0)
    }

    private func receive() throws -> DecoderAnswer {
        deinterlacing.useDecodersPicture()
        if isPrimed {
            isPrimed = false
            feed.replay.forget()
            return .frame
        }
        return try deinterlacing.receive(from: decoder)
    }

    /// Begins a recording after the decoder has returned the pictures before it.
    private func beginRecording() {
        decoder.flush()
        feed.beginRecording()
        deinterlacing.restart()
    }

    /// Counts the frame, and returns its time. Returns nil if it is after the end.
    private func takePicture() throws -> Picture? {
        guard let frame = unsafe frame else { return nil }
        if decoded == 0 {
            let time = unsafe frame.pointee.pts
            feed.leading.begin(at: time == vaenc_no_pts() ? nil : time)
        }
        decoded += 1
        let position = unsafe times.take(frame, delivered: delivered)
        if case .afterEnd = position {
            limit = delivered
            return nil
        }
        // A cut may begin with a later picture than requested.
        if case .inside(_, let seconds) = position, range.isCut, delivered == 0, decoded > 1, seconds >= 0.5 {
            fitting.changes.addLateBeginning(seconds: seconds)
        }
        if let end = feed.lossTime, let failure, times.latest ?? .min >= end {
            decoded -= 1
            limit = delivered
            throw broken(failure)
        }
        return if case .inside(let timing, _) = position { .shown(timing) } else { .beforeStart }
    }

    /// Records that the picture that `next` returned was output.
    func noteDelivery() { delivered += 1 }

    /// Adapts to the picture that `next` returned, whose size this is.
    func follow(_ size: VideoSize) { unsafe fitting.follow(frame, size: size, number: delivered, demuxer.av) }

    /// Reads the metadata of the picture that `next` returned.
    func readMetadata() {
        // SAFETY: the frame holds its picture until the next `receive`.
        if let frame = unsafe frame { dynamicHDR = unsafe HDRSideData.dynamic(frame, demuxer.av) }
    }

    // MARK: Damage

    /// Handles a picture that cannot be decoded. It is damage, except before the first picture: a stream may begin
    /// between key frames, and the picture is then left out.
    private func handleUndecodable() throws {
        if decoded > 0 { try fail(LibAV.takeLog() ?? "damaged data") } else { feed.leading.miss() }
    }

    /// Ends the input. The decoder returns the pictures that it holds, and then the error is reported.
    private func fail(_ words: String?) throws {
        if failure == nil { failure = words }
        if !inputEnded { _ = try decoder.send(end: true) }
        inputEnded = true
    }

    private func broken(_ words: String) -> VaencError {
        if LibAV.isNoMemory(words) || !MemoryTrial.fitsPictures(fitting.nativeSize) { return .noMemory("to decode \(reader.name)") }
        if let growth = reader.growth {
            return VaencError(
                .badInput, "\(reader.name) ends after picture \(decoded): \(growth)",
                remedy: ByteReader.growthRemedy)
        }
        let remedy = reader.isSeekable ? nil : InputContext.pipeRemedy
        if decoded == 0 {
            if let remedy { return InputContext.unreadable(reader.name, words, remedy: remedy) }
            return InputContext.unreadable(reader.name, words, remedy: InputContext.layoutRemedy).about(.pictureLayout)
        }
        return VaencError(
            .badInput, "\(reader.name) is damaged or truncated after picture \(decoded) (\(words))",
            remedy: remedy ?? "use a complete file, or read only the good part with `frameLimit` \(decoded)")
    }
}
