public import NALUnits
import Synchronization
public import VideoBase

/// Turns a file or pipe of bare NAL units from one framing into another: Annex B and length-prefixed streams, of H.264 and
/// HEVC. What it holds is one NAL unit and the piece read last, whatever the length of the stream.
///
/// One thread runs it; `cancel` may come from any other.
public final class StreamConversion: Sendable {
    /// What is to be done.
    public struct Options: Sendable, Hashable {
        /// The input's framing; nil: by its first bytes (and by `record`).
        public var input: StreamConverter.Framing?
        public var output = StreamConverter.Framing.annexB
        /// nil: by the input's first NAL units.
        public var codec: VideoCodec?
        /// The record that goes with a length-prefixed input: its length size counts, and its parameter sets come first
        /// in the output where the stream does not begin with them.
        public var record: DecoderConfiguration?
        /// Where the record of a length-prefixed output goes; nil: nowhere.
        public var recordOutput: String?
        /// Replaces existing files.
        public var overwrite = false

        public init() {}
    }

    /// What was done.
    public struct Outcome: Sendable, Hashable {
        public var input: StreamConverter.Framing
        public var codec: VideoCodec?
        /// NAL units, and bytes, that were written.
        public var unitCount = 0
        public var byteCount = 0
    }

    /// As in messages.
    public let inputName: String
    private let options: Options
    private let reader: ByteReader
    private static let pieceSize = 1 << 18
    /// Bytes of the output that wait for the first picture at most.
    private static let longestHead = 1 << 24

    /// Opens a file, or `-` for standard input.
    /// - Throws: `DescribedError`: `noInput`, `noPermission`.
    public init(_ input: String, options: Options) throws {
        self.options = options
        reader = try ByteReader(path: input)
        inputName = reader.name
    }

    /// Makes `run` throw `interrupted` soon.
    public func cancel() { reader.cancel() }

    /// Converts all of the input into a file, or `-` for standard output. Files are written as `NAME.part` and renamed when
    /// all is well.
    /// - Throws: `DescribedError`: `badInput` with the offset where the input is not what it should be, `cannotCreate`,
    ///   `inputOutput`, `interrupted`.
    public func run(to output: String) throws -> Outcome {
        let head = try reader.peek(4096)
        if head.isEmpty { throw bad("it is empty", remedy: "give a stream with NAL units in it") }
        let kind = StreamKind(head: head, byteCount: reader.length)
        if kind == nil, options.input == nil || options.input == .annexB, options.record == nil, head.starts(with: [0, 0, 1]) || head.starts(with: [0, 0, 0, 1]) {
            throw bad("it is neither H.264 nor HEVC, as its first start code says", remedy: "make one of it with vaenc encode")
        }
        var outcome = Outcome(input: try framing(kind), codec: options.codec ?? options.record?.codec ?? kind?.codec)
        if let codec = outcome.codec, let named = VideoCodec(fileExtension: MediaOutput.pathExtension(output)), named != codec {
            throw VaencError(
                .usage, "\(inputName) is \(codec.rawValue), the name \(output) says \(named.rawValue)",
                remedy: "choose another name; vaenc encode makes one codec of another")
        }
        let file = try OutputFile(path: output, overwrite: options.overwrite)
        let recordFile = try options.recordOutput.map { try OutputFile(path: $0, overwrite: options.overwrite) }
        var sets = LeadingSets(codec: outcome.codec, given: options.record?.units ?? [], output: options.output)
        var converter = StreamConverter(from: outcome.input, to: options.output)
        var ready: [UInt8] = []
        func note(_ unit: ArraySlice<UInt8>, _ offset: Int, _ ready: inout [UInt8]) throws {
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
        // Neither is of use without the other: the disk has room for both before one gets its name.
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
            "it begins neither with a start code nor with lengths of NAL units",
            remedy: "name its framing (`StreamConversion.Options.input`), or take the stream out of its container with `Remuxer.run`")
    }

    private func record(of sets: [[UInt8]], _ codec: VideoCodec?) throws -> [UInt8] {
        var size = LengthSize.four
        if case .lengthPrefixed(let wanted) = options.output { size = wanted }
        // Parameter sets of one codec are none of another's.
        for codec in codec.map({ [$0] }) ?? VideoCodec.allCases {
            if let bytes = codec.decoderConfigurationRecord(sets, isComplete: false, lengthSize: size) { return bytes }
        }
        throw bad(
            "its first picture has no parameter sets before it that a record could hold",
            remedy: "leave out the record, or name the codec")
    }

    private func bad(_ words: String, remedy: String?) -> VaencError {
        VaencError(.badInput, "\(inputName): \(words)", remedy: remedy)
    }
}
