import CLibAV
import LibAV
import VideoBase

/// Packets that are read ahead of the caller, to determine the properties of the streams and the meaning of their
/// times.
extension InputContext {
    enum Ahead {
        /// A packet, with libavformat's message if the packet is truncated.
        case packet(TrackPacket, fault: String?)
        case reading(Reading)
        case error(any Error)
    }

    /// The maximum number of packets that wait.
    private static let aheadLimit = 4096
    /// The maximum size of the packets that wait, in bytes.
    private static let aheadByteLimit = 64 << 20

    /// Reads the next packet, and keeps it for a later `read`.
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

    /// Reads packets ahead until `isEnough` returns true or the input ends. `isEnough` receives each packet's times,
    /// and whether the packet is truncated.
    private func lookAhead(until isEnough: (ContinuedTimes.Stamp, _ isCut: Bool) -> Bool) throws {
        var (index, bytes) = (0, 0)
        while index < Self.aheadLimit, bytes < Self.aheadByteLimit {
            if index == ahead.count { try readAhead() }
            guard case .packet(let next, let words) = ahead[index] else { return }
            if isEnough(unsafe stamp(next.packet), words != nil) { return }
            bytes += next.byteCount
            index += 1
        }
    }

    /// Returns the earliest presentation time of a stream's next pictures, in its ticks; nil if none is known. It reads
    /// ahead as many pictures as a decoder reorders at most.
    func earliestShown(of stream: Int) throws -> Int64? {
        var earliest: Int64?
        var count = 0
        try lookAhead { next, _ in
            guard next.stream == stream else { return false }
            count += 1
            earliest = [earliest, next.shown].compactMap { $0 }.min()
            return count > 16
        }
        return earliest
    }

