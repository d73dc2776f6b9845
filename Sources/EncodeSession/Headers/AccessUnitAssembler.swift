import EncodePlanning
import NALUnits
import VideoBase

/// Builds access units of the same form from the output of all drivers: our delimiter, parameter sets and SEI, then the
/// driver's slices and filler. Each NAL unit follows a four-byte start code.
///
/// The output of drivers that accept packed headers has this form and stays unchanged. Other drivers write their own
/// parameter sets or none. Their slice headers depend on these sets, so the sets are kept, with our cropping and VUI.
/// SEI from a driver is removed, because it would describe a rate control that the VUI does not describe.
struct AccessUnitAssembler: Sendable {
    private let codec: VideoCodec
    private let adapter: any CodecAdapter
    /// The parameter sets that the stream carries.
    private(set) var parameterSets: [[UInt8]]

    init(_ codec: VideoCodec, _ adapter: any CodecAdapter) {
        self.codec = codec
        self.adapter = adapter
        parameterSets = adapter.parameterSets
    }

    /// Assembles the access unit of a picture. Its headers are written now, because the delay depends on the pictures
    /// coded before.
    ///
    /// - Parameter delay: The removal delay if a buffering period begins with the picture.
    /// - Returns: The ranges of the NAL units in `bytes`.
    @discardableResult
    mutating func assemble(
        _ bytes: inout [UInt8], _ picture: InFlightPicture, delay: SEIMessage.InitialRemovalDelay?
    ) throws -> [Range<Int>] {
        try assemble(
            &bytes, adapter.leading(picture.plan, options: picture.frame.options, clock: picture.clock, delay: delay),
            prefix: picture.numbered.prefix)
    }

    /// Assembles an access unit in place.
    ///
    /// - Parameters:
    ///   - bytes: The driver's output; replaced by the access unit.
    ///   - leading: The NAL units that precede the slices.
    ///   - prefix: The NAL unit that precedes each slice; nil for none.
    /// - Returns: The ranges of the NAL units in `bytes`.
    /// - Throws: `deviceFailed` if `bytes` contains no slice.
    @discardableResult
    mutating func assemble(
        _ bytes: inout [UInt8], _ leading: LeadingUnits, prefix: [UInt8]? = nil
    ) throws -> [Range<Int>] {
        let found = AnnexB.units(in: bytes.span)
        if prefix == nil, isAsExpected(bytes, found: found, expected: leading.units) { return found }
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
                .deviceFailed, "the driver returned \(bytes.count) bytes without a slice",
                remedy:
                    "update the driver, use `rateController` vaenc if the driver controls the rate, or use "
                    + "`device: .software`")
        }
        // The slices refer to the driver's parameter sets.
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

    /// Returns a NAL unit of the driver. If filler follows a three-byte start code, it loses one byte, because its new
    /// start code has one more. The driver counts on the total size to fill the decoder's buffer.
    private func unit(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt8] {
        let isShort = range.lowerBound < 4 || bytes[range.lowerBound - 4] != 0
        guard isShort, NALUnitKind(of: bytes[range], codec) == .filler, range.count > 3 else { return Array(bytes[range]) }
        return bytes[range].dropLast(2) + bytes[range].suffix(1)
    }

    /// Returns the number of bytes of each slice among the NAL units of an access unit.
    static func slices(in bytes: [UInt8], _ units: [Range<Int>], _ codec: VideoCodec) -> [Int] {
        units.filter { NALUnitKind(of: bytes[$0], codec) == .slice }.map(\.count)
    }

    /// Whether the output consists of the expected units, then slices and the units that may follow them, each after a
    /// four-byte start code, and nothing else.
    private func isAsExpected(_ bytes: [UInt8], found: [Range<Int>], expected: [[UInt8]]) -> Bool {
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
