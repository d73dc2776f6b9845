import ReferenceDriver
import TestOracles

/// Makes every choice of a picture encoder at random.
final class HEVCEncodeChooser: HEVCChooser {
    private var generator: SplitMix64
    /// The choices that are always the first option.
    var fixed: Set<HEVCChoice> = []

    init(seed: UInt64) { generator = SplitMix64(state: seed) }

    func choose(_ what: HEVCChoice, _ count: Int) -> Int {
        if fixed.contains(what) { return 0 }
        return Int.random(in: 0..<count, using: &generator)
    }
}
