import Glibc
import NALWriting
import VideoBase

/// MP4, MOV, MKV or MPEG-TS. The first picture is shown at time zero.
final class ContainerSink: PacketSink {
    let path: String
    private let format: OutputFormat
    private let options: SinkOptions
    private let state: Guarded<State>

    private struct State {
        var file: OutputFile
        var muxer: Muxer?
        var description: EncoderDescription?
        var hasHeader = false
        /// The first packet's presentation time, which becomes zero.
        var origin: MediaTime?
        /// Where the file's sample table is to say more than libavformat writes.
        var randomAccess: RandomAccessTable?
    }

    init(_ file: sending OutputFile, format: OutputFormat, options: SinkOptions) {
        path = file.path
        self.format = format
        self.options = options
        state = Guarded(State(file: file))
    }

    private var muxerName: String {
        switch format {
        case .mkv: "matroska"
        case .ts: "mpegts"
        default: format.rawValue
        }
    }

    func start(_ description: EncoderDescription) throws {
        try state.withLock { state in
            guard format.holds(description.codec) else {
                throw VaencError(.usage, "\(format.rawValue) holds no \(description.codec.rawValue)")
            }
            var extradata: [UInt8] = []
            if format != .ts {
                guard let record = record(description) else {
                    throw VaencError(.internalFault, "the encoder gave no parameter sets for \(path)")
                }
                extradata = record
            }
            state.description = description
            if isQuickTime, state.file.isSeekable { state.randomAccess = RandomAccessTable(codec: description.codec) }
            state.muxer = try Muxer(
                format: muxerName, state.file,
                Muxer.Stream(
                    codec: description.codec, size: description.size, frameRate: description.frameRate,
                    bitDepth: description.profile.bitDepth, extradata: extradata,
                    keepsParameterSets: keepsParameterSets, color: options.color,
                    masteringDisplay: options.masteringDisplay, contentLight: options.contentLight,
                    sampleAspectRatio: options.sampleAspectRatio))
        }
    }

    private var isQuickTime: Bool { format == .mp4 || format == .mov }

    /// The samples of key frames begin with the parameter sets.
    private var keepsParameterSets: Bool {
        isQuickTime && options.hevcSampleEntry == .hev1
    }

    /// avcC or hvcC; nil where there are not all the parameter sets that it takes.
    private func record(_ description: EncoderDescription) -> [UInt8]? {
        let sets = description.parameterSets
        return switch description.codec {
        case .h264: AVCDecoderConfigurationRecord(parameterSets: sets)?.bytes
        case .hevc: HEVCDecoderConfigurationRecord(parameterSets: sets, isComplete: !keepsParameterSets)?.bytes
        }
    }

    /// The header is written with the first packet, whose time says what ticks the times are in.
    private func writeHeader(_ state: inout State, first: MediaTime) throws {
        guard let muxer = state.muxer, let description = state.description else {
            throw VaencError(.internalFault, "packets came for \(path) before the stream's description")
        }
        var options: [(name: String, value: String)] = []
        if isQuickTime, !state.file.isSeekable {
            // A pipe cannot be gone back in to write the index: fragments, each with its own.
            options.append(("movflags", "+frag_keyframe+empty_moov+default_base_moof"))
        }
        try muxer.writeHeader(
            timescale: Self.timescale(description.frameRate.reduced.numerator, Int(first.timescale)), options: options)
        state.hasHeader = true
        state.origin = first
    }

    /// Ticks in which both the frame rate's durations and the packets' times are whole, where there are such.
    static func timescale(_ a: Int, _ b: Int) -> Int32 {
        guard a > 0, b > 0, a <= Int32.max else { return 90_000 }
        // The least common multiple: reduced, a/b has the numerator a/gcd.
        let common = Rational(a, b).reduced.numerator * b
        return common <= 1_000_000 ? Int32(common) : 90_000
    }

