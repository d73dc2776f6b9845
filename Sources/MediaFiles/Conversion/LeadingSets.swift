import NALUnits
import VideoBase

/// The parameter sets that a stream has before its first picture: found for a record, or put there from one.
struct LeadingSets {
    /// Each once, in the stream's order.
    private(set) var found: [[UInt8]] = []
    /// The first picture has not come yet.
    private var isOpen = true
    /// The output must wait: sets may still have to be put before what there is of it.
    var isHolding: Bool { isOpen && !given.isEmpty }
    private let codec: VideoCodec
    private let given: [[UInt8]]
    private let output: StreamConverter.Framing
    /// Bytes of the delimiter that the stream begins with, in the output.
    private var delimiterEnd = 0
    private var isFirst = true

    init(codec: VideoCodec?, given: [[UInt8]], output: StreamConverter.Framing) {
        // The first NAL units may be of either codec: they are read as H.264's then.
        self.codec = codec ?? .h264
        self.given = given
        self.output = output
    }

    /// Takes note of the next NAL unit.
    /// - Parameter output: everything before it; at the first picture the sets that it lacks are put there.
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
        // 7.4.1.2.3: a delimiter stands first, parameter sets behind it.
        if isFirst, kind == .accessUnitDelimiter { delimiterEnd = 4 + unit.count }
        isFirst = false
    }

    /// Where no picture comes, or none for long.
    mutating func close(into output: inout [UInt8]) throws(MalformedStream) {
        if isOpen { try put(into: &output) }
    }

    /// NAL units put in.
    private(set) var added = 0

    private mutating func put(into result: inout [UInt8]) throws(MalformedStream) {
        isOpen = false
        var bytes: [UInt8] = []
        for set in given where !found.contains(set) {
            try StreamConverter.write(set[...], as: output, to: &bytes)
            added += 1
        }
        if bytes.isEmpty { return }
        if case .lengthPrefixed(let size) = output, delimiterEnd > 0 { delimiterEnd += size.rawValue - 4 }
        result.insert(contentsOf: bytes, at: min(delimiterEnd, result.count))
    }
}
