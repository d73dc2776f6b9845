import CLibAV
import LibAV
import VideoBase

/// Supplies the packets for the decoder of an input: those that can be decoded. It detects missing and damaged pictures,
/// and the beginning of another recording.
struct DecoderFeed {
    let demuxer: Demuxer
    /// Reads the packets instead of the demuxer if the last packet must be checked first.
    private let checked: CheckedPackets?
    private let range: SourceRange
    private var losses: LossDetector?
    /// The time of a loss. Pictures from there on are not output.
    private(set) var lossTime: Int64?
    /// The pictures at the beginning that cannot be decoded.
    var leading: LeadingPictures
    /// The recordings that follow in the input and begin between their key pictures.
    private(set) var joined = JoinedRecordings()
    /// The first key picture of a recording, until the decoder has returned the pictures before it.
    private var nextRecording: PacketCopy?
    /// The packets that are sent before the input's next one.
    var replay = PacketReplay()
    /// Whether a packet was returned for the decoder.
    private var hasSent = false

    /// - Parameter range: The requested part of the input.
    init(_ demuxer: Demuxer, _ range: SourceRange) {
        self.demuxer = demuxer
        self.range = range
        checked = CheckedPackets(demuxer)
        let parameters = unsafe demuxer.parameters.pointee
        losses = unsafe LossDetector(parameters)
        leading = LeadingPictures(keepsToKeys: unsafe VideoCodec(libavcodecID: parameters.codec_id)?.decodingBeginsAtKeys ?? false)
    }

    /// Whether the decoder returns the pictures that it holds, before another recording begins.
    var awaitsDrain: Bool { nextRecording != nil }

    /// Whether a picture at that time is at or after the requested start, and before the requested end.
    private func isInRequestedPart(_ time: Int64) -> Bool {
        time == vaenc_no_pts() || (!range.isCut || time >= range.origin) && range.ticksLeft(after: Int128(time) - Int128(range.origin)) > 0
    }

    /// The decision about a packet.
    private enum Verdict {
        case send
        case leaveOut
        /// The packet begins another recording. It waits until the decoder has returned the pictures before it.
        case beginRecording
        case broken(String)
    }

    /// Fills `packet` with the next packet for the decoder. Returns `end` also where another recording begins
    /// (`awaitsDrain`).
    ///
    /// - Parameter hasDecoded: Whether a picture was decoded.
    mutating func read(_ packet: UnsafeMutablePointer<AVPacket>, hasDecoded: Bool) throws -> InputContext.Reading {
        while true {
            if try unsafe replay.fill(packet) { return .packet }
            if awaitsDrain { return .end }
            let reading = try unsafe checked?.read(packet) ?? demuxer.read(packet)
            if demuxer.lacksFirstPacket { leading.loseFirstPacket() }
            guard case .packet = reading else { return reading }
            let verdict = try unsafe judge(packet, hasDecoded: hasDecoded)
            if case .send = verdict {
                hasSent = true
                return .packet
            }
            unsafe demuxer.av.pointee.av_packet_unref!(packet)
            switch verdict {
            case .send, .leaveOut: continue
            case .beginRecording: return .end
            case .broken(let words): return .broken(words)
            }
        }
    }

    private mutating func judge(_ packet: UnsafeMutablePointer<AVPacket>, hasDecoded: Bool) throws -> Verdict {
        let flags = unsafe packet.pointee.flags
        let time = unsafe packet.pointee.pts
        // An edit list hides the picture. Decoders use it as a reference, but do not output it.
        let isShown = flags & AV_PKT_FLAG_DISCARD == 0
        if isShown { leading.see(time) }
        let isKey = flags & AV_PKT_FLAG_KEY != 0
        unsafe packet.pointee.flags &= ~(Demuxer.timesJump | Demuxer.startsRecording)
        if flags & Demuxer.timesJump != 0 { joined.jump() }
        // A clock that was set inside a recording leaves no key picture out.
        let isOther = flags & Demuxer.startsRecording != 0 || flags & Demuxer.timesJump != 0 && isKey
        if isOther, hasSent { skipToKey() }
        if joined.isSkipping { return try unsafe judgeBeforeKey(packet, isKey: isKey, isShown: isShown, hasDecoded: hasDecoded) }
        let av = unsafe demuxer.av
        if let loss = unsafe losses?.loss(in: packet, av) {
            if joined.awaitsKey, hasSent {
                skipToKey()
                return try unsafe judgeBeforeKey(packet, isKey: isKey, isShown: isShown, hasDecoded: hasDecoded)
            }
            if time != vaenc_no_pts() { lossTime = time }
            return .broken(loss)
        }
        if unsafe AV1Check.isDamaged(packet, demuxer.parameters) { return .broken("a packet contains no AV1 picture") }
        if let undecodable = losses?.takeUndecodable(), isShown, isInRequestedPart(time) {
            if joined.isEmpty { leading.lead(undecodable) } else { joined.report(undecodable) }
        }
        if isKey { joined.reachKey() }
        return hasDecoded || leading.admits(isKey: isKey, isShown: isShown) ? .send : .leaveOut
    }

    /// Begins to leave out the pictures of a recording before its first key picture.
    private mutating func skipToKey() {
        losses = unsafe LossDetector(demuxer.parameters.pointee)
        joined.skip()
    }

    /// Judges a packet of a recording before or at its first key picture, which is kept until the decoder has returned the
    /// pictures before it.
    private mutating func judgeBeforeKey(
        _ packet: UnsafeMutablePointer<AVPacket>, isKey: Bool, isShown: Bool, hasDecoded: Bool
    ) throws -> Verdict {
        guard isKey else {
            if isShown, unsafe isInRequestedPart(packet.pointee.pts) { joined.leaveOut() }
            return .leaveOut
        }
        let av = unsafe demuxer.av
        _ = unsafe losses?.loss(in: packet, av)
        nextRecording = unsafe try PacketCopy(of: packet, av)
        joined.reachKey()
        if !hasDecoded { _ = leading.admits(isKey: true, isShown: true) }
        return .beginRecording
    }

    /// Records that the decoder has returned all pictures.
    mutating func end() { joined.report() }

    /// Begins the next recording after the decoder has returned the pictures before it.
    mutating func beginRecording() {
        joined.report()
        if let nextRecording { replay.add(nextRecording) }
        nextRecording = nil
        // Packets that were sent so far gave no first picture.
        replay.forget()
    }
}

extension VideoCodec {
    /// Whether packets before the first key picture are skipped, because libavcodec's decoder cannot decode them.
    fileprivate var decodingBeginsAtKeys: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }
}
