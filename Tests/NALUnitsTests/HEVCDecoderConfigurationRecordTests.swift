import NALUnits
import Testing

/// Compares hvcC with bytes derived by hand from ISO/IEC 14496-15 8.3.3.1 and H.265 7.3.2.2.1.
@Suite struct HEVCDecoderConfigurationRecordTests {
    private let vps: [UInt8] = [0x40, 0x01, 0x0C]
    private let pps: [UInt8] = [0x44, 0x01, 0xC1, 0x72]
    /// Profile space 0, Main tier, Main 10; compatible with 1 and 2; progressive, frames only; level 4.1.
    private let profile: [UInt8] = [0x02, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 123]

    /// Returns the bits as bytes, padded with zeros.
    private func bytes(_ bits: String) -> [UInt8] {
        let bits = bits.filter { $0 != " " }.map { $0 == "1" ? UInt8(1) : 0 }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) }
        }
    }

    private func bits(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (0..<8).map { byte >> UInt8(7 - $0) & 1 == 1 ? "1" : "0" }.joined() }.joined()
    }

    private func unit(_ payload: [UInt8]) -> [UInt8] { [0x42, 0x01] + EmulationPrevention.escaped(payload) }

    @Test func recordMatchesHandDerivedBytes() throws {
        // VPS 0, one sub-layer, nested; the profile; SPS 0, 4:2:0, 64×64, no window, 10 bits of luma and chroma.
        let sps = unit(bytes("0000 000 1" + bits(profile) + "1 010 0000001000001 0000001000001 0 011 011 1"))
        let record = try #require(HEVCDecoderConfigurationRecord(parameterSets: [pps, sps, vps], isComplete: true))
        let head: [UInt8] = [1] + profile + [0xF0, 0, 0xFC, 0xFD, 0xFA, 0xFA, 0, 0, 0x0F, 3]
        let arrays: [UInt8] =
            [0xA0, 0, 1, 0, 3] + vps + [0xA1, 0, 1, 0, UInt8(sps.count)] + sps + [0xA2, 0, 1, 0, 4] + pps
        #expect(record.bytes == head + arrays)
        let open = try #require(HEVCDecoderConfigurationRecord(parameterSets: [vps, sps, pps, pps], isComplete: false))
        let openArrays: [UInt8] =
            [0x20, 0, 1, 0, 3] + vps + [0x21, 0, 1, 0, UInt8(sps.count)] + sps + [0x22, 0, 2, 0, 4] + pps + [0, 4] + pps
        #expect(open.bytes == head + openArrays)
    }

    /// Sub-layers with their own profiles and levels, and a conformance window, precede the bit depths.
    @Test func bitDepthsAreReadAfterSubLayersAndWindow() throws {
        let layers = "11 01 00 00 00 00 00 00" + bits([UInt8](repeating: 0, count: 11)) + bits([90]) + bits([93])
        let sps = unit(
            bytes("0000 010 0" + bits(profile) + layers + "1 010 0000001000001 0000001000001 1 1 011 1 00100 010 011 1"))
        let record = try #require(HEVCDecoderConfigurationRecord(parameterSets: [vps, sps, pps], isComplete: true))
        // Three layers, not nested; 9 bits of luma, 10 of chroma.
        #expect(Array(record.bytes[16..<23]) == [0xFD, 0xF9, 0xFA, 0, 0, 0x1B, 3])
    }

    @Test func incompleteParameterSetsAreRefused() {
        let text = "0000 000 1" + bits(profile) + "1 010 0000001000001 0000001000001 0 011 011 1"
        let sps = unit(bytes(text))
        #expect(HEVCDecoderConfigurationRecord(parameterSets: [vps, sps, pps], isComplete: true) != nil)
        for sets in [[sps, pps], [vps, pps], [vps, sps], [vps, sps, pps, [UInt8](repeating: 0x44, count: 65536)], []] {
            #expect(HEVCDecoderConfigurationRecord(parameterSets: sets, isComplete: true) == nil)
        }
        for count in 0..<sps.count - 1 {
            let cut = Array(sps[..<count])
            #expect(HEVCDecoderConfigurationRecord(parameterSets: [vps, cut, pps], isComplete: true) == nil, "\(count)")
        }
    }
}
