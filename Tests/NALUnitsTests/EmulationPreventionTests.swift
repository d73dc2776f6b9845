import NALUnits
import Testing

/// Calls `body` with every string of {0,1,2,3,4} up to `length` bytes.
func forEverySmallString(upTo length: Int, _ body: ([UInt8]) -> Void) {
    for count in 0...length {
        var digits = [UInt8](repeating: 0, count: count)
        while true {
            body(digits)
            guard let index = digits.lastIndex(where: { $0 < 4 }) else { break }
            digits[index] += 1
            for later in digits.index(after: index)..<digits.endIndex { digits[later] = 0 }
        }
    }
}

/// Removes emulation prevention as in the pseudo code of 7.3.1: 00 00 03 loses its 03.
func unescaped(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var index = 0
    while index < bytes.count {
        if index + 2 < bytes.count, bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 3 {
            output += [0, 0]
            index += 3
        } else {
            output.append(bytes[index])
            index += 1
        }
    }
    return output
}

@Suite struct EmulationPreventionTests {
    @Test func escapedBytesMatchHandDerivedBytes() {
        #expect(EmulationPrevention.escaped([0, 0, 0]) == [0, 0, 3, 0, 3])
        #expect(EmulationPrevention.escaped([0, 0, 1]) == [0, 0, 3, 1])
        #expect(EmulationPrevention.escaped([0, 0, 3]) == [0, 0, 3, 3])
        #expect(EmulationPrevention.escaped([0, 0, 4]) == [0, 0, 4])
        #expect(EmulationPrevention.escaped([0, 0, 0, 0, 0, 1]) == [0, 0, 3, 0, 0, 3, 0, 1])
        #expect(EmulationPrevention.escaped([7, 0]) == [7, 0, 3])
        #expect(EmulationPrevention.escaped([]) == [])
    }

    @Test func everySmallStringIsEscapedAndRestored() {
        var strings = 0
        var wrong = 0
        forEverySmallString(upTo: 8) { rbsp in
            strings += 1
            let unit = EmulationPrevention.escaped(rbsp)
            var safe = unit.last != 0
            for index in unit.indices.dropLast(2) where unit[index] == 0 && unit[index + 1] == 0 {
                if unit[index + 2] < 3 { safe = false }
                // An escape occurs only before a byte below 4 or at the very end.
                if unit[index + 2] == 3, index + 3 < unit.count, unit[index + 3] > 3 { safe = false }
            }
            // A final 03 after a last zero byte is not part of the RBSP, however many zero bytes precede it.
            let body = rbsp.last == 0 ? Array(unit.dropLast()) : unit
            if !safe || unescaped(body) != rbsp { wrong += 1 }
        }
        #expect(strings == 488_281)
        #expect(wrong == 0)
    }

    /// The wide scan and the byte loop meet at every offset.
    @Test func startCodesAreEscapedAtEveryOffset() {
        for offset in 0..<80 {
            for trailing in [0, 1, 2, 3, 40] {
                var rbsp = [UInt8](repeating: 0xAA, count: offset)
                rbsp += [0, 0, 1]
                rbsp += [UInt8](repeating: 0xBB, count: trailing)
                var expected = rbsp
                expected.insert(3, at: offset + 2)
                #expect(EmulationPrevention.escaped(rbsp) == expected)
            }
        }
    }

    @Test func zerosBeforeTheAppendedBytesCount() {
        var output: [UInt8] = [0, 0]
        EmulationPrevention.append([1, 5].span, to: &output, zerosBefore: 2)
        #expect(output == [0, 0, 3, 1, 5])
    }
}