    func write(_ packet: EncodedPacket) throws {
        try state.withLock { state in
            if !state.hasHeader { try writeHeader(&state, first: packet.presentation) }
            guard let muxer = state.muxer, let description = state.description, let origin = state.origin else {
                return
            }
            var bytes = packet.bytes
            if format != .ts {
                let isKept = description.codec == .hevc && keepsParameterSets
                bytes = Self.sample(bytes, description, keepsParameterSets: isKept)
            }
            let rate = description.frameRate.reduced
            let duration =
                packet.duration
                ?? MediaTime(value: Int64(rate.denominator), timescale: Int32(clamping: rate.numerator))
            state.randomAccess?.append(packet)
            // A fragment tells one kind alone and begins at it: a sync sample there is any where decoding may begin.
            try muxer.write(
                bytes, presentation: packet.presentation - origin, decode: packet.decode - origin, duration: duration,
                isKey: state.randomAccess == nil ? packet.isRandomAccess : packet.isKey)
        }
    }

    /// A packet as a container holds it, in length-prefixed form: without the parameter sets that its header has, and
    /// without delimiters, which have no use there.
    static func sample(
        _ packet: [UInt8], _ description: EncoderDescription, keepsParameterSets: Bool = false
    ) -> [UInt8] {
        var sample: [UInt8] = []
        sample.reserveCapacity(packet.count)
        for range in AnnexB.units(in: packet.span) {
            let header = packet[range.lowerBound]
            let type = description.codec == .h264 ? header & 31 : header >> 1 & 63
            let isDelimiter = type == (description.codec == .h264 ? 9 : 35)
            let isParameterSet = description.codec == .h264 ? (7...8).contains(type) : (32...34).contains(type)
            if isDelimiter { continue }
            if isParameterSet, !keepsParameterSets,
                description.parameterSets.contains(where: { $0.elementsEqual(packet[range]) })
            {
                continue
            }
            LengthPrefixed.append(packet[range], to: &sample)
        }
        return sample
    }

    func finish() throws {
        try state.withLock { state in
            if state.muxer != nil {
                if !state.hasHeader { try writeHeader(&state, first: .zero) }
                try state.muxer?.writeTrailer()
                try writeRandomAccess(&state)
            }
            try state.file.commit()
            state.muxer = nil
        }
    }

    /// Puts what libavformat leaves out into the movie box, which ends the file.
    private func writeRandomAccess(_ state: inout State) throws {
        guard let table = state.randomAccess, table.exceedsKeyFrames else { return }
        let length = try state.file.length()
        var start = 0
        while start + 16 <= length {
            let header = try state.file.read(16, at: start)
            func number(_ range: Range<Int>) -> Int { header[range].reduce(0) { $0 << 8 | Int($1) } }
            // Size 1 stands for one of 64 bits behind the name.
            let size = number(0..<4) == 1 ? number(8..<16) : number(0..<4)
            guard size >= 8, size <= length - start else { break }
            if header[4..<8].elementsEqual("moov".utf8) {
                guard start + size == length,
                    let movie = try table.inserted(into: state.file.read(size, at: start), isQuickTime: format == .mov)
                else { break }
                _ = try state.file.seek(to: start, whence: SEEK_SET)
                return try state.file.write(movie.span)
            }
            start += size
        }
        throw VaencError(.internalFault, "the index of \(path) is not as libavformat was thought to write it")
    }

    func cancel() {
        state.withLock { state in
            state.muxer = nil
            state.file.cancel()
        }
    }

    var bytesWritten: Int { state.withLock { $0.file.bytesWritten } }
}

extension MediaTime {
    /// The time from `b` to `a`, in ticks that hold both where there are such.
    static func - (a: MediaTime, b: MediaTime) -> MediaTime {
        if a.timescale == b.timescale { return a.earlier(byTicks: b.value) }
        let scale = max(a.timescale, b.timescale, 1)
        let other = max(min(a.timescale, b.timescale), 1)
        let isWhole = scale % other == 0 || Int64(scale) * Int64(other) > Int64(Int32.max)
        let fine = isWhole ? scale : scale * other
        let (low, high) = (Int128(max(b.timescale, 1)), Int128(max(a.timescale, 1)))
        let ticks = rounded((Int128(a.value) * low - Int128(b.value) * high) * Int128(fine), by: low * high)
        return MediaTime(value: ticks, timescale: fine)
    }
}
