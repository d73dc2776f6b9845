import NALUnits
import Testing

/// Tests the bit reader of NAL units with hand-derived bytes and with the output of `BitWriter`.
@Suite struct UnescapedBitsTests {
    private func bits(_ unit: [UInt8], at position: Int = 0) -> UnescapedBits {
        var bits = UnescapedBits(unit)
        bits.position = position
        return bits
    }

    /// 101 00110 | 1 010 011 0 | 0100 0000: u(3) 5, u(5) 6, ue(v) 0, 1, 2, 3.
    @Test func handDerivedBitsAreRead() {
        var bits = self.bits([0b1010_0110, 0b1010_0110, 0b0100_0000])
        let values = [bits.u(3), bits.u(5), bits.ue(), bits.ue(), bits.ue(), bits.ue()]
        #expect(values == [5, 6, 0, 1, 2, 3])
        #expect(bits.position == 20 && bits.bitCount == 24 && bits.stopBit == 17)
        // These values cross byte boundaries.
        var wide = self.bits([0x12, 0x34, 0x56, 0x78, 0x9A], at: 4)
        let halves = [wide.u(32), wide.u(4)]
        #expect(halves == [0x2345_6789, 0xA] && !wide.isExhausted)
    }

    /// 00 00 03 loses its 03, also in a slice that does not begin at 0; `unit` contains it again.
    @Test func emulationPreventionIsRemovedAndRestored() {
        let unit: [UInt8] = [0x67, 0, 0, 3, 1, 0, 0, 3, 0, 0, 3, 2, 0x80]
        var bits = UnescapedBits(unit.dropFirst())
        #expect(bits.bitCount == 72)
        let values = [bits.u(24), bits.u(32), bits.u(16)]
        #expect(values == [1, 0, 0x0280])
        #expect(bits.unit == Array(unit.dropFirst()))
    }

    /// After the end, all calls read zeros and report that the bits are exhausted.
    @Test func readingPastTheEndIsReported() {
        for count in 0...3 {
            let unit = [UInt8](repeating: 0xFF, count: count)
            for taken in 0...32 {
                var bits = self.bits(unit)
                let value = bits.u(taken)
                let ones = min(taken, 8 * count)
                let expected = (1 << ones - 1) << (taken - ones)
                #expect(value == expected, "\(count) \(taken)")
                #expect(bits.isExhausted == (taken > 8 * count), "\(count) \(taken)")
            }
            var flags = bits(unit)
            let all = (0..<8 * count).map { _ in flags.flag() }
            #expect(all.allSatisfy { $0 } && !flags.isExhausted)
            let next = flags.flag()
            #expect(!next && flags.isExhausted)
        }
        // The second half of the code, or all of it, is missing.
        for unit: [UInt8] in [[], [0], [0b0000_0001], [0, 1]] {
            var bits = self.bits(unit)
            bits.ue()
            #expect(bits.isExhausted, "\(unit)")
        }
    }

    /// Reads the longest code and longer ones; H.264 9.1 ends at 2³²−2.
    @Test func longestCodesAreReadAndLongerRefused() {
        let longest = 0xFFFF_FFFE
        for value in [0, 1, 254, 255, 65_535, 0x8000_0000, longest] {
            var w = BitWriter()
            w.ue(value)
            w.u(3, 5)
            w.trailingBits()
            var bits = self.bits(EmulationPrevention.escaped(w.bytes))
            let read = [bits.ue(), bits.u(3)]
            #expect(read == [value, 5] && bits.stopBit == bits.position)
        }
        for zeros in [33, 40, 1000] {
            var w = BitWriter()
            for _ in 0..<zeros { w.flag(false) }
            w.flag(true)
            w.append([UInt8](repeating: 0xFF, count: 200))
            var bits = self.bits(EmulationPrevention.escaped(w.bytes))
            bits.ue()
            #expect(bits.isExhausted, "\(zeros)")
        }
    }

    /// Reads each width at each offset and compares with the same bits one by one.
    @Test func everyWidthIsReadAtEveryOffset() {
        let unit: [UInt8] = [0x5A, 0xC3, 0x96, 0x0F, 0xE1, 0x78, 0xA5]
        for offset in 0..<8 {
            for count in 0...32 {
                var whole = bits(unit, at: offset)
                var single = bits(unit, at: offset)
                var expected = 0
                for _ in 0..<count { expected = expected << 1 | (single.flag() ? 1 : 0) }
                let value = whole.u(count)
                #expect(value == expected && whole.position == offset + count)
            }
        }
    }

    /// Bits past the end are ignored.
    @Test func bitsAreOverwrittenInPlace() {
        var bits = self.bits([0xFF, 0xFF, 0xFF], at: 6)
        bits.write(0b0101, bits: 4)
        #expect(bits.unit == [0xFD, 0x7F, 0xFF] && bits.position == 10)
        bits.position = 20
        bits.write(0, bits: 10)
        #expect(bits.unit == [0xFD, 0x7F, 0xF0] && bits.isExhausted)
        var w = BitWriter()
        bits.copy(4..<12, to: &w)
        #expect(w.bytes == [0xD7])
    }
}
