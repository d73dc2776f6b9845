import ReferenceDriver
import TestOracles

/// Draws whatever a picture encoder asks for.
final class HEVCEncodeChooser: HEVCChooser {
    private var generator: SplitMix64
    /// What is always the first choice.
    var fixed: Set<HEVCChoice> = []

    init(seed: UInt64) { generator = SplitMix64(state: seed) }

    func choose(_ what: HEVCChoice, _ count: Int) -> Int {
        if fixed.contains(what) { return 0 }
        return Int.random(in: 0..<count, using: &generator)
    }
}
