import ReferenceDriver
import TestOracles
import Testing

/// Tests emulation_prevention_three_byte (7.4.1.1).
@Suite struct EntropyEmulationPreventionTests {
    /// Escapes byte by byte, as in the syntax table of 7.3.1.
    private func plain(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if result.suffix(2) == [0, 0] && byte <= 3 { result.append(3) }
            result.append(byte)
        }
        return result
    }

    @Test func everyShortStringIsEscapedAndRestored() {
        var wrong = 0
        for length in 0...8 {
            var string = [UInt8](repeating: 0, count: length)
            var done = false
            while !done {
                let escaped = EmulationPrevention.escape(string)
                if escaped != plain(string) || EmulationPrevention.unescape(escaped) != string { wrong += 1 }
                var index = 0
                while index < length && string[index] == 4 {
                    string[index] = 0
                    index += 1
                }
                done = index == length
                if !done { string[index] += 1 }
            }
        }
        #expect(wrong == 0)
    }

    /// Sweeps every string of three bytes at every offset relative to the coder's words of eight bytes.
    @Test func stringsAreEscapedAtEveryOffset() {
        var wrong = 0
        for code in 0..<125 {
            let string = [UInt8(code % 5), UInt8(code / 5 % 5), UInt8(code / 25)]
            for offset in 0...21 {
                for background in [UInt8(0x80), 1, 0xFF, 4] {
                    var bytes = [UInt8](repeating: background, count: 24)
                    bytes.replaceSubrange(offset..<(offset + 3), with: string)
                    if EmulationPrevention.escape(bytes, after: [0, 0, 1]) != [0, 0, 1] + plain(bytes) { wrong += 1 }
                }
            }
        }
        #expect(wrong == 0)
    }
}
