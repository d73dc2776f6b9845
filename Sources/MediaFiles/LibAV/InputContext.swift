import CLibAV
import LibAV
import NALUnits
import VideoBase

/// A file that libavformat has opened and probed. Returns its streams and packets. Only one thread may use it at a
/// time.
@safe final class InputContext {
    // SAFETY: created in `init`, freed in `deinit`, and used only by the owner's methods. `io` outlives `context`.
    let av: UnsafePointer<VaencLibAV>
    let context: UnsafeMutablePointer<AVFormatContext>
    let io: ReadContext
    /// Whether the file's structure announces more bytes than the file has.
    let endsEarly: Bool
    let name: String
    /// libavformat's first name of the format.
    let container: String
    /// The packets that were read ahead and are not returned yet.
    var ahead: [Ahead] = []
    /// The reason why the packet that was read last seems truncated; nil if it seems complete.
    var fault: String?
    /// The stream of the packet that the latest `read` did not return because it lacks data, and the reason; nil if there
    /// is none. Reading can continue after it.
    private(set) var rejected: (stream: Int, words: String)?
    /// Whether packets of sound that lack data are returned, with AV_PKT_FLAG_CORRUPT. Otherwise such a packet
    /// counts as damage of the file, as for pictures.
    var toleratesDamagedSound = false
    /// The timeline of the packets; nil for formats whose clock does not wrap.
    var times: ContinuedTimes?
    /// The kind of discontinuity between a packet and the previous packet of its stream.
    enum Discontinuity {
        case none
        /// The times jump.
        case times
        /// The times jump, and the continuity counter if there is one: another recording begins.
        case recording
    }
    /// The discontinuity before the latest packet.
    var discontinuity = Discontinuity.none
    /// The offset in the input of each stream's latest packet.
    var offsets: [Int: Int] = [:]
    /// The `MediaTrack.adtsConfig` of each stream.
    var adtsConfigs: [Int: [UInt8]] = [:]
    /// The first packet of a stream, if it lacks data. libavformat does not mark this packet: its parsers mark the
    /// packet before the damaged one, and there is none.
    private var firstCorrupt: (stream: Int, dts: Int64)?
    /// The reason for which such a packet is not returned.
    private static let lacksStart = "the first packet lacks data"
    private let reader: ByteReader
    private let start: Int
    /// The offset in the input of the end of the latest packet; nil if it is unknown.
    private var latestEnd: Int?

    /// Whether a format contains one image or a sequence of images. Images have no times, and libavformat assumes 25
    /// per second.
    static func holdsImages(_ container: String) -> Bool {
        container == "image2" || container == "mjpeg" || container.hasSuffix("_pipe")
    }

    /// Whether the input is a stream without a container, which has no times.
    var isBare: Bool { Self.isBare(container) }
    static func isBare(_ container: String) -> Bool { ["h264", "hevc"].contains(container) }

    /// Demuxers that interpret any text as a picture.
    private static let rejectedDemuxers: Set<String> = ["tty", "bin", "xbin", "adf", "idf", "ansi", "rawvideo"]

