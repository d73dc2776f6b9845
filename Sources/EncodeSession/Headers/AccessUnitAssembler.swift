import EncodePlanning
import NALUnits
import VideoBase

/// Makes access units of what drivers give out, the same from all of them: our delimiter, parameter sets and SEI, then
/// the driver's slices and filler, each behind a four-byte start code.
///
/// Drivers that take packed headers give that already, and their bytes are left alone. Others write parameter sets of
/// their own, or none; slice headers must be read with those, so they stay, with our cropping and VUI. SEI that a
/// driver adds goes: it would speak of a rate control that the VUI does not describe.
struct AccessUnitAssembler: Sendable {
    private let codec: VideoCodec
    private let adapter: any CodecAdapter
    /// Parameter sets as the stream carries them.
    private(set) var parameterSets: [[UInt8]]

    init(_ codec: VideoCodec, _ adapter: any CodecAdapter) {
        self.codec = codec
        self.adapter = adapter
        parameterSets = adapter.parameterSets
    }

    /// The picture's own headers, written now that it is known what was coded before it.
    ///
    /// - Parameter delay: how full the decoder's buffer is where a buffering period begins with the picture.
    /// - Returns: the ranges of the NAL units in `bytes`.
    @discardableResult
    mutating func assemble(
        _ bytes: inout [UInt8], _ picture: InFlightPicture, delay: SEIMessage.InitialRemovalDelay?
    ) throws -> [Range<Int>] {
        try assemble(
            &bytes, adapter.leading(picture.plan, picture.frame.options, picture.clock, delay: delay),
            prefix: picture.numbered.prefix)
    }

    /// - Parameters:
    ///   - leading: what goes before the slices.
    ///   - prefix: a NAL unit that goes before each slice; nil for none.
    /// - Returns: the ranges of the NAL units in `bytes`.
    /// - Throws: `deviceFailed` where there is no slice in `bytes`.
    @discardableResult
    mutating func assemble(
        _ bytes: inout [UInt8], _ leading: LeadingUnits, prefix: [UInt8]? = nil
    ) throws -> [Range<Int>] {
        let found = AnnexB.units(in: bytes.span)
        if prefix == nil, isAsExpected(bytes, found, leading.units) { return found }
        var sets: [NALUnitKind: [UInt8]] = [:]
        var kept: [Range<Int>] = []
        var hasSlice = false
        for range in found {
            let kind = NALUnitKind(of: bytes[range], codec)
            switch kind {
            case .slice:
                kept.append(range)
                hasSlice = true
            case .filler, .suffixSEI: if hasSlice { kept.append(range) }
            case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet: sets[kind] = Array(bytes[range])
            case .prefixSEI, .accessUnitDelimiter, .endOfSequence, .other: break
            }
        }
        guard hasSlice else {
            throw VaencError(
                .deviceFailed, "the driver gave \(bytes.count) bytes without a slice",
                remedy:
                    "update the driver, try `rateController` vaenc where it controls the rate, or use `DeviceSelector.software`")
        }
        // The slices are written for the driver's parameter sets.
        if !sets.isEmpty { parameterSets = adapter.adopting(sets, into: parameterSets) }
        var leading = leading
        if !leading.parameterSets.isEmpty { leading.parameterSets = parameterSets }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 256)
        var ranges: [Range<Int>] = []
        for unit in leading.units { AnnexB.append(unit, to: &output, &ranges) }
        for range in kept {
            if let prefix, NALUnitKind(of: bytes[range], codec) == .slice { AnnexB.append(prefix, to: &output, &ranges) }
            AnnexB.append(unit(bytes, range), to: &output, &ranges)
        }
        bytes = output
        return ranges
    }

    /// A NAL unit of the driver's. Filler behind a start code of three bytes loses the byte that this one gains: the
    /// driver has counted it, to fill the decoder's buffer up.
    private func unit(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt8] {
        let isShort = range.lowerBound < 4 || bytes[range.lowerBound - 4] != 0
        guard isShort, NALUnitKind(of: bytes[range], codec) == .filler, range.count > 3 else { return Array(bytes[range]) }
        return bytes[range].dropLast(2) + bytes[range].suffix(1)
    }

    /// The number of bytes of each slice among NAL units of an access unit.
    static func slices(in bytes: [UInt8], _ units: [Range<Int>], _ codec: VideoCodec) -> [Int] {
        units.filter { NALUnitKind(of: bytes[$0], codec) == .slice }.map(\.count)
    }

    /// The expected units, then slices and what may follow them, each behind a start code of four bytes, and nothing else.
    private func isAsExpected(_ bytes: [UInt8], _ found: [Range<Int>], _ expected: [[UInt8]]) -> Bool {
        guard found.count > expected.count, found.last?.upperBound == bytes.count else { return false }
        var end = 0
        var hasSlice = false
        for (index, range) in found.enumerated() {
            guard range.lowerBound == end + 4 else { return false }
            end = range.upperBound
            if index < expected.count {
                guard bytes[range].elementsEqual(expected[index]) else { return false }
            } else {
                switch NALUnitKind(of: bytes[range], codec) {
                case .slice: hasSlice = true
                case .filler where hasSlice, .suffixSEI where hasSlice: break
                default: return false
                }
            }
        }
        return hasSlice
    }
}
