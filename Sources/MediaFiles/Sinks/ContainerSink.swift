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

    /// The samples of key frames begin with the parameter sets.
    private var keepsParameterSets: Bool {
        (format == .mp4 || format == .mov) && options.hevcSampleEntry == .hev1
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
        if format == .mp4 || format == .mov, !state.file.isSeekable {
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
            try muxer.write(
                bytes, presentation: packet.presentation - origin, decode: packet.decode - origin, duration: duration,
                isKey: packet.isKey)
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
            }
            try state.file.commit()
            state.muxer = nil
        }
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