    /// Reads the AudioSpecificConfig of AAC streams in ADTS from the first packet of each. ADTS contains the
    /// description in every packet. libavformat has already read the stream's rate from that packet, so it is near the
    /// beginning.
    func readSoundConfigurations() throws {
        var missing = Set(
            (0..<Int(unsafe context.pointee.nb_streams)).filter { index in
                let parameters = unsafe context.pointee.streams[index]!.pointee.codecpar!
                return unsafe parameters.pointee.codec_id == AV_CODEC_ID_AAC && parameters.pointee.extradata_size == 0
                    && parameters.pointee.sample_rate > 0
            })
        while !missing.isEmpty, ahead.count < Self.aheadLimit {
            try readAhead()
            guard case .packet(let one, _)? = ahead.last else { return }
            let index = Int(unsafe one.packet.pointee.stream_index)
            if missing.remove(index) != nil { adtsConfigs[index] = unsafe ADTSFilter.config(one.packet, av) }
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

    /// Whether a stream has pictures or sound. The times of data and subtitles follow theirs, or have no meaning.
    func keepsTime(_ stream: Int) -> Bool {
        guard (0..<Int(unsafe context.pointee.nb_streams)).contains(stream) else { return false }
        let kind = unsafe context.pointee.streams[stream]!.pointee.codecpar.pointee.codec_type
        return kind == AVMEDIA_TYPE_VIDEO || kind == AVMEDIA_TYPE_AUDIO
    }

    /// Changes a packet's times to one timeline, if the format's clock may wrap and jump.
    func continueTimes(of packet: UnsafeMutablePointer<AVPacket>) throws {
        if times == nil { return }
        let first = unsafe stamp(packet)
        if let known = times, known.startsPart(first), keepsTime(first.stream) {
            // All streams get the same shift, which is large enough that none goes back.
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
        noteDiscontinuity(first.stream, at: Int(unsafe packet.pointee.pos))
        unsafe packet.pointee.pts = shown ?? vaenc_no_pts()
        unsafe packet.pointee.dts = decoded ?? vaenc_no_pts()
    }

    /// Sets `discontinuity` for a stream's packet at an offset of the input.
    private func noteDiscontinuity(_ stream: Int, at offset: Int) {
        discontinuity = .none
        if times?.isAfterJump(stream) == true, (0..<Int(unsafe context.pointee.nb_streams)).contains(stream) {
            // libavformat's id of an MPEG-TS stream is its PID.
            let pid = Int(unsafe context.pointee.streams[stream]!.pointee.id)
            // Program streams have no counters, so each jump counts as another recording.
            let isOther = container != "mpegts" || offsets[stream].map { io.takeJumps(pid: pid, from: $0, to: offset) } ?? false
            discontinuity = isOther ? .recording : .times
        }
        // The packets of a PES packet after the first have no offset.
        if offset >= 0 { offsets[stream] = offset }
    }

    /// Whether the times of a packet's stream jump after this packet. At a joint of two MPEG-TS streams the continuity
    /// counters jump too, and libavformat marks the last packet before the joint as truncated.
    func isBeforeJump(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Bool {
        let last = unsafe stamp(packet)
        guard times != nil, var before = last.time else { return false }
        var (count, isFound) = (0, false)
        try lookAhead { next, isCut in
            guard next.stream == last.stream, let time = next.time else { return false }
            // One packet of the file may become several here. Parsers also return a picture together with the bytes
            // that follow it.
            if !isCut { count += 1 }
            isFound = ContinuedTimes.isJump(from: before, to: time)
            before = time
            return isFound || count == 2
        }
        return isFound
    }

    /// Whether the file is Matroska with times before 0. libavformat does not return these times, so they are read from
    /// the file.
    var hasEarlyTimes: Bool { container == "matroska" && !io.blocksBeforeZero.isEmpty }

    /// Converts a Matroska track's time to ticks of its stream, and subtracts the beginning that the decoder discards
    /// (CodecDelay). Returns nil for video tracks that are stored as in AVI, because their times are decoding times.
    private func earlyTime(_ time: Int64, of stream: Int) -> Int64? {
        let parameters = unsafe context.pointee.streams[stream]!.pointee.codecpar!
        let base = unsafe context.pointee.streams[stream]!.pointee.time_base
        if unsafe parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO { return unsafe parameters.pointee.codec_tag == 0 ? time : nil }
        guard let priming = unsafe parameters.pointee.priming, base.num > 0, base.den > 0 else { return time }
        let delay = MediaTime.rounded(Int128(priming.samples) * Int128(base.den), by: Int128(priming.rate) * Int128(base.num))
        return Int64(clamping: Int128(time) - Int128(delay))
    }

    /// Sets a packet's times if they are before 0.
    func setEarlyTime(of packet: UnsafeMutablePointer<AVPacket>) {
        let index = Int(unsafe packet.pointee.stream_index)
        guard hasEarlyTimes, (0..<Int(unsafe context.pointee.nb_streams)).contains(index),
            let found = io.blocksBeforeZero.takeTime(at: Int(unsafe packet.pointee.pos), lasting: unsafe packet.pointee.duration),
            let time = earlyTime(found, of: index)
        else { return }
        let isReordered = unsafe context.pointee.streams[index]!.pointee.codecpar.pointee.video_delay > 0
        unsafe packet.pointee.pts = time
        unsafe packet.pointee.dts = isReordered ? vaenc_no_pts() : time
    }

    /// The number of packets in which the first of each stream is searched.
    private static let startLimit = 256

    /// Corrects the start times of streams that begin before 0. libavformat knows only their later times.
    func correctStarts() throws {
        guard hasEarlyTimes else { return }
        var missing = Set((0..<Int(unsafe context.pointee.nb_streams)).filter(keepsTime))
        var position = 0
        while !missing.isEmpty, position < Self.startLimit {
            if position == ahead.count { try readAhead() }
            guard case .packet(let one, _) = ahead[position] else { return }
            position += 1
            let index = Int(unsafe one.packet.pointee.stream_index)
            guard missing.remove(index) != nil,
                let found = io.blocksBeforeZero.start(ofTrackWithBlockAt: Int(unsafe one.packet.pointee.pos)),
                let start = earlyTime(found, of: index)
            else { continue }
            unsafe context.pointee.streams[index]!.pointee.start_time = start
        }
    }
}
