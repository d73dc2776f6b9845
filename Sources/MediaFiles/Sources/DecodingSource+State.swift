import CLibAV
import LibAV
import VideoBase

extension DecodingSource {
    /// The state that reading changes.
    struct State {
        var demuxer: Demuxer
        /// Reads the packets instead of the demuxer if the last packet must be checked first.
        private var packets: CheckedPackets?
        private var watch: LossWatch?
        /// The time of a loss. Pictures from there on are not output.
        private(set) var lossTime: Int64?
        var decoder: any PictureDecoder
        var shaper: FrameShaper
        var nativeSize: VideoSize
        /// The sample aspect ratio that the stream states; nil if it states none.
        var codedAspect: Rational?
        /// The sample aspect ratio of the pictures after it has changed; nil before.
        var aspect: Rational?
        /// The first change of each kind in the stream.
        private(set) var changes: [EffectiveEntry] = []
        let range: SourceRange
        /// The number of pictures to output. It becomes the number of the pictures so far when the input ends.
        var frameLimit: Int
        /// The requested frame rate.
        let rate: Rational?
        /// How pictures are fitted after a change of their size or shape.
        let fit: FrameFit
        /// The pictures at the beginning that cannot be decoded.
        var leading: LeadingPictures
        /// The recordings that follow in the input and begin between their key pictures.
        private(set) var joined = JoinedRecordings()
        /// The first key picture of a recording, until the decoder has returned the pictures before it.
        private var joint: PacketCopy?
        /// Whether the decoder returns the pictures that it holds, before another recording begins.
        var isAtJoint: Bool { joint != nil }
        /// Whether a packet was returned for the decoder.
        private var hasSent = false
        /// The numbers of decoded pictures and of output pictures.
        var decoded = 0
        var delivered = 0
        var previous: Int64?
        var inputEnded = false
        /// The reason why the input ends early. It is reported after the good pictures.
        var failure: String?
        /// Whether the decoder's frame holds the first picture, which is not output yet.
        var isPrimed = false
        /// The packets that were sent to get the first picture, and those of them that another decoder must read again.
        var sent: [PacketCopy] = []
        var again: [PacketCopy] = []
        var dynamicHDR: [UInt8] = []
        /// The display matrix of the first image, empty if it has none; nil: the input is no sequence of images.
        var imageOrientation: [Int32]?

        init(demuxer: Demuxer, decoder: VideoDecoder, shaper: FrameShaper, nativeSize: VideoSize, range: SourceRange, rate: Rational?, fit: FrameFit) {
            self.demuxer = demuxer
            self.decoder = decoder
            self.shaper = shaper
            self.nativeSize = nativeSize
            self.range = range
            self.rate = rate
            self.fit = fit
            frameLimit = range.frameLimit
            packets = CheckedPackets(demuxer)
            let parameters = unsafe demuxer.parameters.pointee
            watch = unsafe LossWatch(parameters)
            leading = LeadingPictures(keepsToKeys: unsafe VideoCodec(libavcodecID: parameters.codec_id)?.decodingBeginsAtKeys ?? false)
        }

        /// Whether a picture at that time is at or after the requested start, and before the requested end.
        private func isInRequestedPart(_ time: Int64) -> Bool {
            time == vaenc_no_pts() || (!range.isCut || time >= range.origin) && range.ticksLeft(after: Int128(time) - Int128(range.origin)) > 0
        }

