import NALUnits
import Testing
import VideoBase

/// Converts start codes and lengths into each other. The tests build the expected bytes themselves.
@Suite struct ConversionTests {
    typealias Framing = StreamConverter.Framing

    /// Returns the NAL units as a length-prefixed stream.
    static func prefixed(_ units: [[UInt8]], _ size: LengthSize) -> [UInt8] {
        var stream: [UInt8] = []
        for unit in units {
            for byte in (0..<size.rawValue).reversed() { stream.append(UInt8(unit.count >> (8 * byte) & 255)) }
            stream.append(contentsOf: unit)
        }
        return stream
    }

    /// Returns the NAL units as a byte stream. `first` and `others` zero bytes precede each 01; `trailing` ones follow
    /// each unit.
    static func stream(_ units: [[UInt8]], first: Int = 3, others: Int = 3, trailing: Int = 0) -> [UInt8] {
        var stream: [UInt8] = []
        for (index, unit) in units.enumerated() {
            for _ in 0..<(index == 0 ? first : others) { stream.append(0) }
            stream.append(1)
            stream.append(contentsOf: unit)
            for _ in 0..<trailing { stream.append(0) }
        }
        return stream
    }

    /// Converts 488,281 payloads between byte streams (with three-byte and four-byte start codes, and with zero bytes
    /// around them) and lengths of every size.
    @Test func everySmallPayloadConvertsBothWays() throws {
        var units: [[UInt8]] = []
        forEverySmallString(upTo: 8) { units.append([0x41] + EmulationPrevention.escaped($0)) }
        #expect(units.count == 488_281)
        let forms = [Self.stream(units, others: 2), Self.stream(units), Self.stream(units, first: 7, others: 2, trailing: 3)]
        for size in LengthSize.allCases {
            let expected = Self.prefixed(units, size)
            for form in forms {
                #expect(try StreamConverter.convert(form, from: .annexB, to: .lengthPrefixed(size)) == expected)
            }
            #expect(try StreamConverter.convert(expected, from: .lengthPrefixed(size), to: .annexB) == forms[1])
        }
        var inPlace = forms[1]
        LengthPrefixed.convert(annexB: &inPlace)
        #expect(inPlace == Self.prefixed(units, .four))
        try LengthPrefixed.convertToAnnexB(&inPlace)
        #expect(inPlace == forms[1])
    }

    /// The strings are NAL units without emulation prevention. A byte stream can hold a unit that has no 00 00 01 and
    /// is not all zero; every other unit is refused at its offset.
    @Test func unescapedUnitsAreKeptOrRefused() throws {
        var (held, wrong) = (0, 0)
        forEverySmallString(upTo: 8) { unit in
            if unit.isEmpty { return }
            let hasStartCode = unit.indices.dropLast(2).contains { unit[$0...].starts(with: [0, 0, 1]) }
            let sample = Self.prefixed([[9], unit], .two)
            do {
                let stream = try StreamConverter.convert(sample, from: .lengthPrefixed(.two), to: .annexB)
                held += 1
                var found: [[UInt8]] = []
                var splitter = AnnexBSplitter()
                try splitter.append(stream) { bytes, _ in found.append(Array(bytes)) }
                try splitter.finish { bytes, _ in found.append(Array(bytes)) }
                let trimmed = unit[...(unit.lastIndex { $0 != 0 } ?? 0)]
                if hasStartCode || stream != Self.stream([[9], unit]) || found != [[9], Array(trimmed)] { wrong += 1 }
            } catch let error as MalformedStream {
                if error != MalformedStream(.startCodeInUnit, at: 5) { wrong += 1 }
                if !hasStartCode, unit.contains(where: { $0 != 0 }) { wrong += 1 }
            } catch { wrong += 1 }
        }
        #expect(wrong == 0)
        #expect(held > 400_000)
    }

    /// The units end in zero bytes, look like start codes, or are as long as a wide load.
    static let awkward: [[UInt8]] = [
        [0x67, 1, 2], [0x68, 0, 0, 3], [0x06, 0, 0, 2, 0, 5], [0x41], [0x65] + [UInt8](repeating: 0, count: 9) + [7],
        [UInt8](repeating: 0xAA, count: 31), [0x41, 0, 0, 3, 1], [UInt8](repeating: 1, count: 255), [0x61, 3],
    ]

