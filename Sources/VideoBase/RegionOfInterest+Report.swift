extension [RegionOfInterest] {
    /// Returns an entry of the effective configuration for each region that extends beyond the picture. Only the part
    /// inside the picture is used.
    ///
    /// - Parameter size: The size of the picture.
    package func clipped(to size: VideoSize) -> [EffectiveEntry] {
        enumerated().compactMap { index, region in
            let width = Swift.min(region.width, Swift.max(size.width - region.x, 0))
            let height = Swift.min(region.height, Swift.max(size.height - region.y, 0))
            if width == region.width, height == region.height { return nil }
            func text(_ width: Int, _ height: Int) -> String { "\(region.x),\(region.y),\(width)x\(height):\(region.qpDelta)" }
            return EffectiveEntry(
                option: count == 1 ? "region of interest" : "region of interest \(index + 1)",
                asked: text(region.width, region.height), used: text(width, height), why: "the picture is \(size)")
        }
    }
}
