import ReferenceDriver
import TestOracles
import Testing

/// Compares with bits derived by hand from the tables of H.264 clause 9.
@Suite struct EntropyBitTests {
    /// Returns a slice with one macroblock of an I slice after a one-byte header of zero bits.
    private func slice(_ macroblock: MacroblockSyntax) -> [UInt8] {
        let writer = SliceEntropyWriter(widthInMacroblocks: 1)
        writer.begin(EntropySlice(), header: SliceHeaderBits(prefix: [0x65], payload: [], bitCount: 0))
        writer.write(macroblock, address: 0)
        return writer.finish()
    }

    /// Returns the bits, without spaces and with rbsp_trailing_bits, as bytes.
    private func bytes(_ bits: String) -> [UInt8] {
        var digits = bits.filter { $0 != " " } + "1"
        while digits.count % 8 != 0 { digits += "0" }
        let values = Array(digits.utf8)
        return stride(from: 0, to: values.count, by: 8).map { start in
            values[start..<(start + 8)].reduce(0) { $0 << 1 | ($1 & 1) }
        }
    }

    /// The syntax elements mb_type 0, 16 times prev_intra4x4_pred_mode_flag, intra_chroma_pred_mode 0,
    /// coded_block_pattern 1 (codeNum 29), and mb_qp_delta 0.
    private let intra4x4 = "1 1111111111111111 1 000011110 1"

    /// The textbook block 0, 3, 0, 1, −1, −1, 0, 1 has five levels, three trailing ones, and three zeros between them.
    @Test func blockMatchesHandDerivedBits() {
        var macroblock = MacroblockSyntax()
        macroblock.kind = .intra4x4
        macroblock.codedBlockPattern = 1
        for (index, level) in [0, 3, 0, 1, -1, -1, 0, 1].enumerated() { macroblock.setLevel(index, Int16(level)) }
        macroblock.setNonZeroCount(0, 5)
        // coeff_token, signs, levels 1 and 3, total_zeros, runs; then blocks 1 and 2 with nC 5, and block 3 with nC 0.
        let block = "0000100 011 1 0010 111 10 1 1 01"
        #expect(slice(macroblock) == [0x65] + bytes(intra4x4 + block + "1111 1111 1"))
    }

    /// The levels are at the bounds of level_prefix (9.2.2.1) and alone in a block: TotalCoeff is 1 without a trailing
    /// one, so the code starts 2 lower. The level is at index 15, so total_zeros is 15.
    @Test(arguments: [
        (2, "1"), (-2, "01"), (8, "0000000000001"), (-8, "00000000000001"), (9, "000000000000001 0000"),
        (-16, "000000000000001 1111"), (17, "0000000000000001 000000000000"),
        (-2064, "0000000000000001 111111111111"), (2065, "00000000000000001 0000000000000"),
        (-6160, "00000000000000001 1111111111111"), (6161, "000000000000000001 00000000000000"),
    ]) func levelPrefixesMatchHandDerivedBits(_ level: Int, _ code: String) {
        var macroblock = MacroblockSyntax()
        macroblock.kind = .intra4x4
        macroblock.codedBlockPattern = 1
        macroblock.setLevel(15, Int16(level))
        macroblock.setNonZeroCount(0, 1)
        // coeff_token is 1/0 with nC 0; blocks 1 and 2 have nC 1, and block 3 has nC 0.
        #expect(slice(macroblock) == [0x65] + bytes(intra4x4 + "000101" + code + "000000001" + "1 1 1"))
    }

    @Test func skipRunsAndMotionMatchHandDerivedBits() {
        let writer = SliceEntropyWriter(widthInMacroblocks: 4)
        var parameters = EntropySlice()
        parameters.type = .p
        parameters.referenceCounts = (2, 0)
        writer.begin(parameters, header: SliceHeaderBits(prefix: [0x41], payload: [0b1010_0000], bitCount: 3))
        let skip = MacroblockSyntax()
        var moved = MacroblockSyntax()
        moved.kind = .inter16x8
        for quadrant in 0..<4 {
            moved.setMotion(
                quadrant, reference: quadrant < 2 ? 1 : 0, difference: quadrant < 2 ? .init(1, -2) : .init(0, 3))
        }
        writer.write(skip, address: 0)
        writer.write(skip, address: 1)
        writer.write(moved, address: 2)
        writer.write(skip, address: 3)
        // The header, mb_skip_run 2, mb_type 1, ref_idx 1 and 0 (one inverted bit), mvd 1, −2, 0, 3,
        // coded_block_pattern 0 (codeNum 0), and mb_skip_run 1.
        #expect(writer.finish() == [0x41] + bytes("101 011 010 0 1 010 00101 1 00110 1 010"))
    }

    @Test func expGolombCodesMatchHandDerivedBits() {
        let unsigned = [
            (0, "1"), (1, "010"), (2, "011"), (3, "00100"), (6, "00111"), (7, "0001000"), (254, "000000011111111"),
        ]
        for (value, code) in unsigned {
            var writer = HeaderBitWriter()
            writer.putUnsigned(value)
            #expect(writer.bitCount == code.count)
            writer.putTrailingBits()
            #expect(writer.bytes == bytes(code), "ue(\(value))")
        }
        for (value, code) in [(0, "1"), (1, "010"), (-1, "011"), (2, "00100"), (-2, "00101"), (-3, "00111")] {
            var writer = HeaderBitWriter()
            writer.putSigned(value)
            writer.putTrailingBits()
            #expect(writer.bytes == bytes(code), "se(\(value))")
        }
        // The largest value has 31 zeros, then 32 ones.
        var writer = HeaderBitWriter()
        writer.putUnsigned(0xFFFF_FFFE)
        #expect(writer.bitCount == 63)
        #expect(writer.bytes == [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE])
        var reader = HeaderBitReader(writer.bytes, bitCount: writer.bitCount)
        #expect(reader.unsigned() == 0xFFFF_FFFE)
        #expect(!reader.failed)
        #expect(reader.unsigned() == 0)
        #expect(reader.failed)
    }

    @Test func writtenValuesAreReadBack() {
        var writer = HeaderBitWriter()
        let values = Array(0...600) + [65534, 65535, 1 << 20]
        for value in values {
            writer.putUnsigned(value)
            writer.putSigned(value)
            writer.putSigned(-value)
            writer.put(UInt32(value), 21)
        }
        var reader = HeaderBitReader(writer.bytes, bitCount: writer.bitCount)
        for value in values {
            #expect(reader.unsigned() == value)
            #expect(reader.signed() == value)
            #expect(reader.signed() == -value)
            #expect(reader.get(21) == UInt32(value))
        }
        #expect(reader.position == writer.bitCount && !reader.failed)
    }
}