    /// The stream is appended in pieces of every size, and in two pieces cut at every offset.
    @Test func piecesOfAnySizeAreConverted() throws {
        let stream = Self.stream(Self.awkward, first: 4, others: 2, trailing: 1)
        let sample = Self.prefixed(Self.awkward, .two)
        let framings: [(Framing, [UInt8], Framing, [UInt8])] = [
            (.annexB, stream, .lengthPrefixed(.one), Self.prefixed(Self.awkward, .one)),
            (.annexB, stream, .annexB, Self.stream(Self.awkward)),
            (.lengthPrefixed(.two), sample, .annexB, Self.stream(Self.awkward)),
            (.lengthPrefixed(.two), sample, .lengthPrefixed(.four), Self.prefixed(Self.awkward, .four)),
        ]
        for (from, bytes, to, expected) in framings {
            func converted(_ pieces: [ArraySlice<UInt8>]) throws -> [UInt8] {
                var converter = StreamConverter(from: from, to: to)
                var result: [UInt8] = []
                for piece in pieces { try converter.append(piece, to: &result) }
                try converter.finish(to: &result)
                return result
            }
            for size in 1...bytes.count {
                let starts = stride(from: 0, to: bytes.count, by: size)
                #expect(try converted(starts.map { bytes[$0..<min($0 + size, bytes.count)] }) == expected, "\(size)")
                #expect(try converted([bytes[..<size], [], bytes[size...]]) == expected, "\(size)")
            }
        }
    }

    @Test func unitOffsetsAreThoseOfTheStream() throws {
        let stream = Self.stream(Self.awkward, first: 4, others: 2, trailing: 1)
        for size in [1, 2, 3, 50, 1000] {
            var splitter = AnnexBSplitter()
            var count = 0
            func check(_ unit: ArraySlice<UInt8>, _ offset: Int) {
                #expect(unit.elementsEqual(Self.awkward[count]))
                #expect(stream[offset..<offset + unit.count].elementsEqual(unit))
                count += 1
            }
            for start in stride(from: 0, to: stream.count, by: size) {
                try splitter.append(stream[start..<min(start + size, stream.count)], check)
            }
            try splitter.finish(check)
            #expect(count == Self.awkward.count)
        }
    }

    /// A length-prefixed stream is cut at every offset: the error names the offset, and the units before it are
    /// converted.
    @Test(arguments: LengthSize.allCases) func cutStreamsAreReportedWithTheirOffset(_ size: LengthSize) throws {
        let stream = Self.prefixed(Self.awkward, size)
        var (lengthAt, whole) = (0, 0)
        for end in 0..<stream.count {
            let unitAt = lengthAt + size.rawValue
            if end == unitAt + Self.awkward[whole].count { (lengthAt, whole) = (end, whole + 1) }
            var converter = StreamConverter(from: .lengthPrefixed(size), to: .annexB)
            var result: [UInt8] = []
            try converter.append(stream[..<end], to: &result)
            #expect(result == Self.stream(Array(Self.awkward[..<whole])))
            let start = lengthAt + size.rawValue
            if end == lengthAt {
                try converter.finish(to: &result)
                continue
            }
            let fault: MalformedStream =
                end < start
                ? .init(.truncatedLength, at: lengthAt)
                : .init(.truncatedUnit(there: end - start, of: Self.awkward[whole].count), at: start)
            #expect(throws: fault) { try converter.finish(to: &result) }
        }
    }

