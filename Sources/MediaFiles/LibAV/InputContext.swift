import CLibAV
import LibAV
import NALUnits
import VideoBase

/// A file that libavformat has opened and looked into: its streams, and their packets as they come. One thread at a time.
@safe final class InputContext {
    // SAFETY: made in init, freed in deinit; used by the owner's methods alone; `io` outlives `context`.
    let av: UnsafePointer<VaencLibAV>
    let context: UnsafeMutablePointer<AVFormatContext>
    let io: ReadContext
    /// Its structure says that there should be more.
    let endsEarly: Bool
    let name: String
    /// libavformat's first name of the format.
    let container: String
    /// What was read to learn of the streams, and is to be given yet.
    var ahead: [Ahead] = []
    /// Why the packet that was read last is taken for one that is cut short; nil where it is not.
    var fault: String?
    /// nil of formats whose clock does not wrap.
    var times: ContinuedTimes?
    /// Of each stream: `MediaTrack.adtsConfig`.
    var adtsConfigs: [Int: [UInt8]] = [:]
    private let reader: ByteReader
    private let start: Int
    /// Where the latest packet ends in the input; nil where that is not known.
    private var latestEnd: Int?

    /// Whether a format is that of images, one or several in a row, which have no times: libavformat takes 25 a second.
    static func holdsImages(_ container: String) -> Bool {
        container == "image2" || container == "mjpeg" || container.hasSuffix("_pipe")
    }

    /// Demuxers that make a picture of any text.
    private static let refused: Set<String> = ["tty", "bin", "xbin", "adf", "idf", "ansi", "rawvideo"]