        mutating func read() throws -> InputContext.Reading {
            while true {
                let packet = unsafe decoder.packet!
                if !again.isEmpty {
                    try unsafe again.removeFirst().fill(packet)
                    return .packet
                }
                if isAtJoint { return .end }
                let reading = try unsafe packets?.read(packet) ?? demuxer.read(packet)
                if demuxer.lacksFirstPacket { leading.loseFirstPacket() }
                // An edit list hides the picture. Decoders use it as a reference, but do not output it.
                let hidden: Int32 = 4
                let isShown = unsafe packet.pointee.flags & hidden == 0
                if case .packet = reading, isShown { leading.see(unsafe packet.pointee.pts) }
                let key: Int32 = 1
                let isKey = unsafe packet.pointee.flags & key != 0
                if case .packet = reading {
                    let flags = unsafe packet.pointee.flags
                    unsafe packet.pointee.flags &= ~(Demuxer.timesJump | Demuxer.startsRecording)
                    if flags & Demuxer.timesJump != 0 { joined.jump() }
                    // A clock that was set inside a recording leaves no key picture out.
                    let isOther = flags & Demuxer.startsRecording != 0 || flags & Demuxer.timesJump != 0 && isKey
                    if isOther, hasSent { skipToKey() }
                }
                if case .packet = reading, joined.isSkipping {
                    if isKey { return try unsafe join(at: packet) }
                    unsafe leaveOut(packet, isShown)
                    continue
                }
                if case .packet = reading, let loss = unsafe watch?.loss(in: packet, demuxer.av) {
                    if joined.awaitsKey, hasSent {
                        skipToKey()
                        if isKey { return try unsafe join(at: packet) }
                        unsafe leaveOut(packet, isShown)
                        continue
                    }
                    if unsafe packet.pointee.pts != vaenc_no_pts() { lossTime = unsafe packet.pointee.pts }
                    unsafe demuxer.av.pointee.av_packet_unref!(packet)
                    return .broken(loss)
                }
                if case .packet = reading, unsafe AV1Check.isDamaged(packet, demuxer.parameters) {
                    unsafe demuxer.av.pointee.av_packet_unref!(packet)
                    return .broken("a packet contains no AV1 picture")
                }
                if case .packet = reading, let undecodable = watch?.takeUndecodable(), isShown,
                    unsafe isInRequestedPart(packet.pointee.pts)
                {
                    if joined.isEmpty { leading.lead(undecodable) } else { joined.report(undecodable) }
                }
                if case .packet = reading, isKey { joined.reachKey() }
                guard case .packet = reading else { return reading }
                if decoded > 0 || leading.admits(isKey: isKey, isShown: isShown) {
                    hasSent = true
                    return reading
                }
                unsafe demuxer.av.pointee.av_packet_unref!(packet)
            }
        }

        /// Begins to leave out the pictures of a recording before its first key picture.
        private mutating func skipToKey() {
            unsafe watch = LossWatch(demuxer.parameters.pointee)
            joined.skip()
        }

        /// Leaves out a packet of a recording before its first key picture.
        private mutating func leaveOut(_ packet: UnsafeMutablePointer<AVPacket>, _ isShown: Bool) {
            if isShown, unsafe isInRequestedPart(packet.pointee.pts) { joined.leaveOut() }
            unsafe demuxer.av.pointee.av_packet_unref!(packet)
        }

        /// Keeps the first key picture of a recording until the decoder has returned the pictures before it. Returns
        /// `end`, so that the decoder is drained.
        private mutating func join(at packet: UnsafeMutablePointer<AVPacket>) throws -> InputContext.Reading {
            _ = unsafe watch?.loss(in: packet, demuxer.av)
            joint = unsafe try PacketCopy(of: packet, demuxer.av)
            unsafe demuxer.av.pointee.av_packet_unref!(packet)
            joined.reachKey()
            if decoded == 0 { _ = leading.admits(isKey: true, isShown: true) }
            return .end
        }

        /// Records that the decoder has returned all pictures.
        mutating func end() { joined.report() }

        /// Begins a recording after the decoder has returned the pictures before it.
        mutating func beginRecording() {
            decoder.flush()
            joined.report()
            again += [joint].compactMap { $0 }
            // Packets that were sent so far gave no first picture.
            sent = []
            (deinterlacer, joint) = (nil, nil)
        }

        /// Records that the first picture was decoded.
        mutating func begin() {
            let time = unsafe frame?.pointee.pts ?? vaenc_no_pts()
            leading.begin(at: time == vaenc_no_pts() ? nil : time)
        }

