import TestOracles
import Testing

@Suite struct PairwiseCoverTests {
    @Test(arguments: [[2, 3], [3, 3, 3, 3], [28, 28, 2, 4, 3, 36, 7, 3], [5, 1, 4]])
    func everyPairOccurs(_ counts: [Int]) {
        let rows = PairwiseCover.rows(counts: counts)
        let found = Set(rows.flatMap { pairs(of: $0) })
        var expected = 0
        for p in counts.indices { for q in counts.indices where p < q { expected += counts[p] * counts[q] } }
        #expect(found.count == expected)
        #expect(rows.allSatisfy { zip($0, counts).allSatisfy { $0 >= 0 && $0 < $1 } })
        // There are at most half more rows than the two widest parameters need alone.
        let widest = counts.sorted().suffix(2).reduce(1, *)
        #expect(rows.count * 2 <= max(widest, 12) * 3, "\(rows.count) rows for \(counts)")
    }

    @Test func forbiddenPairsDoNotOccur() {
        let rows = PairwiseCover.rows(counts: [3, 2, 4, 5]) { p, a, q, b in !(p == 0 && a == 0 && q == 1 && b == 1) }
        #expect(!rows.contains { $0[0] == 0 && $0[1] == 1 })
        let found = Set(rows.flatMap { pairs(of: $0) })
        // There are 3·2 + 3·4 + 3·5 + 2·4 + 2·5 + 4·5 pairs, minus one.
        #expect(found.count == 70)
    }

    private func pairs(of row: [Int]) -> [[Int]] {
        row.indices.flatMap { p in row.indices.compactMap { q in p < q ? [p, row[p], q, row[q]] : nil } }
    }
}
