import TestOracles

/// Broken copies of a stream, the same ones each time: changed bytes, removed and doubled pieces.
enum Damage {
    /// - Parameter headers: places of bytes that are changed most: headers are where parsers fail.
    static func sweep(_ bytes: [UInt8], headers: [Int], rounds: Int, _ body: (_ damaged: [UInt8]) -> Void) {
        var generator = SplitMix64(state: 5)
        for round in 0..<rounds {
            var damaged = bytes
            for _ in 0...(round % 4) {
                let place =
                    round % 3 == 0
                    ? Int.random(in: bytes.indices, using: &generator)
                    : headers.randomElement(using: &generator) ?? 0
                if place < damaged.count { damaged[place] = .random(in: 0...255, using: &generator) }
            }
            if round % 7 == 0 { damaged.removeSubrange(Int.random(in: 0..<damaged.count, using: &generator)...) }
            if round % 11 == 0 {
                let start = Int.random(in: bytes.indices, using: &generator)
                damaged += bytes[start...]
            }
            body(damaged)
        }
    }
}
