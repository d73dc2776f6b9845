import CLibAV
import LibAV
import VideoBase

/// Packets that are read before they are given: to learn of the streams, and of what their times mean.
extension InputContext {
    enum Ahead {
        /// With what libavformat says where it is cut short.
        case packet(TrackPacket, fault: String?)
        case reading(Reading)
        case error(any Error)
    }

    /// Packets, and their bytes, that wait at most.
    private static let aheadLimit = 4096
    private static let aheadByteLimit = 64 << 20

    /// Reads the next packet, to be given later.
    private func readAhead() throws {
        var scratch = unsafe av.pointee.av_packet_alloc!()
        defer { unsafe av.pointee.av_packet_free!(&scratch) }
        guard let packet = unsafe scratch else { throw TrackPacket.noMemory }
        do {
            let reading = try unsafe readNext(packet)
            guard case .packet = reading else { return ahead.append(.reading(reading)) }
        } catch { return ahead.append(.error(error)) }
        let one = try unsafe TrackPacket(taking: packet, timeBase: Rational(1, 1), av)
        ahead.append(.packet(one, fault: fault))
    }

    /// Looks at the times of the packets to come, and whether they are cut short, until `isEnough` says so or the input ends.
    private func lookAhead(until isEnough: (ContinuedTimes.Stamp, _ isCut: Bool) -> Bool) throws {
        var (place, bytes) = (0, 0)
        while place < Self.aheadLimit, bytes < Self.aheadByteLimit {
            if place == ahead.count { try readAhead() }
            guard case .packet(let next, let words) = ahead[place] else { return }
            if isEnough(unsafe stamp(next.packet), words != nil) { return }
            bytes += next.byteCount
            place += 1
        }
    }

    /// AAC in ADTS has its description in each packet: the first of each such stream is read. libavformat has found the stream's
    /// rate in it already, so it lies near the beginning.
    func lookAtSound() throws {
        var wanted = Set((0..<Int(unsafe context.pointee.nb_streams)).filter { index in
            let parameters = unsafe context.pointee.streams[index]!.pointee.codecpar!
            return unsafe parameters.pointee.codec_id == AV_CODEC_ID_AAC && parameters.pointee.extradata_size == 0
                && parameters.pointee.sample_rate > 0
        })
        while !wanted.isEmpty, ahead.count < Self.aheadLimit {
            try readAhead()
            guard case .packet(let one, _)? = ahead.last else { return }
            let index = Int(unsafe one.packet.pointee.stream_index)
            if wanted.remove(index) != nil { adtsConfigs[index] = unsafe ADTSFilter.config(one.packet, av) }
        }
    }

    func takeAhead(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Reading {
        switch ahead.removeFirst() {
        case .packet(let first, let words):
            guard unsafe av.pointee.av_packet_ref!(packet, first.packet) >= 0 else { throw TrackPacket.noMemory }
            fault = words
            return .packet
        case .reading(let reading): return reading
        case .error(let error): throw error
        }
    }

    private func stamp(_ packet: UnsafeMutablePointer<AVPacket>) -> ContinuedTimes.Stamp {
        let none = vaenc_no_pts()
        let (shown, decoded) = unsafe (packet.pointee.pts, packet.pointee.dts)
        return ContinuedTimes.Stamp(
            stream: Int(unsafe packet.pointee.stream_index), shown: shown == none ? nil : shown, decoded: decoded == none ? nil : decoded,
            duration: unsafe packet.pointee.duration)
    }

    /// Pictures and sound: the times of data and subtitles follow theirs, or mean nothing.
    func keepsTime(_ stream: Int) -> Bool {
        guard (0..<Int(unsafe context.pointee.nb_streams)).contains(stream) else { return false }
        let kind = unsafe context.pointee.streams[stream]!.pointee.codecpar.pointee.codec_type
        return kind == AVMEDIA_TYPE_VIDEO || kind == AVMEDIA_TYPE_AUDIO
    }

    /// Puts a packet on one timeline, where the format's clock may wrap and jump.
    func continueTimes(of packet: UnsafeMutablePointer<AVPacket>) throws {
        if times == nil { return }
        let first = unsafe stamp(packet)
        if let known = times, known.startsPart(first), keepsTime(first.stream) {
            // Every stream is shifted alike, so far that none goes back.
            var trial = known
            var missing = known.active(besides: first.stream).filter(keepsTime)
            var starts = [first]
            if !missing.isEmpty {
                try lookAhead { next, _ in
                    if missing.contains(next.stream) {
                        if trial.startsPart(next) {
                            missing.remove(next.stream)
                            starts.append(next)
                        } else {
                            _ = trial.take(next)
                        }
                    }
                    return missing.isEmpty || ContinuedTimes.isFar(next, behind: first)
                }
            }
            times?.begin(first, shift: trial.shift(beginning: starts))
        }
        guard let (shown, decoded) = times?.take(first) else { return }
        unsafe packet.pointee.pts = shown ?? vaenc_no_pts()
        unsafe packet.pointee.dts = decoded ?? vaenc_no_pts()
    }

    /// Whether the times of a packet's stream jump behind it: where a stream of MPEG-TS was joined to another, its counters do not go on, and
    /// libavformat takes the last packet before the joint for one that is cut short.
    func isBeforeJump(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Bool {
        let last = unsafe stamp(packet)
        guard times != nil, var before = last.time else { return false }
        var (count, isFound) = (0, false)
        try lookAhead { next, isCut in
            guard next.stream == last.stream, let time = next.time else { return false }
            // A packet of the file may be several here, and parsers give a picture with what follows it.
            if !isCut { count += 1 }
            isFound = ContinuedTimes.isJump(from: before, to: time)
            before = time
            return isFound || count == 2
        }
        return isFound
    }

    /// When the first picture of a stream is shown, in its ticks, where the file says it of later ones alone: times before 0 of Matroska
    /// are none for libavformat. nil of all others.
    func firstUntimed(of stream: Int, frameRate: Rational, timeBase: Rational) throws -> Int64? {
        guard container == "matroska" else { return nil }
        var (untimed, timed) = (0, 0)
        var first: Int64?
        try lookAhead { next, _ in
            guard next.stream == stream else { return false }
            if next.time == nil {
                untimed += 1
            } else {
                timed += 1
                if let shown = next.shown { first = min(first ?? shown, shown) }
            }
            // No more pictures are reordered than a decoder stores.
            return untimed == 0 || timed > 16
        }
        guard untimed > 0, let first else { return nil }
        let before = FrameTimes.ticks(of: untimed, frameRate, timeBase)
        return Int64(clamping: Int128(first) - Int128(before))
    }
}