        /// The deinterlacer, created for the first interlaced picture.
        var deinterlacer: Deinterlacer?
        /// Whether interlaced pictures were read.
        private(set) var isDeinterlaced = false
        /// Whether the current picture is the deinterlacer's, not the decoder's.
        var isProgressive = false

        /// The picture that `receive` returned, valid until the next `receive`. It may be on a device.
        var frame: UnsafePointer<AVFrame>? {
            unsafe UnsafePointer(isProgressive ? deinterlacer?.frame : decoder.frame)
        }
        /// The bits per sample of that picture; nil if the format is unknown.
        var frameDepth: Int? {
            guard let frame = unsafe frame else { return nil }
            var (width, height): (Int32, Int32) = (0, 0)
            var format = AVPixelFormat(rawValue: unsafe frame.pointee.format)
            _ = unsafe vaenc_surface_shape(frame, &width, &height, &format)
            return unsafe demuxer.av.pointee.av_pix_fmt_desc_get!(format).map { unsafe Int($0.pointee.comp.0.depth) }
        }

        mutating func addChange(_ option: String, asked: String, used: String, _ why: String) {
            if changes.contains(where: { $0.option == option }) { return }
            changes.append(
                EffectiveEntry(option: option, asked: asked, used: used, why: "\(why) at picture \(delivered)"))
        }

        /// Reports if the first picture of a cut begins late, because the picture that is shown at the requested start
        /// began before it and was dropped. Screen recordings and slide shows have such pictures.
        ///
        /// - Parameter seconds: The time of a picture after the start.
        mutating func noteFirst(seconds: Double) {
            guard range.isCut, delivered == 0, decoded > 1, seconds >= 0.5, !changes.contains(where: { $0.option == "first picture" }) else { return }
            changes.append(
                EffectiveEntry(
                    option: "first picture", asked: "at the start", used: "\((seconds * 1000).rounded() / 1000) s later",
                    why: "the picture that is displayed at the requested start begins earlier, so the part begins with the next picture"))
        }

        var isOnDevice: Bool { unsafe frame?.pointee.format == AV_PIX_FMT_VAAPI.rawValue }
        var frameIsKey: Bool { unsafe frame.map { unsafe vaenc_is_key($0) } ?? false }
        var frameIsDamaged: Bool { !isProgressive && decoder.frameIsDamaged }

        /// Reads the metadata of that picture.
        mutating func readMetadata() {
            // SAFETY: the frame holds its picture until the next `receive`.
            if let frame = unsafe frame { dynamicHDR = unsafe HDRSideData.dynamic(frame, demuxer.av) }
        }

        mutating func receive() throws -> DecoderAnswer {
            isProgressive = false
            if isPrimed {
                isPrimed = false
                sent = []
                return .frame
            }
            while true {
                if pull() { return .frame }
                let received = try decoder.receive()
                if case .end = received, let deinterlacer {
                    _ = unsafe deinterlacer.push(nil)
                    return pull() ? .frame : .end
                }
                guard case .frame = received, !decoder.frameIsDamaged, let frame = unsafe decoder.frame else { return received }
                if unsafe deinterlacer == nil && !vaenc_is_interlaced(frame) { return .frame }
                let copy = isOnDevice ? try decoder.pictureInMemory() : nil
                defer { withExtendedLifetime(copy) {} }
                let fields = unsafe copy?.frame ?? UnsafePointer(frame)
                if deinterlacer == nil {
                    isDeinterlaced = true
                    deinterlacer = unsafe try Deinterlacer(like: fields, timeBase: demuxer.stream.timeBase)
                }
                if unsafe deinterlacer?.push(fields) != true { return .broken }
            }
        }

        private mutating func pull() -> Bool {
            isProgressive = deinterlacer?.pull() ?? false
            return isProgressive
        }
    }
}

extension VideoCodec {
    /// Whether packets before the first key picture are skipped, because libavcodec's decoder cannot decode them.
    var decodingBeginsAtKeys: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }
}
