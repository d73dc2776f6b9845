/// What the loop filters must know of a slice.
struct HEVCSliceFilters: BitwiseCopyable, Sendable {
    var disablesDeblocking: Bool
    /// slice_beta_offset_div2 · 2 and slice_tc_offset_div2 · 2.
    var betaOffset: Int
    var tcOffset: Int
    /// slice_loop_filter_across_slices_enabled_flag.
    var crossesSlices: Bool
    var saoLuma: Bool
    var saoChroma: Bool

    init(_ slice: HEVCSliceJob) {
        disablesDeblocking = slice.disablesDeblocking
        betaOffset = slice.betaOffset
        tcOffset = slice.tcOffset
        crossesSlices = slice.filtersAcrossSlices
        saoLuma = slice.saoLuma
        saoChroma = slice.saoChroma
    }
}

/// Where the loop filters of one picture may look: slices by number, each with its pictures, and tiles.
struct HEVCFilterBounds {
    let grid: HEVCGrid
    /// By coding tree unit in raster order, as `HEVCPictureTables.slice`.
    let slice: ElementPointer<Int32>
    let slices: [HEVCSliceFilters]
    private let tileID: [Int]
    private let crossesTiles: Bool
    /// By slice, list and index (16 each): which picture a reference is.
    private let pictures: [Int16]

    /// - Parameter slices: those that were coded, in order: `sliceByteLimit` makes more than the job has.
    init(_ job: HEVCPictureJob, slices: [HEVCSliceJob], slice: ElementPointer<Int32>) {
        grid = job.grid
        self.slice = slice
        self.slices = slices.map(HEVCSliceFilters.init)
        tileID = job.tiles.tileID
        crossesTiles = job.filtersAcrossTiles || !job.tiles.isEnabled
        var known: [HEVCReconstructedPicture] = []
        var pictures = [Int16](repeating: -1, count: slices.count * 32)
        for (number, slice) in slices.enumerated() {
            for (list, references) in [slice.list0, slice.list1].enumerated() {
                for (index, reference) in references.prefix(16).enumerated() {
                    let place = known.firstIndex { $0 === reference.picture } ?? known.count
                    if place == known.count { known.append(reference.picture) }
                    pictures[number * 32 + list * 16 + index] = Int16(truncatingIfNeeded: place)
                }
            }
        }
        self.pictures = pictures
    }

    /// Which picture `reference` of a list is in that slice; −1 where the list is not used.
    @inline(__always) func picture(slice: Int, list: Int, _ reference: Int8) -> Int16 {
        reference < 0 ? -1 : pictures[slice &* 32 &+ list &* 16 &+ Int(reference)]
    }

    /// Whether deblocking may filter between a coding tree unit and the one left of it or above it, H.265 8.7.2.3.
    func deblocks(_ address: Int, from before: Int) -> Bool {
        if !crossesTiles && tileID[address] != tileID[before] { return false }
        return slice[address] == slice[before] || slices[Int(slice[address])].crossesSlices
    }

    /// Whether SAO of a sample in `address` may look at one in `other`, H.265 8.7.3.2: the later slice decides.
    func saoSees(_ address: Int, _ other: Int) -> Bool {
        if !crossesTiles && tileID[address] != tileID[other] { return false }
        let (a, b) = (slice[address], slice[other])
        return a == b || slices[Int(max(a, b))].crossesSlices
    }
}