    @Test(arguments: [1, 2, 100]) func malformedByteStreamsAreRefused(_ size: Int) throws {
        let cases: [([UInt8], MalformedStream)] = [
            ([], .init(.noStartCode, at: 0)), ([0x67, 1, 2], .init(.noStartCode, at: 0)),
            ([0, 0, 2, 0, 0, 1, 9], .init(.noStartCode, at: 2)), ([0, 5, 0, 0, 1, 9], .init(.noStartCode, at: 1)),
            ([0, 0, 1], .init(.emptyUnit, at: 0)), ([0, 0, 0, 1, 0, 0], .init(.emptyUnit, at: 1)),
            ([0, 0, 1, 9, 0, 0, 1, 0, 0, 1, 8], .init(.emptyUnit, at: 4)),
        ]
        for (bytes, error) in cases {
            #expect(throws: error, "\(bytes)") {
                var converter = StreamConverter(from: .annexB, to: .lengthPrefixed(.four))
                var result: [UInt8] = []
                for start in stride(from: 0, to: bytes.count, by: size) {
                    try converter.append(bytes[start..<min(start + size, bytes.count)], to: &result)
                }
                try converter.finish(to: &result)
            }
        }
        #expect(throws: MalformedStream.self) {
            var splitter = AnnexBSplitter()
            for _ in 0..<10 { try splitter.append([0, 0, 0]) { _, _ in } }
            try splitter.finish { _, _ in }
        }
    }

    /// The bytes 00 00 01 are a start code, or the length of a unit of 256 bytes and more, in both codecs.
    @Test func framingIsDetectedFromTheFirstBytes() {
        let h264: [[UInt8]] = [[0x67, 66, 0xC0, 30, 1], [0x68, 0xCE, 1], [0x65] + [UInt8](repeating: 0xA5, count: 300)]
        let hevc: [[UInt8]] = [[0x40, 1, 12, 1], [0x42, 1, 1, 1], [0x44, 1, 0xC1], [0x26, 1] + [UInt8](repeating: 0xA5, count: 300)]
        for (codec, units) in [(VideoCodec.h264, h264), (.hevc, hevc)] {
            for zeros in 2...4 {
                let stream = Self.stream(units, first: zeros, others: 2)
                #expect(StreamKind(head: stream) == StreamKind(framing: .annexB, codec: codec))
            }
            for size in [LengthSize.two, .four] {
                let stream = Self.prefixed(units, size)
                let kind = StreamKind(framing: .lengthPrefixed(size), codec: codec)
                for count in [stream.count, stream.count - 100] {
                    #expect(StreamKind(head: Array(stream[..<count]), byteCount: stream.count) == kind)
                }
            }
        }
        // The first NAL unit has 256 to 511 bytes, so its length begins like a start code.
        for count in [256, 300, 511] {
            let sei: [UInt8] = [6, 5] + [UInt8](repeating: 0xEE, count: count - 2)
            let stream = Self.prefixed([sei] + h264, .four)
            #expect(stream.starts(with: [0, 0, 1]))
            #expect(StreamKind(head: stream) == StreamKind(framing: .lengthPrefixed(.four), codec: .h264))
            #expect(StreamKind(head: Self.stream([sei] + h264, first: 2)) == StreamKind(framing: .annexB, codec: .h264))
        }
        for other in ["", "a text that is no video", "RIFF....AVI LIST", "\0\0\0\u{18}ftypmp42\0\0\0\0mp42isom\0\0\0\u{8}free"] {
            #expect(StreamKind(head: Array(other.utf8)) == nil, "\(other)")
        }
    }

    /// M2TS has a timestamp before each packet that may look like a length, and the packet begins like a parameter set
    /// of H.264.
    @Test func transportPacketsAreNotDetectedAsLengths() {
        for time: UInt32 in stride(from: 0, to: 1 << 30, by: 0x1234_5) {
            let header = (0..<4).reversed().map { UInt8(truncatingIfNeeded: time >> ($0 * 8)) }
            let packet = header + [0x47, 0x40, 0x11, 0x10] + [UInt8](repeating: 0xFF, count: 184)
            let head = Array((0..<5).map { _ in packet }.joined())
            guard StreamKind(head: head) == nil else {
                Issue.record("the time \(time)")
                return
            }
        }
    }

    /// A unit of the greatest length is converted, and one byte more is refused: for the length field and for the
    /// memory limit.
    @Test func unitsAboveTheLengthLimitAreRefused() throws {
        for (size, longest) in [(LengthSize.one, 255), (.two, 65535)] {
            for count in [longest, longest + 1] {
                let stream = Self.stream([[9], [UInt8](repeating: 0x41, count: count)])
                let convert = { try StreamConverter.convert(stream, from: .annexB, to: .lengthPrefixed(size)) }
                if count == longest {
                    #expect(try convert().count == 1 + count + 2 * size.rawValue)
                } else {
                    #expect(throws: MalformedStream(.unitTooLong(count, longest: longest), at: 9)) { try convert() }
                }
            }
        }
        for framing in [Framing.annexB, .lengthPrefixed(.four)] {
            for (count, isRefused) in [(50, false), (51, true), (4000, true)] {
                let units: [[UInt8]] = [[9, 9], [UInt8](repeating: 0x41, count: count)]
                let stream = framing == .annexB ? Self.stream(units) : Self.prefixed(units, .four)
                var converter = StreamConverter(from: framing, to: .annexB, longestUnit: 50)
                var result: [UInt8] = []
                var refused = false
                do {
                    for byte in stream { try converter.append([byte], to: &result) }
                    try converter.finish(to: &result)
                } catch let error as MalformedStream {
                    if case .unitTooLong(_, longest: 50) = error.fault { refused = true }
                }
                #expect(refused == isRefused, "\(framing) \(count)")
            }
        }
        // Endless zero bytes fill no memory.
        var flood = AnnexBSplitter(longestUnit: 100)
        #expect(throws: MalformedStream.self) {
            try flood.append([0, 0, 1, 9]) { _, _ in }
            for _ in 0..<10 { try flood.append([UInt8](repeating: 0, count: 100)) { _, _ in } }
        }
    }
}
