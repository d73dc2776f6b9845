import CLibAV
import LibAV
import VideoBase

/// A container with the encoder's pictures and other tracks, in a file, a folder or a network connection.
final class ContainerSink: PacketSink {
    let path: String
    let keptPart: String?
    private let format: OutputFormat
    private let options: SinkOptions
    private let state: Guarded<State>

    private struct State {
        var destination: any SinkDestination
        var muxer: Muxer?
        var description: EncoderDescription?
        var video: MediaTrack?
        var hasHeader = false
        /// The input time that becomes zero.
        var origin: MediaTime?
        /// The tracks in addition to the pictures.
        var tracks: [MediaTrack] = []
        /// The packets of other tracks that came before the first picture.
        var early: [(track: Int, packet: TrackPacket)] = []
        /// Additions to the file's sample table that libavformat does not write; nil if the format needs none.
        var randomAccess: RandomAccessTable?
        /// The size of the final file, if the file was rewritten at the end.
        var finalBytes: Int?
        /// Checks the decoding order of the pictures.
        var order = PacketOrder()
        /// The end of the last picture in presentation order.
        var end = MediaTime.zero
    }

    /// The maximum number of packets of other tracks that wait for the first picture.
    private static let earlyLimit = 4096

    /// Shortens the timeout of a blocking network call. It does not take the lock, which the blocked thread may hold.
    private let abortingBlockingIO: @Sendable () -> Void

    init(_ path: String, _ destination: sending any SinkDestination, format: OutputFormat, options: SinkOptions) {
        self.path = path
        self.format = format
        self.options = options
        keptPart = (destination as? WriteContext)?.file.keptPart
        let networkTimeout = destination.networkTimeout
        abortingBlockingIO = { networkTimeout?.shorten() }
        state = Guarded(State(destination: destination))
    }

    /// Whether the output has fragments, each with its own index. A pipe cannot seek back, and a file that must survive
    /// a kill may never get an end.
    private func isFragmented(_ destination: any SinkDestination) -> Bool {
        format == .fmp4 || format.hasSampleEntries && (!destination.isSeekable || options.survivesKill)
    }

    func add(_ track: MediaTrack) throws -> Int {
        try state.withLock { state in
            guard !state.hasHeader else {
                throw VaencError(.usage, "a track was added to \(path) after the first picture")
            }
            guard try format.holds(track) else {
                throw VaencError(
                    .usage, "\(format.rawValue) cannot contain \(format.words(for: track))",
                    remedy: "leave the track out, or use another format")
            }
            state.tracks.append(track)
            return state.tracks.count
        }
    }

    func start(_ description: EncoderDescription) throws {
        try state.withLock { state in
            guard format.holds(description.codec) else {
                throw VaencError(
                    .usage, "\(format.rawValue) cannot contain \(description.codec.rawValue)",
                    remedy: "use another codec or format")
            }
            try Validation.validate(frameRate: description.frameRate)
            guard description.size.isWithinLimits else {
                throw VaencError(.usage, "size \(description.size) is out of range", remedy: "sizes are \(VideoSize.limitWords)")
            }
            var extradata: [UInt8] = []
            if format.isLengthPrefixed(description.codec) {
                guard let record = EncodedSample.record(description, keepsParameterSets: keepsParameterSets) else {
                    throw VaencError(
                        .usage, "the description for \(path) lacks complete parameter sets",
                        remedy: "use the description of the prepared encoder that writes the packets")
                }
                extradata = record
            }
            state.description = description
            if format.hasSampleEntries, format != .fmp4, state.destination.isSeekable {
                state.randomAccess = RandomAccessTable(codec: description.codec)
            }
            state.muxer = try Muxer(format: format.muxerName, state.destination)
            state.video = try MediaTrack(
                MediaTrack.Encoded(
                    codec: description.codec, size: description.size, frameRate: description.frameRate,
                    bitDepth: description.profile.bitDepth, extradata: extradata,
                    sampleEntry: sampleEntry(of: description.codec), color: options.color,
                    masteringDisplay: options.masteringDisplay, contentLight: options.contentLight,
                    sampleAspectRatio: options.sampleAspectRatio,
                    displayMatrix: format.hasSampleEntries ? options.displayMatrix : []))
        }
    }

