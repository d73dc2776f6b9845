/// Creates rows of parameter values in which every pair of values of any two parameters occurs.
public enum PairwiseCover {
    /// Returns the rows. The result is the same for the same arguments.
    ///
    /// - Parameters:
    ///   - counts: The number of values of each parameter. A row holds a value index for each parameter.
    ///   - allows: Whether a pair may occur (parameter, value, parameter, value; the lower parameter first). Every
    ///     value must have an allowed partner in every other parameter. Otherwise its pairs with that parameter are
    ///     left out.
    public static func rows(
        counts: [Int], allows: (Int, Int, Int, Int) -> Bool = { _, _, _, _ in true }
    ) -> [[Int]] {
        let width = counts.count
        let offsets = counts.reduce(into: [0]) { $0.append($0.last! + $1) }
        let total = offsets[width]
        // Whether a pair must still be covered, indexed by the global numbers of its two values. False for covered and
        // forbidden pairs.
        var open = [Bool](repeating: false, count: total * total)
        var allowed = [Bool](repeating: false, count: total * total)
        var todo: [(Int, Int, Int, Int)] = []
        for p in 0..<width {
            for q in 0..<width where p < q {
                for a in 0..<counts[p] {
                    for b in 0..<counts[q] where allows(p, a, q, b) {
                        let (i, j) = (offsets[p] + a, offsets[q] + b)
                        open[i * total + j] = true
                        open[j * total + i] = true
                        allowed[i * total + j] = true
                        allowed[j * total + i] = true
                        todo.append((p, a, q, b))
                    }
                }
            }
        }
        var generator = SplitMix64(state: 1)
        todo.shuffle(using: &generator)

        var rows: [[Int]] = []
        for (p, a, q, b) in todo where open[(offsets[p] + a) * total + offsets[q] + b] {
            var row = [Int?](repeating: nil, count: width)
            row[p] = a
            row[q] = b
            // Parameters with the most values first: they have the most pairs.
            for r in (0..<width).sorted(by: { counts[$0] > counts[$1] }) where row[r] == nil {
                let fixed = (0..<width).compactMap { s in row[s].map { offsets[s] + $0 } }
                let start = Int(generator.next() % UInt64(counts[r]))
                var best: (value: Int, gain: Int)?
                for step in 0..<counts[r] {
                    let value = (start + step) % counts[r]
                    let mine = (offsets[r] + value) * total
                    guard fixed.allSatisfy({ allowed[mine + $0] }) else { continue }
                    let gain = fixed.reduce(0) { $0 + (open[mine + $1] ? 1 : 0) }
                    if gain > best?.gain ?? -1 { best = (value, gain) }
                }
                row[r] = best?.value
            }
            let complete = row.compactMap(\.self)
            guard complete.count == width else { continue }
            rows.append(complete)
            for r in 0..<width {
                for s in 0..<width where r != s {
                    open[(offsets[r] + complete[r]) * total + offsets[s] + complete[s]] = false
                }
            }
        }
        return rows
    }
}

/// A small generator of reproducible random numbers for tests.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator. The same state produces the same numbers.
    public init(state: UInt64) { self.state = state }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
