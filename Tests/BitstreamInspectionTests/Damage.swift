import TestOracles

/// Makes damaged copies of a stream, always the same ones: with changed bytes, and with removed and repeated pieces.
enum Damage {
    /// - Parameter headers: the offsets that are changed most often, because parsers fail in headers.
    static func sweep(_ bytes: [UInt8], headers: [Int], rounds: Int, _ body: (_ damaged: [UInt8]) -> Void) {
        var generator = SplitMix64(state: 5)
        for round in 0..<rounds {
            var damaged = bytes
            for _ in 0...(round % 4) {
                let offset =
                    round % 3 == 0
                    ? Int.random(in: bytes.indices, using: &generator)
                    : headers.randomElement(using: &generator) ?? 0
                if offset < damaged.count { damaged[offset] = .random(in: 0...255, using: &generator) }
            }
            if round % 7 == 0 { damaged.removeSubrange(Int.random(in: 0..<damaged.count, using: &generator)...) }
            if round % 11 == 0 {
                let start = Int.random(in: bytes.indices, using: &generator)
                damaged += bytes[start...]
            }
            body(damaged)
        }
    }

    /// Makes streams whose NAL units come from several streams. Each NAL unit is unchanged or has a few changed bits,
    /// and refers to units of another stream. Some syntax elements are made long by a run of zeros, which shifts all
    /// later bits.
    static func mixtures(_ streams: [[[UInt8]]], rounds: Int, _ body: (_ mixed: [UInt8]) -> Void) {
        var generator = SplitMix64(state: 16)
        for _ in 0..<rounds {
            var mixed: [UInt8] = []
            let own = streams.randomElement(using: &generator) ?? []
            for unit in own.prefix(Int.random(in: 4...24, using: &generator)) {
                var units = [unit]
                if Int.random(in: 0..<4, using: &generator) == 0, let other = streams.randomElement(using: &generator) {
                    units.append(other[Int.random(in: 0..<min(other.count, 6), using: &generator)])
                }
                if Bool.random(using: &generator) { units.shuffle(using: &generator) }
                for unit in units {
                    mixed += [0, 0, 1] + (Int.random(in: 0..<3, using: &generator) == 0 ? changed(unit, using: &generator) : unit)
                }
            }
            body(mixed)
        }
    }

    private static func changed(_ unit: [UInt8], using generator: inout SplitMix64) -> [UInt8] {
        var unit = unit
        let header = 1..<min(max(unit.count, 2), 48)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let offset = min(Int.random(in: header, using: &generator), unit.count - 1)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: unit[offset] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            case 1: unit[offset] = [0, 0xFF, 0x80, 0x7F, 1].randomElement(using: &generator) ?? 0
            // 32 zeros and a one make the longest Exp-Golomb code. Emulation prevention bytes avoid a start code.
            case 2: unit.insert(contentsOf: [0, 0, 3, 0, 0, 3, 0x80, 0xFF, 0xFF, 0xFF, 0xFF], at: offset)
            default: unit.removeSubrange(offset..<min(unit.count, offset + 3))
            }
            if unit.isEmpty { return [0x67] }
        }
        return unit
    }
}