    /// The name of the sample entry. Segments of HLS have their parameter sets in the initialization section alone, and
    /// Apple's players accept `hvc1` only.
    private func sampleEntry(of codec: VideoCodec) -> HEVCSampleEntry? {
        if format == .hls { return codec.segmentFormat.hasSampleEntries ? .hvc1 : nil }
        return format.hasSampleEntries ? options.hevcSampleEntry : nil
    }

    /// Whether the samples of key frames begin with the parameter sets.
    private var keepsParameterSets: Bool { format.hasSampleEntries && options.hevcSampleEntry == .hev1 }

    /// Writes the header. This happens with the first picture, whose time determines the timescale.
    private func writeHeader(_ state: inout State, first: MediaTime) throws {
        guard let muxer = state.muxer, let description = state.description, let video = state.video else {
            throw VaencError(.internalFault, "packets for \(path) arrived before the stream's description")
        }
        let options = format.muxerOptions(
            description.codec, isFragmented: isFragmented(state.destination), isSeekable: state.destination.isSeekable,
            survivesKill: self.options.survivesKill, segments: state.destination as? SegmentFolder)
        let timescale = Self.timescale(description.frameRate.reduced.numerator, Int(first.timescale))
        _ = muxer.add(video, timescale: timescale)
        for track in state.tracks { _ = muxer.add(track) }
        let starts = state.early.compactMap { track, packet in packet.presentation.map { $0 + state.tracks[track - 1].priming } }
        let origin = self.options.timeOrigin ?? starts.reduce(first, min)
        try muxer.describe(self.options.metadata)
        if chapters(state.destination) == .atStart { try muxer.add(chaptersOf: self.options.metadata, from: origin, to: nil) }
        try muxer.writeHeader(options: options, copies: !state.tracks.isEmpty)
        state.hasHeader = true
        state.origin = origin
        for (track, packet) in state.early { try muxer.write(packet, track: track, origin: origin, copies: true) }
        state.early = []
    }

    private enum ChapterPosition { case atStart, atEnd, nowhere }

    /// Returns when chapters are written. This is the end if the container allows it, because only then it is known
    /// which chapters the pictures reach.
    private func chapters(_ destination: any SinkDestination) -> ChapterPosition {
        guard format.hasSampleEntries || format == .mkv else { return .nowhere }
        // A file that must survive a kill gets the chapters when it is rewritten at the end.
        if isFragmented(destination) { return options.survivesKill && destination.isSeekable ? .nowhere : .atStart }
        return destination.isSeekable ? .atEnd : .atStart
    }

    /// Returns a timescale in which the durations of the frame rate and the times of packets are whole numbers; 90000
    /// if there is none up to 1000000.
    static func timescale(_ a: Int, _ b: Int) -> Int32 {
        guard a > 0, b > 0, a <= Int32.max else { return 90_000 }
        // The least common multiple: the reduced fraction a/b has the numerator a/gcd.
        let (common, isOutside) = Rational(a, b).reduced.numerator.multipliedReportingOverflow(by: b)
        return !isOutside && common <= 1_000_000 ? Int32(common) : 90_000
    }

