import CLibAV
import LibAV
import VideoBase

extension DecodingSource {
    /// The state that reading changes.
    struct State {
        var demuxer: Demuxer
        /// Reads the packets instead of the demuxer if the last packet must be checked first.
        var packets: CheckedPackets?
        var watch: LossWatch?
        /// The time of a loss. Pictures from there on are not output.
        var lossTime: Int64?
        var decoder: any PictureDecoder
        var shaper: FrameShaper
        var nativeSize: VideoSize
        /// The first change of each kind in the stream.
        var changes: [EffectiveEntry] = []
        /// The stream's time that becomes zero.
        var origin: Int64
        /// Whether a start was requested. Pictures before the origin are then dropped.
        var isCut = false
        /// The duration in seconds after which no picture is output.
        var duration: Double
        var frameLimit: Int
        var rate: Rational?
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

        /// Whether packets before the first key frame are not sent to the decoder. libavcodec's HEVC decoder generates
        /// the missing references, and would output these pictures. Other decoders do not output them.
        let keepsToKeys: Bool
        var awaitsKey = true
        /// Whether packets in front of the next key picture are left out because the first packet lacks data.
        var dropsToKey = false
        /// Whether the first key picture is damaged: the pictures up to the next key picture refer to it.
        var skipsToKey = false
        /// The number of pictures before the first that can be decoded.
        var leftOut = 0
        /// The number of pictures that lead the first key picture and cannot be decoded.
        var leading = 0
        /// The presentation times of the packets up to the first decoded picture.
        var seen: [Int64]? = []

        /// Whether a picture at that time is at or after the requested start.
        private func isInRequestedPart(_ time: Int64) -> Bool { !isCut || time == vaenc_no_pts() || time >= origin }

        mutating func read() throws -> InputContext.Reading {
            while true {
                let packet = unsafe decoder.packet!
                if !again.isEmpty {
                    try unsafe again.removeFirst().fill(packet)
                    return .packet
                }
                let reading = try unsafe packets?.read(packet) ?? demuxer.read(packet)
                if demuxer.lacksFirstPacket, !dropsToKey {
                    // Decoding begins at the next key picture.
                    leftOut += 1
                    (awaitsKey, dropsToKey) = (true, true)
                }
                // An edit list hides the picture. Decoders use it as a reference, but do not output it.
                let hidden: Int32 = 4
                let isShown = unsafe packet.pointee.flags & hidden == 0
                if case .packet = reading, isShown { seen?.append(unsafe packet.pointee.pts) }
                if case .packet = reading, let loss = unsafe watch?.loss(in: packet, demuxer.av) {
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
                    leading += undecodable
                }
                let key: Int32 = 1
                guard case .packet = reading, awaitsKey, decoded == 0 else { return reading }
                awaitsKey = unsafe packet.pointee.flags & key == 0
                if !awaitsKey { return reading }
                if isShown { leftOut += 1 }
                if !keepsToKeys, !dropsToKey { return reading }
                unsafe demuxer.av.pointee.av_packet_unref!(packet)
            }
        }

        /// Counts the pictures that were read before the first decoded picture and were not output, whether or not
        /// decoders report them.
        mutating func begin() {
            defer { seen = nil }
            guard !awaitsKey else {
                // The stream has no key frames.
                leftOut = 0
                return
            }
            let time = unsafe frame?.pointee.pts ?? vaenc_no_pts()
            guard time != vaenc_no_pts(), let seen, let index = seen.lastIndex(of: time) else { return }
            // If an edit list hides the first key picture, pictures that are shown later may still be output.
            leftOut = max(leftOut, seen[..<index].count { $0 < time })
        }

        /// The deinterlacer, created for the first interlaced picture.
        var deinterlacer: Deinterlacer?
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
