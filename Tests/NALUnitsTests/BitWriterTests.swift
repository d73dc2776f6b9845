import NALUnits
import Testing

@Suite struct BitWriterTests {
    /// Returns the written bits as text.
    private func bits(_ write: (inout BitWriter) -> Void) -> String {
        var writer = BitWriter()
        write(&writer)
        let text = writer.bytes.map { byte in
            (0..<8).map { byte >> (7 - $0) & 1 == 1 ? "1" : "0" }.joined()
        }.joined()
        return String(text.prefix(writer.bitCount))
    }

    /// Compares with the rows of H.264 Table 9-2.
    @Test func unsignedExpGolombMatchesTheTable() {
        for (value, code) in [
            (0, "1"), (1, "010"), (2, "011"), (3, "00100"), (4, "00101"), (6, "00111"), (7, "0001000"), (8, "0001001"),
        ] {
            #expect(bits { $0.ue(value) } == code)
        }
        #expect(bits { $0.ue(UInt32.max - 1) }.count == 63)
        #expect(bits { $0.ue(UInt32.max - 1) } == String(repeating: "0", count: 31) + String(repeating: "1", count: 32))
    }

    /// Compares with the rows of H.264 Table 9-3: 1, −1, 2, −2 … have the codes 1, 2, 3, 4 ….
    @Test func signedExpGolombMatchesTheTable() {
        for (value, code) in [(0, "1"), (1, "010"), (-1, "011"), (2, "00100"), (-2, "00101"), (3, "00110")] {
            #expect(bits { $0.se(value) } == code)
        }
    }

    /// 9.1: with a maximum of 1, the code is one inverted bit, otherwise ue(v).
    @Test func truncatedExpGolombMatchesTheStandard() {
        #expect(bits { $0.te(0, maximum: 1) } == "1")
        #expect(bits { $0.te(1, maximum: 1) } == "0")
        #expect(bits { $0.te(2, maximum: 3) } == "011")
    }

    @Test func fixedLengthValuesAreWritten() {
        #expect(bits { $0.u(0, 0) } == "")
        #expect(bits { $0.u(5, 9) } == "01001")
        #expect(
            bits {
                $0.u(3, 5); $0.u(32, UInt32.max); $0.u(1, 0)
            } == "101" + String(repeating: "1", count: 32) + "0")
    }

    @Test func trailingBitsFillTheByte() {
        #expect(bits { $0.trailingBits() } == "10000000")
        #expect(
            bits {
                $0.u(3, 0); $0.trailingBits()
            } == "00010000")
        #expect(
            bits {
                $0.u(7, 0); $0.trailingBits()
            } == "00000001")
    }

    @Test func bytesAreAppendedAtAnyBitOffset() {
        #expect(
            bits {
                $0.u(4, 0xF); $0.append([0xA5, 0x0F])
            } == "11111010010100001111")
        #expect(bits { $0.append([0xA5]) } == "10100101")
    }
}
