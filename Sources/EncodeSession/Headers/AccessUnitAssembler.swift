import H264Syntax
import NALWriting
import VideoBase

/// Makes access units of what drivers give out, the same from all of them: delimiter where asked, one SPS and one PPS
/// before the slices of every key frame, the identifier at the start, each behind a four-byte start code.
///
/// Drivers that take packed headers give that already, and their bytes are left alone. Others write parameter sets of
/// their own, or none; slice headers must be read with those, so they stay, with our cropping and VUI.
struct AccessUnitAssembler: Sendable {
    private let headers: StreamHeaders
    /// The driver took our parameter sets.
    private let packsParameterSets: Bool
    /// SPS and PPS as the stream carries them.
    private(set) var parameterSets: [[UInt8]]

    init(_ headers: StreamHeaders, packsParameterSets: Bool) {
        self.headers = headers
        self.packsParameterSets = packsParameterSets
        parameterSets = [headers.spsUnit, headers.ppsUnit]
    }

    /// - Throws: `deviceFailed` where there is no slice in `bytes`.
    mutating func assemble(_ bytes: inout [UInt8], type: PictureType, isFirst: Bool) throws {
        let found = AnnexB.units(in: bytes.span)
        let expected = headers.units(for: type, isFirst: isFirst)
        if isAsExpected(bytes, found, expected) { return }
        var sets: [NALUnitType: [UInt8]] = [:]
        var information: [[UInt8]] = []
        var slices: [Range<Int>] = []
        for range in found {
            switch NALUnitType(of: bytes[range]) {
            case .slice, .idrSlice: slices.append(range)
            case .sequenceParameterSet: sets[.sequenceParameterSet] = Array(bytes[range])
            case .pictureParameterSet: sets[.pictureParameterSet] = Array(bytes[range])
            case .sei: information.append(Array(bytes[range]))
            case .accessUnitDelimiter, .filler, .endOfSequence, nil: break
            }
        }
        guard !slices.isEmpty else {
            throw VaencError(
                .deviceFailed, "the driver gave \(bytes.count) bytes without a slice",
                remedy: "update the driver, or use --device software")
        }
        learn(sets)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 256)
        if headers.accessUnitDelimiters { AnnexB.append(AccessUnitDelimiter.unit(for: type.sliceType), to: &output) }
        if type.isKey { for set in parameterSets { AnnexB.append(set, to: &output) } }
        if isFirst, !information.contains(headers.identifierUnit) { AnnexB.append(headers.identifierUnit, to: &output) }
        for unit in information { AnnexB.append(unit, to: &output) }
        for range in slices { AnnexB.append(bytes[range], to: &output) }
        bytes = output
    }

    /// The expected units, then slices, each behind a start code of four bytes, and nothing else.
    private func isAsExpected(_ bytes: [UInt8], _ found: [Range<Int>], _ expected: [[UInt8]]) -> Bool {
        guard found.count > expected.count, found.last?.upperBound == bytes.count else { return false }
        var end = 0
        for (index, range) in found.enumerated() {
            guard range.lowerBound == end + 4 else { return false }
            end = range.upperBound
            if index < expected.count {
                guard bytes[range].elementsEqual(expected[index]) else { return false }
            } else {
                switch NALUnitType(of: bytes[range]) {
                case .slice, .idrSlice: break
                default: return false
                }
            }
        }
        return true
    }

    /// Takes over the parameter sets that the driver's slices are written for.
    private mutating func learn(_ sets: [NALUnitType: [UInt8]]) {
        if let sps = sets[.sequenceParameterSet] {
            parameterSets[0] =
                packsParameterSets ? sps : DriverSequenceParameterSet(unit: sps)?.adopting(headers.sps) ?? sps
        }
        if let pps = sets[.pictureParameterSet] { parameterSets[1] = pps }
    }
}
