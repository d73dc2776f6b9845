/// What a chooser is asked for.
package enum HEVCChoice: Sendable {
    case unitSplit, mode, partition, intraMode, chromaMode, transformSplit, rootFlag
    case merges, mergeIndex, direction, reference, vector, predictor, transformSkip, levels
    case saoMerge, saoKind, saoOffset, saoBand, saoClass
}

/// Decides in the search's place: for tests, which code pictures at random.
package protocol HEVCChooser: AnyObject {
    /// 0..<`count`.
    func choose(_ what: HEVCChoice, _ count: Int) -> Int
}
