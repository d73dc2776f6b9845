public import NALUnits
import Synchronization
public import VideoBase

/// Converts a file or pipe of bare NAL units from one framing to another: Annex B and length-prefixed streams of H.264
/// and HEVC. Independently of the stream's length, it holds only one NAL unit and the piece that was read last.
///
/// One thread runs it; any other thread may call `cancel`.
public final class StreamConversion: Sendable {
    /// The settings of a conversion.
    public struct Options: Sendable, Hashable {
        /// The input's framing; nil: detected from `record` or the first bytes.
        public var input: StreamConverter.Framing?
        /// The output's framing.
        public var output = StreamConverter.Framing.annexB
        /// The codec; nil: detected from `record` or the input's first NAL units.
        public var codec: VideoCodec?
        /// The record of a length-prefixed input. It defines the length size. Its parameter sets are inserted at the
        /// start of the output if the stream does not begin with them.
        public var record: DecoderConfiguration?
        /// The path for the record of a length-prefixed output; nil writes none.
        public var recordOutput: String?
        /// Whether to replace existing files.
        public var overwrite = false

        /// Creates the default settings.
        public init() {}
    }

    /// The result of a conversion.
    public struct Outcome: Sendable, Hashable {
        /// The input's framing.
        public var input: StreamConverter.Framing
        /// The codec; nil if it is unknown.
        public var codec: VideoCodec?
        /// The number of NAL units that were written.
        public var unitCount = 0
        /// The number of bytes that were written.
        public var byteCount = 0
    }

    /// The input's name in messages.
    public let inputName: String
    private let options: Options
    private let reader: ByteReader
    private static let pieceSize = 1 << 18
    /// The maximum size of the output that waits for the first picture, in bytes.
    private static let longestHead = 1 << 24

    /// Opens a file, or `-` for standard input.
    /// - Throws: `DescribedError`: `noInput`, `noPermission`.
    public init(_ input: String, options: Options) throws {
        self.options = options
        reader = try ByteReader(path: input)
        inputName = reader.name
    }

    /// Makes `run` throw `interrupted` soon. Any thread may call this.
    public func cancel() { reader.cancel() }

    /// Converts the whole input into a file, or to standard output for `-`. Files are written as `NAME.part`, and
    /// renamed after success. Blocks.
    /// - Throws: `DescribedError`: `badInput` with the offset if the input is invalid, `usage` if the output's name
    ///   means another codec, `cannotCreate`, `inputOutput`, `interrupted`.
    public func run(to output: String) throws -> Outcome {
        let head = try reader.peek(4096)
        if head.isEmpty { throw bad("the input is empty", remedy: "use a stream that contains NAL units") }
        let kind = StreamKind(head: head, byteCount: reader.length)
        if kind == nil, options.input == nil || options.input == .annexB, options.record == nil,
            head.starts(with: [0, 0, 1]) || head.starts(with: [0, 0, 0, 1])
        {
            throw bad(
                "the first NAL unit is neither H.264 nor HEVC", remedy: "encode the input with `Transcoder`")
        }
        var outcome = Outcome(input: try framing(kind), codec: options.codec ?? options.record?.codec ?? kind?.codec)
        if let codec = outcome.codec, let named = VideoCodec(fileExtension: MediaOutput.pathExtension(output)), named != codec {
            throw VaencError(
                .usage, "\(inputName) is \(codec.rawValue), but the name \(output) means \(named.rawValue)",
                remedy: "choose another name, or change the codec with `Transcoder`")
        }
        let file = try OutputFile(path: output, overwrite: options.overwrite)
        let recordFile = try options.recordOutput.map { try OutputFile(path: $0, overwrite: options.overwrite) }
        var sets = ConversionParameterSets(codec: outcome.codec, recordSets: options.record?.units ?? [], output: options.output)
        var converter = StreamConverter(from: outcome.input, to: options.output)
        var ready: [UInt8] = []
        func note(_ unit: ArraySlice<UInt8>, at offset: Int, into ready: inout [UInt8]) throws {
            outcome.unitCount += 1
            try sets.note(unit, before: &ready)
        }
        do {
            while true {
                let piece = try reader.readSome(Self.pieceSize)
                if piece.isEmpty { break }
                try converter.append(piece, to: &ready, onUnit: note)
                if sets.isHolding, ready.count > Self.longestHead { try sets.close(into: &ready) }
                if !sets.isHolding { try Self.write(&ready, to: file) }
            }
            try converter.finish(to: &ready, onUnit: note)
        } catch let error as MalformedStream {
            throw bad(error.message, remedy: error.remedy)
        }
        try sets.close(into: &ready)
        outcome.unitCount += sets.added
        try Self.write(&ready, to: file)
        if let recordFile {
            let bytes = try record(of: sets.found, outcome.codec)
            try recordFile.write(bytes.span)
        }
        outcome.byteCount = file.bytesWritten
        // Neither file is useful without the other. Both are on the disk before one of them is renamed.
        try file.settle()
        try recordFile?.settle()
        try file.commit()
        try recordFile?.commit()
        return outcome
    }

    private static func write(_ bytes: inout [UInt8], to file: OutputFile) throws {
        try file.write(bytes.span)
        bytes.removeAll(keepingCapacity: true)
    }

    private func framing(_ kind: StreamKind?) throws -> StreamConverter.Framing {
        if let input = options.input { return input }
        if let record = options.record { return .lengthPrefixed(record.lengthSize) }
        if let kind { return kind.framing }
        throw bad(
            "the input begins neither with a start code nor with the length of a NAL unit",
            remedy:
                "set its framing (`StreamConversion.Options.input`), or extract the stream from its container with "
                + "`Remuxer.run`")
    }

    private func record(of sets: [[UInt8]], _ codec: VideoCodec?) throws -> [UInt8] {
        var size = LengthSize.four
        if case .lengthPrefixed(let requestedSize) = options.output { size = requestedSize }
        // The parameter sets of one codec are invalid in the other.
        for codec in codec.map({ [$0] }) ?? VideoCodec.allCases {
            if let bytes = codec.decoderConfigurationRecord(sets, isComplete: false, lengthSize: size) { return bytes }
        }
        throw bad(
            "there are no parameter sets for the record before the first picture",
            remedy: "leave out the record, or set the codec")
    }

    private func bad(_ words: String, remedy: String?) -> VaencError {
        VaencError(.badInput, "\(inputName): \(words)", remedy: remedy)
    }
}