    func write(_ packet: EncodedPacket) throws {
        try packet.check()
        try state.withLock { state in
            try state.order.check(packet, in: path, mustIncrease: true)
            if !state.hasHeader { try writeHeader(&state, first: packet.presentation) }
            guard let muxer = state.muxer, let description = state.description, let origin = state.origin else {
                return
            }
            try description.codec.check(packet, in: path)
            let isKept = description.codec.samplesMayHaveParameterSets && keepsParameterSets
            let units =
                format.isLengthPrefixed(description.codec)
                ? EncodedSample.units(of: packet, description, keepsParameterSets: isKept) : nil
            if units?.isEmpty ?? false { throw EncodedSample.noUnits }
            if packet.changesFormat, !isKept, let units, EncodedSample.hasNewParameterSets(units, of: packet) {
                throw VaencError(
                    .usage, "the session's format changed, but \(format.rawValue) can contain only one (\(path))",
                    remedy: "start another output at the change, or write ts or a stream without a container")
            }
            let rate = description.frameRate.reduced
            let duration =
                packet.duration
                ?? MediaTime(value: Int64(rate.denominator), timescale: Int32(clamping: rate.numerator))
            state.randomAccess?.append(packet)
            state.end = max(state.end, packet.presentation + duration)
            // A fragment has only one kind of sync sample and begins with it: there every random access point is one.
            let isKey = state.randomAccess == nil || isFragmented(state.destination) ? packet.isRandomAccess : packet.isKey
            let isDelimited = format == .ts && description.codec.needsTransportDelimiters
            let delimiter = isDelimited ? TransportDelimiter.missing(from: packet.bytes.span) : nil
            let sample = try TrackPacket(
                packet.bytes, lengthPrefixing: units, behind: delimiter ?? [], presentation: packet.presentation - origin,
                decode: packet.decode - origin, duration: duration,
                isKey: isKey, timescale: muxer.timescale(of: 0))
            try muxer.write(sample, track: 0, origin: .zero)
        }
    }

    func write(_ packet: TrackPacket, track: Int) throws {
        try state.withLock { state in
            guard state.tracks.indices.contains(track - 1) else { throw VaencError(.usage, "\(path) has no track \(track)") }
            if !state.hasHeader {
                if state.early.count < Self.earlyLimit { return state.early.append((track, packet)) }
                try writeHeader(&state, first: packet.presentation ?? .zero)
            }
            try state.muxer?.write(packet, track: track, origin: state.origin ?? .zero, copies: true)
        }
    }

    var leftOut: [Int: String] {
        state.withLock { state in
            guard state.hasHeader, let muxer = state.muxer else { return [:] }
            return Dictionary(muxer.leftOut.map { ($0.track, $0.why) }) { first, _ in first }
        }
    }

    func finish() throws {
        try state.withLock { state in
            if state.muxer != nil {
                if !state.hasHeader { try writeHeader(&state, first: .zero) }
                if chapters(state.destination) == .atEnd {
                    try state.muxer?.add(chaptersOf: options.metadata, from: state.origin ?? .zero, to: state.end)
                }
                try state.muxer?.writeTrailer()
                state.muxer = nil
                try complete(&state)
            } else {
                try state.destination.commit()
            }
        }
    }

    private func complete(_ state: inout State) throws {
        guard let file = (state.destination as? WriteContext)?.file, file.isSeekable, format.hasSampleEntries, format != .fmp4
        else { return try state.destination.commit() }
        if options.survivesKill {
            let table = state.randomAccess
            let content = Defragmentation.Content(
                metadata: options.metadata, origin: state.origin ?? .zero, end: state.end)
            state.finalBytes = try Defragmentation.commit(file, format: format, content) {
                try table?.insert(into: $0, isQuickTime: format == .mov)
            }
        } else {
            try state.randomAccess?.insert(into: file, isQuickTime: format == .mov)
            try file.commit()
        }
    }

    func abortBlockingIO() { abortingBlockingIO() }

    func abandon() -> String? {
        state.withLock { state in
            if let file = (state.destination as? WriteContext)?.file, file.mayStayUnfinished, state.hasHeader, state.destination.error == nil {
                // The error that ends the recording is more important than one here.
                try? state.muxer?.writeWaiting()
            }
            state.muxer = nil
            let part = (state.destination as? WriteContext)?.file.keep(where: Self.plays)
            if part == nil { state.destination.cancel() }
            return part
        }
    }

    /// Whether an unfinished file contains a complete packet.
    static func plays(_ path: String) -> Bool {
        guard let input = try? InputContext(ByteReader(path: path)) else { return false }
        var packet = unsafe input.av.pointee.av_packet_alloc!()
        defer { unsafe input.av.pointee.av_packet_free!(&packet) }
        if let packet = unsafe packet, case .packet = unsafe try? input.read(packet) { return true }
        return false
    }

    func cancel() {
        state.withLock { state in
            state.muxer = nil
            state.destination.cancel()
        }
    }

    var bytesWritten: Int { state.withLock { $0.finalBytes ?? $0.destination.bytesWritten } }
}
