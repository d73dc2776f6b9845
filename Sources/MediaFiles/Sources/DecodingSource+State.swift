import CLibAV
import LibAV
import VideoBase

extension DecodingSource {
    /// What reading changes.
    struct State {
        var demuxer: Demuxer
        /// In place of the demuxer's own where the last packet is to be looked at first.
        var packets: CheckedPackets?
        var watch: LossWatch?
        /// Where something was lost: pictures from there on are not given.
        var lossTime: Int64?
        var decoder: any PictureDecoder
        var shaper: FrameShaper
        var nativeSize: VideoSize
        /// The first of the stream's changes of each kind.
        var changes: [EffectiveEntry] = []
        /// Time of the stream that becomes zero.
        var origin: Int64
        /// A start is asked for: what is shown before the origin is not wanted.
        var isCut = false
        /// Seconds after which nothing is given.
        var duration: Double
        var frameLimit: Int
        var rate: Rational?
        /// Pictures decoded, and given.
        var decoded = 0
        var given = 0
        var previous: Int64?
        var inputEnded = false
        /// Why the input breaks off, told after the good pictures.
        var failure: String?
        /// The decoder's frame holds the first picture, which nobody has taken yet.
        var isPrimed = false
        /// Packets that were sent to have the first picture; to be read again by another decoder.
        var sent: [PacketCopy] = []
        var again: [PacketCopy] = []
        var dynamicHDR: [UInt8] = []

        /// libavcodec makes up what HEVC's pictures refer to and is not there, so none before a key frame is sent; other
        /// decoders leave such pictures out by themselves.
        let keepsToKeys: Bool
        var awaitsKey = true
        /// The first key picture is damaged: what follows it refers to it, up to the next.
        var skipsToKey = false
        /// Pictures before the first that can be decoded.
        var leftOut = 0
        /// Pictures that lead the first key picture, and cannot be decoded either.
        var leading = 0
        /// Presentation times of the packets up to the first picture that is decoded.
        var seen: [Int64]? = []

        /// What is shown then is not before the start.
        private func isAsked(_ time: Int64) -> Bool { !isCut || time == vaenc_no_pts() || time >= origin }

        mutating func read() throws -> InputContext.Reading {
            while true {
                let packet = unsafe decoder.packet!
                if !again.isEmpty {
                    try unsafe again.removeFirst().fill(packet)
                    return .packet
                }
                let reading = try unsafe packets?.read(packet) ?? demuxer.read(packet)
                // An edit list hides it: decoders take it for what refers to it, and give nothing.
                let hidden: Int32 = 4
                let isShown = unsafe packet.pointee.flags & hidden == 0
                if case .packet = reading, isShown { seen?.append(unsafe packet.pointee.pts) }
                if case .packet = reading, let loss = unsafe watch?.loss(in: packet, demuxer.av) {
                    if unsafe packet.pointee.pts != vaenc_no_pts() { lossTime = unsafe packet.pointee.pts }
                    unsafe demuxer.av.pointee.av_packet_unref!(packet)
                    return .broken(loss)
                }
                if case .packet = reading, let undecodable = watch?.takeUndecodable(), isShown, unsafe isAsked(packet.pointee.pts) {
                    leading += undecodable
                }
                let key: Int32 = 1
                guard case .packet = reading, awaitsKey, decoded == 0 else { return reading }
                awaitsKey = unsafe packet.pointee.flags & key == 0
                if !awaitsKey { return reading }
                if isShown { leftOut += 1 }
                if !keepsToKeys { return reading }
                unsafe demuxer.av.pointee.av_packet_unref!(packet)
            }
        }

        /// Takes note of the first picture: what was read before it and did not come out is left out, whether decoders say so or
        /// not.
        mutating func begin() {
            defer { seen = nil }
            guard !awaitsKey else {
                // A stream without key frames.
                leftOut = 0
                return
            }
            let time = unsafe frame?.pointee.pts ?? vaenc_no_pts()
            guard time != vaenc_no_pts(), let seen, let place = seen.lastIndex(of: time) else { return }
            // What is shown later may come out yet, where an edit list hides the first key picture.
            leftOut = max(leftOut, seen[..<place].count { $0 < time })
        }

        /// Once the first interlaced picture has come.
        var deinterlacer: Deinterlacer?
        /// The picture at hand is the deinterlacer's, not the decoder's.
        var isProgressive = false

        /// The picture that `receive` gave, until it is asked for the next; it may lie on a device.
        var frame: UnsafePointer<AVFrame>? {
            unsafe UnsafePointer(isProgressive ? deinterlacer?.frame : decoder.frame)
        }
        /// Bits of a sample of that picture; nil where the format has no name.
        var frameDepth: Int? {
            guard let frame = unsafe frame else { return nil }
            var (width, height): (Int32, Int32) = (0, 0)
            var format = AVPixelFormat(rawValue: unsafe frame.pointee.format)
            _ = unsafe vaenc_surface_shape(frame, &width, &height, &format)
            return unsafe demuxer.av.pointee.av_pix_fmt_desc_get!(format).map { unsafe Int($0.pointee.comp.0.depth) }
        }

        mutating func tell(_ option: String, asked: String, used: String, _ why: String) {
            if changes.contains(where: { $0.option == option }) { return }
            changes.append(EffectiveEntry(option: option, asked: asked, used: used, why: "\(why) at picture \(given)"))
        }

        var isOnDevice: Bool { unsafe frame?.pointee.format == AV_PIX_FMT_VAAPI.rawValue }
        var frameIsKey: Bool { unsafe frame.map { unsafe vaenc_is_key($0) } ?? false }
        var frameIsDamaged: Bool { !isProgressive && decoder.frameIsDamaged }

        /// Metadata of that picture.
        mutating func readMetadata() {
            // SAFETY: the frame holds its picture until the decoder is asked for the next.
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
    /// Whether packets in front of the first key picture are left out, which libavcodec's decoder cannot decode.
    var decodingBeginsAtKeys: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }
}
