/// The decisions that a chooser makes.
package enum HEVCChoice: Sendable {
    case unitSplit, mode, partition, intraMode, chromaMode, transformSplit, rootFlag
    case merges, mergeIndex, direction, reference, vector, predictor, transformSkip, levels
    case saoMerge, saoKind, saoOffset, saoBand, saoClass
}

/// Makes the decisions instead of the search; for tests, which encode pictures at random.
package protocol HEVCChooser: AnyObject {
    /// Returns a value in 0..<`count`.
    func choose(_ what: HEVCChoice, _ count: Int) -> Int
}
