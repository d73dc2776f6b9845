import NALUnits
import Testing

@Suite struct FramingTests {
    static let a: [UInt8] = [0x67, 1, 2, 3]
    static let b: [UInt8] = [0x68, 0, 0, 3, 1]
    static let c: [UInt8] = [0x65] + [UInt8](repeating: 0x80, count: 100)

    @Test func annexBWritesFourByteStartCodes() {
        var stream: [UInt8] = []
        AnnexB.append(Self.a, to: &stream)
        AnnexB.append(Self.b, to: &stream)
        #expect(stream == [0, 0, 0, 1, 0x67, 1, 2, 3, 0, 0, 0, 1, 0x68, 0, 0, 3, 1])
        #expect(AnnexB.split(stream) == [Self.a, Self.b])
    }

    @Test func byteStreamsAreSplitIntoUnits() {
        #expect(AnnexB.split([0, 0, 1] + Self.a + [0, 0, 1] + Self.c) == [Self.a, Self.c])
        #expect(AnnexB.split([9, 9, 0, 0, 0, 0, 0, 1] + Self.a + [0, 0, 0, 0, 0]) == [Self.a])
        #expect(AnnexB.split([0, 0, 1, 0, 0, 1, 0, 0, 1, 0x41]) == [[0x41]])
        #expect(AnnexB.split(Self.a) == [])
        #expect(AnnexB.split([]) == [])
        #expect(AnnexB.split([0, 0, 1]) == [])
    }

    /// The start codes are at every distance, so that the wide scan meets every alignment.
    @Test func startCodesAreFoundAtEveryOffset() {
        for length in 1..<100 {
            let unit = [UInt8](repeating: 0x41, count: length)
            #expect(AnnexB.split([0, 0, 0, 1] + unit + [0, 0, 1] + Self.b) == [unit, Self.b])
        }
    }

    /// Escaped units hold no start code, so every small string is found whole.
    @Test func everySmallUnitIsFoundWhole() {
        var wrong = 0
        forEverySmallString(upTo: 6) { rbsp in
            let unit = [0x41] + EmulationPrevention.escaped(rbsp)
            var stream: [UInt8] = []
            AnnexB.append(unit, to: &stream)
            AnnexB.append(unit, to: &stream)
            if AnnexB.split(stream) != [unit, unit] { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test func startCodesAndLengthsConvertBothWays() throws {
        var bytes: [UInt8] = []
        for unit in [Self.a, Self.b, Self.c] { AnnexB.append(unit, to: &bytes) }
        let stream = bytes
        var sample: [UInt8] = []
        for unit in [Self.a, Self.b, Self.c] { LengthPrefixed.append(unit, to: &sample) }
        #expect(Array(sample[0..<8]) == [0, 0, 0, 4, 0x67, 1, 2, 3])
        LengthPrefixed.convert(annexB: &bytes)
        #expect(bytes == sample)
        try LengthPrefixed.convertToAnnexB(&bytes)
        #expect(bytes == stream)
        // A stream with three-byte start codes and extra zero bytes is rebuilt.
        var foreign = [0, 0, 1] + Self.a + [0, 0, 0, 0, 1] + Self.b + [0, 0, 1] + Self.c + [0]
        LengthPrefixed.convert(annexB: &foreign)
        #expect(foreign == sample)
    }

    @Test(arguments: LengthSize.allCases) func samplesOfAnyLengthSizeBecomeByteStreams(_ size: LengthSize) throws {
        var (sample, stream): ([UInt8], [UInt8]) = ([], [])
        for unit in [Self.a, Self.b, Self.c] {
            sample += [UInt8](repeating: 0, count: size.rawValue - 1) + [UInt8(unit.count)] + unit
            AnnexB.append(unit, to: &stream)
        }
        try LengthPrefixed.convertToAnnexB(&sample, lengthSize: size)
        #expect(sample == stream)
    }

    @Test func malformedLengthsAreRefused() throws {
        let cases: [([UInt8], MalformedStream)] = [
            ([0], .init(.truncatedLength, at: 0)), ([0, 0, 0], .init(.truncatedLength, at: 0)),
            ([0, 0, 0, 0], .init(.zeroLength, at: 0)), ([0, 0, 0, 1, 9, 0, 0, 0, 0], .init(.zeroLength, at: 5)),
            ([0, 0, 0, 2, 1], .init(.truncatedUnit(there: 1, of: 2), at: 4)),
            ([0xFF, 0xFF, 0xFF, 0xFF, 1], .init(.truncatedUnit(there: 1, of: 0xFFFF_FFFF), at: 4)),
            ([0, 0, 0, 4, 9, 0, 0, 1], .init(.startCodeInUnit, at: 4)), ([0, 0, 0, 2, 0, 0], .init(.startCodeInUnit, at: 4)),
        ]
        for (broken, error) in cases {
            var sample = broken
            #expect(throws: error) { try LengthPrefixed.convertToAnnexB(&sample) }
            #expect(sample == broken)
        }
        var empty: [UInt8] = []
        try LengthPrefixed.convertToAnnexB(&empty)
        #expect(empty == [])
    }

    @Test func avcCMatchesHandDerivedBytes() {
        let sps: [UInt8] = [0x67, 100, 0, 41, 0xAC]
        let pps: [UInt8] = [0x68, 0xEE]
        let record = AVCDecoderConfigurationRecord(parameterSets: [sps, pps])
        #expect(
            record?.bytes == [
                1, 100, 0, 41, 0xFF, 0xE1, 0, 5, 0x67, 100, 0, 41, 0xAC, 1, 0, 2, 0x68, 0xEE, 0xFD, 0xF8, 0xF8, 0,
            ])
        let baseline: [UInt8] = [0x67, 66, 0xC0, 30]
        #expect(
            AVCDecoderConfigurationRecord(parameterSets: [pps, baseline])?.bytes == [
                1, 66, 0xC0, 30, 0xFF, 0xE1, 0, 4, 0x67, 66, 0xC0, 30, 1, 0, 2, 0x68, 0xEE,
            ])
        #expect(AVCDecoderConfigurationRecord(parameterSets: [sps]) == nil)
        #expect(AVCDecoderConfigurationRecord(parameterSets: [pps]) == nil)
        #expect(AVCDecoderConfigurationRecord(parameterSets: [[0x67, 100], pps]) == nil)
    }
}