    init(_ reader: ByteReader) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe self.av = unsafe av
        name = reader.name
        self.reader = reader
        start = reader.position
        if try reader.peek(1).isEmpty {
            throw VaencError(.badInput, "\(reader.name) is empty", remedy: "give a file with pictures or sound in it")
        }
        let lengths = try MediaInput.lengthPrefixed(reader)
        guard let io = unsafe ReadContext(reader, av, lengths: lengths?.size), let opened = unsafe av.pointee.avformat_alloc_context!() else {
            throw VaencError.noMemory("to read \(reader.name)")
        }
        self.io = io
        endsEarly = try FileEnd.isEarly(reader)
        io.early = try EarlyBlocks(reader)
        _ = LibAV.takeLog()
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe opened
        unsafe opened.pointee.pb = io.context
        unsafe opened.pointee.flags |= vaenc_flag_custom_io()
        // The name helps to tell formats without a signature apart. Frees the context where it fails.
        let codec = try lengths?.codec ?? (MediaInput.isScalableStream(reader) ? .h264 : nil)
        let known = unsafe codec.flatMap { unsafe av.pointee.av_find_input_format!($0.rawValue) }
        let code = unsafe av.pointee.avformat_open_input!(&context, FileName.cString(reader.name), known, nil)
        guard code >= 0, let context = unsafe context else {
            if LibAV.isNoMemory(code) { throw Self.noMemory(reader) }
            throw unsafe io.error ?? Self.unreadable(reader.name, io.fault?.message ?? LibAV.message(code, av))
        }
        unsafe self.context = unsafe context
        let format = unsafe String(cString: context.pointee.iformat.pointee.name)
        container = format.split(separator: ",").first.map(String.init) ?? format
        if container == "mpegts" || container == "mpeg" { times = ContinuedTimes() }
        if Self.refused.contains(format) { throw Self.unreadable(reader.name, "it holds text or bare bytes") }
        let found = unsafe av.pointee.avformat_find_stream_info!(context, nil)
        if found < 0 {
            if LibAV.isNoMemory(found) { throw Self.noMemory(reader) }
            if endsEarly { throw Self.unreadable(reader.name, Self.cut) }
            throw unsafe io.error ?? Self.unreadable(reader.name, LibAV.message(found, av))
        }
        try lookAtSound()
        try correctStarts()
    }

    /// What the file says of a stream.
    func track(_ index: Int) throws -> MediaTrack {
        unsafe try MediaTrack(context.pointee.streams[index]!, av, adtsConfig: adtsConfigs[index] ?? [])
    }

    /// Pipes are not: libavformat reads on to what it cannot go back from.
    var isSeekable: Bool { reader.isSeekable }

    /// Moves to the last key frame at or before a time of a stream, in its ticks.
    /// - Returns: libavformat's error where it is negative.
    func seek(_ stream: Int, to time: Int64) -> Int32 {
        ahead = []
        let backward: Int32 = 1
        return unsafe av.pointee.av_seek_frame!(context, Int32(stream), time, backward)
    }

    /// Moves to the first key frame of a stream.
    /// - Returns: libavformat's error where it is negative.
    func seekToFirst(_ stream: Int) -> Int32 {
        ahead = []
        let forward: Int32 = 0
        return unsafe av.pointee.av_seek_frame!(context, Int32(stream), 1 - Int64(Int32.max), forward)
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe av.pointee.avformat_close_input!(&context)
    }

    static func unreadable(_ name: String, _ words: String, remedy: String? = nil) -> VaencError {
        if LibAV.isNoMemory(words) { return .noMemory("to read \(name)") }
        return VaencError(
            .badInput, "\(name) is not a video that can be read (\(words))",
            remedy: remedy ?? wholeRemedy)
    }

    static let wholeRemedy = "check that the file is whole"
    /// For readers that take raw pictures too.
    static let layoutRemedy = wholeRemedy + ", or name its layout with `inputSize` and `inputFormat`"

    /// The error where libavformat has no memory: it asks for all that a damaged file announces.
    private static func noMemory(_ reader: ByteReader) -> VaencError {
        guard let fault = BoxCounts.fault(reader) else { return .noMemory("to read \(reader.name)") }
        return VaencError(.badInput, "\(reader.name) is damaged: \(fault)", remedy: "give a whole file")
    }

    static let cut = "the file ends early"
    /// What is to be said where the file became longer while it was read.
    var growth: String? { reader.growth }

    /// What to do about an input that is damaged or cut short: an MP4 whose index comes last cannot be read from a pipe.
    var pipeRemedy: String? { io.isPipe ? Self.pipeRemedy : nil }
    static let pipeRemedy = "if the file is whole, give its name instead of a pipe"
    /// libavformat's name of Y4M.
    static let y4m = "yuv4mpegpipe"
    /// What libavformat says of Matroska that makes no sense, before it goes on where it finds sense again.
    private static let nonsense = [
        "EBML number", "exceeds containing master element", "Unknown-sized element", "exceeds max length",
    ]

    enum Reading {
        case packet
        case end
        /// The file breaks off or is damaged here.
        case broken(String)
    }

    /// Fills `packet` with the next packet of any stream that is not discarded.
    /// - Throws: what reading the file throws.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Reading {
        let reading = try unsafe ahead.isEmpty ? readNext(packet) : takeAhead(packet)
        guard case .packet = reading else { return reading }
        // What becomes of a packet copies it, some times over, into arrays, which end the process where there is no memory.
        do { try unsafe MemoryTrial.require(6 * Int(packet.pointee.size), "to read \(name)") } catch {
            unsafe av.pointee.av_packet_unref!(packet)
            throw error
        }
        if let words = fault, try unsafe !isBeforeJump(packet) {
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

    /// What is reported of times that jump, as far as they were read; nil where none do.
    var timesEntry: EffectiveEntry? { times?.entry }

    /// Reads as libavformat does, and sets `fault`.
    func readNext(_ packet: UnsafeMutablePointer<AVPacket>) throws -> Reading {
        while true {
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
                // Matroska from a pipe says so and then gives an ordinary end.
                if let words = LibAV.takeLog(), words.hasPrefix("File ended prematurely") { return .broken(Self.cut) }
                // Some formats are read to where the file ended when it was opened.
                if reader.growth != nil, !reader.isAtNewEnd { return .broken(Self.cut) }
                return .end
            }
            if LibAV.isNoMemory(code) { throw Self.noMemory(reader) }
            if code < 0 { return unsafe .broken(LibAV.message(code, av)) }
            let corrupt: Int32 = 2
            let isCorrupt = unsafe packet.pointee.flags & corrupt != 0
            fault = isCorrupt ? (io.isAtEnd ? Self.cut : LibAV.takeLog() ?? "a packet is cut short") : nil
            unsafe packet.pointee.flags &= ~corrupt
            let place = unsafe packet.pointee.pos
            let (end, isOutside) = (start + Int(unsafe packet.pointee.size)).addingReportingOverflow(Int(place))
            latestEnd = place < 0 || isOutside ? nil : end
            if !io.early.isEmpty { unsafe setEarlyTime(of: packet) }
            return .packet
        }
    }

    /// At the end: libavformat takes Y4M that ends inside a picture as whole.
    private var isCutInPicture: Bool {
        guard container == Self.y4m, let latestEnd else { return false }
        return latestEnd < reader.length ?? reader.position
    }
}
