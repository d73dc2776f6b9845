import EncodePlanning
import VAAPI
import VideoBase

extension MiscParameters {
    /// Returns the settings of a picture other than rate control. IDR pictures get the settings of the sequence in
    /// addition.
    static func list(_ plan: FramePlan, options: FrameOptions, settings: EncodeSettings) -> [MiscParameters] {
        var list: [MiscParameters] = []
        if plan.type == .idr {
            if let level = settings.qualityLevel { list.append(.qualityLevel(level)) }
            if let trellis = settings.trellis { list.append(.trellis(i: trellis, p: trellis, b: trellis)) }
            if let bytes = settings.maxSliceBytes { list.append(.maxSliceSize(UInt32(clamping: bytes * 8))) }
        }
        if let step = plan.intraRefresh { list.append(.intraRefresh(IntraRefresh(step, settings))) }
        let regions = (options.regionsOfInterest ?? settings.regionsOfInterest).prefix(settings.limits.maxRegions)
        let visible = regions.compactMap { RegionsOfInterest.Region($0, within: settings.size) }
        if !visible.isEmpty { list.append(.regionsOfInterest(RegionsOfInterest(visible))) }
        return list
    }
}

extension MiscParameters.IntraRefresh {
    /// Creates the columns or rows of blocks that a refresh step covers. A pass covers each of them once, in ranges
    /// whose lengths differ by at most one.
    init(_ step: IntraRefreshStep, _ settings: EncodeSettings) {
        let blocks = settings.refreshesColumns ? settings.grid.columns : settings.grid.rows
        let start = step.index * blocks / step.count
        let end = (step.index + 1) * blocks / step.count
        self.init(
            direction: settings.refreshesColumns ? .columns : .rows, intra_insertion_location: UInt16(start),
            intra_insert_size: UInt16(max(end - start, 1)))
    }
}

extension RegionsOfInterest.Region {
    /// Clips a region to the picture. Returns nil if the region is outside the picture.
    init?(_ region: RegionOfInterest, within size: VideoSize) {
        let left = region.x.clamped(to: 0...size.width)
        let top = region.y.clamped(to: 0...size.height)
        let right = (region.x + region.width).clamped(to: 0...size.width)
        let bottom = (region.y + region.height).clamped(to: 0...size.height)
        guard right > left, bottom > top else { return nil }
        self.init(
            x: Int16(clamping: left), y: Int16(clamping: top), width: UInt16(clamping: right - left),
            height: UInt16(clamping: bottom - top), value: Int8(clamping: region.qpDelta))
    }
}
