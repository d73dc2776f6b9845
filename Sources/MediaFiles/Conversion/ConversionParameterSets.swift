import NALUnits
import VideoBase

/// The parameter sets before a stream's first picture. They are collected for a record, or inserted from one.
struct ConversionParameterSets {
    /// The parameter sets of the stream, each once, in the stream's order.
    private(set) var found: [[UInt8]] = []
    /// Whether the first picture has not arrived yet.
    private var isOpen = true
    /// Whether the output must wait, because parameter sets may still have to be inserted before the bytes that exist.
    var isHolding: Bool { isOpen && !recordSets.isEmpty }
    private let codec: VideoCodec
    private let recordSets: [[UInt8]]
    private let output: StreamConverter.Framing
    /// The length in the output of the delimiter that begins the stream, in bytes.
    private var delimiterEnd = 0
    private var isFirst = true

    init(codec: VideoCodec?, recordSets: [[UInt8]], output: StreamConverter.Framing) {
        self.codec = codec ?? .assumedForUnknownStreams
        self.recordSets = recordSets
        self.output = output
    }

    /// Processes the next NAL unit.
    /// - Parameter output: All bytes before the unit. At the first picture the missing parameter sets are inserted
    ///   here.
    mutating func note(_ unit: ArraySlice<UInt8>, before output: inout [UInt8]) throws(MalformedStream) {
        guard isOpen, !unit.isEmpty else { return }
        let kind = NALUnitKind(of: unit, codec)
        if kind == .slice {
            try put(into: &output)
            return
        }
        if kind.isParameterSet, !found.contains(where: { $0.elementsEqual(unit) }) {
            found.append(Array(unit))
        }
        // H.264 7.4.1.2.3: a delimiter comes first, and the parameter sets follow it.
        if isFirst, kind == .accessUnitDelimiter { delimiterEnd = 4 + unit.count }
        isFirst = false
    }

    /// Inserts the missing parameter sets without waiting any longer for the first picture.
    mutating func close(into output: inout [UInt8]) throws(MalformedStream) {
        if isOpen { try put(into: &output) }
    }

    /// The number of inserted NAL units.
    private(set) var added = 0

    private mutating func put(into result: inout [UInt8]) throws(MalformedStream) {
        isOpen = false
        var bytes: [UInt8] = []
        for set in recordSets where !found.contains(set) {
            try StreamConverter.write(set[...], as: output, to: &bytes)
            added += 1
        }
        if bytes.isEmpty { return }
        if case .lengthPrefixed(let size) = output, delimiterEnd > 0 { delimiterEnd += size.rawValue - 4 }
        result.insert(contentsOf: bytes, at: min(delimiterEnd, result.count))
    }
}
