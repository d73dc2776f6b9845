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
    private let codec: VideoCodec?
    private let given: [[UInt8]]
    private let output: StreamConverter.Framing
    /// Bytes of the delimiter that the stream begins with, in the output.
    private var delimiterEnd = 0
    private var isFirst = true

    init(codec: VideoCodec?, given: [[UInt8]], output: StreamConverter.Framing) {
        self.codec = codec
        self.given = given
        self.output = output
    }

    /// Takes note of the next NAL unit.
    /// - Parameter output: everything before it; at the first picture the sets that it lacks are put there.
    mutating func note(_ unit: ArraySlice<UInt8>, before output: inout [UInt8]) throws(MalformedStream) {
        guard isOpen, let first = unit.first else { return }
        let isHEVC = codec == .hevc
        let type = isHEVC ? first >> 1 & 63 : first & 31
        let isSlice = isHEVC ? type < 32 : (1...5).contains(type)
        if isSlice {
            try put(into: &output)
            return
        }
        if (isHEVC ? 32...34 : 7...8).contains(type), !found.contains(where: { $0.elementsEqual(unit) }) {
            found.append(Array(unit))
        }
        // 7.4.1.2.3: a delimiter stands first, parameter sets behind it.
        if isFirst, type == (isHEVC ? 35 : 9) { delimiterEnd = 4 + unit.count }
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