    init(_ reader: ByteReader) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe self.av = unsafe av
        name = reader.name
        self.reader = reader
        start = reader.position
        if try reader.peek(1).isEmpty {
            throw VaencError(.badInput, "\(reader.name) is empty", remedy: "use a file that contains pictures or sound")
        }
        let lengths = try MediaInput.lengthPrefixed(reader)
        guard let io = unsafe ReadContext(reader, av, lengths: lengths?.size), let opened = unsafe av.pointee.avformat_alloc_context!() else {
            throw VaencError.noMemory("to read \(reader.name)")
        }
        self.io = io
        endsEarly = try TruncationCheck.isTruncated(reader)
        io.blocksBeforeZero = try NegativeTimeBlocks(reader)
        _ = LibAV.takeLog()
        _ = LibAV.takeCorruptPacket()
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe opened
        // libavformat opens the pictures of a sequence itself.
        if reader.sequence == nil {
            unsafe opened.pointee.pb = io.context
            unsafe opened.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        }
        // The name helps to distinguish formats without a signature. On failure the call frees the context.
        let codec = try lengths?.codec ?? (MediaInput.isScalableStream(reader) ? .h264 : nil)
        var format = try codec?.rawValue ?? (Self.beginsInsideTransportPacket(reader) ? "mpegts" : nil)
        if reader.sequence != nil { format = "image2" }
        let known = unsafe format.flatMap { unsafe av.pointee.av_find_input_format!($0) }
        var dictionary: OpaquePointer?
        defer { unsafe av.pointee.av_dict_free!(&dictionary) }
        // Makes the MPEG-TS demuxer find streams that only a later program map adds. Other demuxers do not have this
        // option.
        let options = [(name: "scan_all_pmts", value: "1")] + (reader.sequence?.demuxerOptions ?? [])
        for option in options {
            let code = unsafe av.pointee.av_dict_set!(&dictionary, option.name, option.value, 0)
            if code >= 0 { continue }
            unsafe av.pointee.avformat_free_context!(opened)
            throw Self.noMemory(reader)
        }
        let address = reader.sequence?.demuxerName ?? reader.name
        let code = unsafe av.pointee.avformat_open_input!(&context, FileName.cString(address), known, &dictionary)
        guard code >= 0, let context = unsafe context else {
            if LibAV.isNoMemory(code) { throw Self.noMemory(reader) }
            throw unsafe io.error ?? Self.unreadable(reader.name, io.fault?.message ?? LibAV.message(code, av))
        }
        unsafe self.context = unsafe context
        let names = unsafe String(cString: context.pointee.iformat.pointee.name)
        container = names.split(separator: ",").first.map(String.init) ?? names
        if container == "mpegts" || container == "mpeg" { times = ContinuedTimes() }
        if container != "mpegts" { io.ignoreCounters() }
        if Self.rejectedDemuxers.contains(names) { throw Self.unreadable(reader.name, "it contains text or raw bytes") }
        // libavformat computes the decoding times of Matroska from the number of reordered pictures. If a picture lasts
        // for seconds, it finds this number only after the usual five.
        if container == "matroska", reader.isSeekable { unsafe context.pointee.max_analyze_duration = 90 * Int64(vaenc_time_base()) }
        let found = unsafe av.pointee.avformat_find_stream_info!(context, nil)
        if found < 0 {
            if LibAV.isNoMemory(found) { throw Self.noMemory(reader) }
            if endsEarly { throw Self.unreadable(reader.name, Self.cut) }
            throw unsafe io.error ?? Self.unreadable(reader.name, LibAV.message(found, av))
        }
        if container == "hls" { removeVariantTags() }
        firstCorrupt = LibAV.takeCorruptPacket()
        try readSoundConfigurations()
        try correctStarts()
    }

    /// Removes the tags that libavformat adds to the streams of a playlist. They are not tags of the input.
    private func removeVariantTags() {
        for index in 0..<Int(unsafe context.pointee.nb_streams) {
            _ = unsafe av.pointee.av_dict_set!(&context.pointee.streams[index]!.pointee.metadata, "variant_bitrate", nil, 0)
        }
    }

    /// Returns the file's description of a stream.
    func track(_ index: Int) throws -> MediaTrack {
        unsafe try MediaTrack(context.pointee.streams[index]!, av, adtsConfig: adtsConfigs[index] ?? [])
    }

    /// Whether the input can seek. A pipe cannot: libavformat reads past positions to which it would have to return.
    var isSeekable: Bool { reader.isSeekable }

    /// Moves to the last key frame at or before a time of a stream, in the stream's ticks.
    /// - Returns: libavformat's error if negative.
    func seek(_ stream: Int, to time: Int64) -> Int32 {
        ahead = []
        return unsafe av.pointee.av_seek_frame!(context, Int32(stream), time, AVSEEK_FLAG_BACKWARD)
    }

    /// Moves to the first key frame of a stream.
    /// - Returns: libavformat's error if negative.
    func seekToFirst(_ stream: Int) -> Int32 {
        ahead = []
        // Without AVSEEK_FLAG_BACKWARD, av_seek_frame moves to the first key frame at or after the time.
        return unsafe av.pointee.av_seek_frame!(context, Int32(stream), 1 - Int64(Int32.max), 0)
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe av.pointee.avformat_close_input!(&context)
    }

    static func unreadable(_ name: String, _ words: String, remedy: String? = nil) -> VaencError {
        if LibAV.isNoMemory(words) { return .noMemory("to read \(name)") }
        return VaencError(
            .badInput, "\(name) cannot be read as video (\(words))",
            remedy: remedy ?? wholeRemedy)
    }

    static let wholeRemedy = "check that the file is complete"
    /// The remedy of readers that also accept raw pictures.
    static let layoutRemedy = wholeRemedy + ", or set its layout with `inputSize` and `inputFormat`"

    /// Returns the error for a lack of memory in libavformat, which may be caused by a size that a damaged file
    /// announces.
    private static func noMemory(_ reader: ByteReader) -> VaencError {
        guard let fault = BoxCounts.fault(reader) else { return .noMemory("to read \(reader.name)") }
        return VaencError(.badInput, "\(reader.name) is damaged: \(fault)", remedy: "use a complete file")
    }

    static let cut = "the file is truncated"
    /// A message if the file became longer while it was read; nil otherwise.
    var growth: String? { reader.growth }

    /// The remedy for a damaged or truncated input from a pipe. An MP4 file with the index at its end cannot be read
    /// from a pipe.
    var pipeRemedy: String? { io.isPipe ? Self.pipeRemedy : nil }
    static let pipeRemedy = "if the file is complete, use its name instead of a pipe"
    /// libavformat's name of Y4M.
    static let y4m = "yuv4mpegpipe"
    /// The messages that libavformat logs for invalid Matroska data, before it continues at the next valid data.
    private static let nonsense = [
        "EBML number", "exceeds containing master element", "Unknown-sized element", "exceeds max length",
    ]

    enum Reading {
        case packet
        case end
        /// The file is truncated or damaged here.
        case broken(String)
    }

    /// Fills `packet` with the next packet of any stream that is not discarded.
    /// - Throws: The errors of reading the file.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Reading {
        rejected = nil
        let reading = try unsafe ahead.isEmpty ? readNext(packet) : takeAhead(packet)
        guard case .packet = reading else { return reading }
        // Later stages copy a packet several times into arrays. An array that gets no memory ends the process.
        do { try unsafe MemoryTrial.require(6 * Int(packet.pointee.size), "to read \(name)") } catch {
            unsafe av.pointee.av_packet_unref!(packet)
            throw error
        }
        if let words = fault, try unsafe !isBeforeJump(packet), unsafe !isAtRestart(packet) {
            if toleratesDamagedSound, words != Self.cut, unsafe isSound(packet) {
                unsafe packet.pointee.flags |= AV_PKT_FLAG_CORRUPT
                try unsafe continueTimes(of: packet)
                return .packet
            }
            rejected = unsafe (Int(packet.pointee.stream_index), words)
            unsafe av.pointee.av_packet_unref!(packet)
            return .broken(words)
        }
        try unsafe continueTimes(of: packet)
        let stream = Int(unsafe packet.pointee.stream_index)
        if keepsTime(stream), let words = times?.fault(of: stream) {
            unsafe av.pointee.av_packet_unref!(packet)
            return .broken(words)
        }
        return .packet
    }

    /// Whether the counter of the packet's stream jumps only because another segment or recording follows, or because
    /// whole pictures or sound packets are missing. The packet is then complete.
    private func isAtRestart(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
        let (index, offset) = unsafe (Int(packet.pointee.stream_index), Int(packet.pointee.pos))
        guard container == "mpegts", offset >= 0, (0..<Int(unsafe context.pointee.nb_streams)).contains(index) else {
            return false
        }
        // libavformat's id of an MPEG-TS stream is its PID.
        let pid = Int(unsafe context.pointee.streams[index]!.pointee.id)
        return io.isRestart(pid: pid, from: offset)
            || (unsafe isSound(packet) || detectsLosses(index)) && io.isBetweenUnits(pid: pid, from: offset)
    }

    /// Returns the notices about losses in the read streams so far: missing packets of MPEG-TS that left no damaged
    /// packet, and streams that end where another recording follows.
    func lossNotices(of streams: Set<Int>) -> [String] {
        let silent = (times?.silentStreams(of: streams.filter(keepsTime)) ?? []).map { index in
            "stream \(index) of \(name) ends where the times jump: after the jump, the stream is missing or has another codec"
        }
        return [missingPacketsNotice(streams)].compactMap { $0 } + silent
    }

    private func missingPacketsNotice(_ streams: Set<Int>) -> String? {
        guard container == "mpegts" else { return nil }
        let pids = streams.filter((0..<Int(unsafe context.pointee.nb_streams)).contains).map { Int(unsafe context.pointee.streams[$0]!.pointee.id) }
        let count = io.losses(of: Set(pids))
        if count == 0 { return nil }
        return "\(name) has lost packets at \(count == 1 ? "one point" : "\(count) points"): pictures or sound are missing there"
    }

    /// Whether missing pictures of a stream are detected by the pictures that refer to them.
    private func detectsLosses(_ stream: Int) -> Bool {
        VideoCodec(libavcodecID: unsafe context.pointee.streams[stream]!.pointee.codecpar.pointee.codec_id) != nil
    }

    private func isSound(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
        let index = Int(unsafe packet.pointee.stream_index)
        guard (0..<Int(unsafe context.pointee.nb_streams)).contains(index) else { return false }
        return unsafe context.pointee.streams[index]!.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
    }

    /// The report about discontinuous times that were read so far; nil if there are none.
    var timesEntry: EffectiveEntry? { times?.entry }

    /// Reads the next packet from libavformat, and sets `fault`.
    func readNext(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Reading {
        while true {
            if reader.sequence != nil { try reader.checkCancellation() }
            let code = unsafe av.pointee.av_read_frame!(context, packet)
            if let error = io.error { throw error }
            if container == "matroska", Self.nonsense.contains(where: LibAV.hasLogged) {
                unsafe av.pointee.av_packet_unref!(packet)
                return .broken(LibAV.takeLog() ?? Self.cut)
            }
            if code == vaenc_averror_again() { continue }
            if code == vaenc_averror_eof() {
                if let fault = io.fault { return .broken(fault.message) }
                if endsEarly || isCutInPicture || container == "mpegts" && io.isCutTransportStream { return .broken(Self.cut) }
                // For truncated Matroska from a pipe, libavformat logs this message and then returns an ordinary end.
                if let words = LibAV.takeLog(), words.hasPrefix("File ended prematurely") { return .broken(Self.cut) }
                // Some formats are read only to the end that the file had when it was opened.
                if reader.growth != nil, !reader.isAtNewEnd { return .broken(Self.cut) }
                return .end
            }
            if LibAV.isNoMemory(code) { throw Self.noMemory(reader) }
            if code < 0 { return unsafe .broken(LibAV.message(code, av)) }
            let isFirst = unsafe isFirstCorrupt(packet)
            let isCorrupt = unsafe packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0
            fault = isFirst ? Self.lacksStart : isCorrupt ? (io.isAtEnd ? Self.cut : LibAV.takeLog() ?? "a packet is truncated") : nil
            unsafe packet.pointee.flags &= ~AV_PKT_FLAG_CORRUPT
            let offset = unsafe packet.pointee.pos
            let (end, isOutside) = (start + Int(unsafe packet.pointee.size)).addingReportingOverflow(Int(offset))
            latestEnd = offset < 0 || isOutside ? nil : end
            if !io.blocksBeforeZero.isEmpty { unsafe setEarlyTime(of: packet) }
            return .packet
        }
    }

    /// Whether the input is MPEG-TS that begins inside a packet, such as the end of a recording. libavformat may take
    /// it for a bare stream.
    private static func beginsInsideTransportPacket(_ reader: ByteReader) throws -> Bool {
        try TransportPackets(reader.peek(4096)).map { $0.start > 0 } ?? false
    }

    /// Whether the packet is the first of its stream and lacks data.
    private func isFirstCorrupt(_ packet: UnsafePointer<AVPacket>) -> Bool {
        guard let known = firstCorrupt, known.stream == Int(unsafe packet.pointee.stream_index) else { return false }
        firstCorrupt = nil
        return unsafe packet.pointee.dts == known.dts
    }

    /// Whether the input has ended inside a Y4M picture. libavformat treats such a file as complete.
    private var isCutInPicture: Bool {
        guard container == Self.y4m, let latestEnd else { return false }
        return latestEnd < reader.length ?? reader.position
    }
}
