/// The values of a slice that the loop filters need.
struct HEVCSliceFilters: BitwiseCopyable, Sendable {
    var slice_deblocking_filter_disabled_flag: Bool
    /// slice_beta_offset_div2 · 2 and slice_tc_offset_div2 · 2.
    var betaOffset: Int
    var tcOffset: Int
    /// slice_loop_filter_across_slices_enabled_flag.
    var crossesSlices: Bool
    var slice_sao_luma_flag: Bool
    var slice_sao_chroma_flag: Bool

    init(_ slice: HEVCSliceJob) {
        slice_deblocking_filter_disabled_flag = slice.slice_deblocking_filter_disabled_flag
        betaOffset = slice.betaOffset
        tcOffset = slice.tcOffset
        crossesSlices = slice.slice_loop_filter_across_slices_enabled_flag
        slice_sao_luma_flag = slice.slice_sao_luma_flag
        slice_sao_chroma_flag = slice.slice_sao_chroma_flag
    }
}

/// Decides across which slice and tile borders the loop filters of a picture may filter. Contains the slices by number,
/// their reference pictures, and the tiles.
struct HEVCFilterBounds {
    let grid: HEVCGrid
    /// The slice's number by coding tree unit in raster order, as `HEVCPictureTables.slice`.
    let slice: ElementPointer<Int32>
    let slices: [HEVCSliceFilters]
    private let tileID: [Int]
    private let crossesTiles: Bool
    /// The number of the picture that each reference refers to, by slice, list and index; 16 entries for each list.
    private let pictures: [Int16]

    /// Initializes the bounds of a picture.
    ///
    /// - Parameter slices: the slices in coding order. `sliceByteLimit` can make more of them than the job has.
    init(_ job: HEVCPictureJob, slices: [HEVCSliceJob], slice: ElementPointer<Int32>) {
        grid = job.grid
        self.slice = slice
        self.slices = slices.map(HEVCSliceFilters.init)
        tileID = job.tiles.tileID
        crossesTiles = job.loop_filter_across_tiles_enabled_flag || !job.tiles.isEnabled
        var known: [HEVCReconstructedPicture] = []
        var pictures = [Int16](repeating: -1, count: slices.count * 32)
        for (number, slice) in slices.enumerated() {
            for (list, references) in [slice.list0, slice.list1].enumerated() {
                for (index, reference) in references.prefix(16).enumerated() {
                    let pictureIndex = known.firstIndex { $0 === reference.picture } ?? known.count
                    if pictureIndex == known.count { known.append(reference.picture) }
                    pictures[number * 32 + list * 16 + index] = Int16(truncatingIfNeeded: pictureIndex)
                }
            }
        }
        self.pictures = pictures
    }

    /// Returns the number of the picture that `reference` refers to in a slice's list; −1 if the list is not used.
    @inline(__always) func picture(slice: Int, list: Int, _ reference: Int8) -> Int16 {
        reference < 0 ? -1 : pictures[slice &* 32 &+ list &* 16 &+ Int(reference)]
    }

    /// Returns whether deblocking may filter the edge between a coding tree unit and the one to the left or above,
    /// H.265 8.7.2.3.
    func deblocks(_ address: Int, from before: Int) -> Bool {
        if !crossesTiles && tileID[address] != tileID[before] { return false }
        return slice[address] == slice[before] || slices[Int(slice[address])].crossesSlices
    }

    /// Returns whether SAO of a sample in coding tree unit `address` may read a sample in `other`, H.265 8.7.3.2. The
    /// flag of the later slice applies.
    func saoMayRead(_ address: Int, _ other: Int) -> Bool {
        if !crossesTiles && tileID[address] != tileID[other] { return false }
        let (a, b) = (slice[address], slice[other])
        return a == b || slices[Int(max(a, b))].crossesSlices
    }
}
