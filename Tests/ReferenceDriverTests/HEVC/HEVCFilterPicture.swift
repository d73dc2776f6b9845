@testable import ReferenceDriver
import TestOracles

/// A picture of random slices, tiles, units, motion and samples for the loop filters.
struct HEVCFilterPicture<Sample: HEVCSample> {
    let grid: HEVCGrid
    let picture: HEVCReconstructedPicture
    let storage: HEVCPictureTableStorage
    let job: HEVCPictureJob
    let slices: [HEVCSliceJob]
    let references: [HEVCReconstructedPicture]

    var planes: HEVCPlanes<Sample> { picture.planes() }
    var tables: HEVCPictureTables { storage.tables }
    var bounds: HEVCFilterBounds { HEVCFilterBounds(job, slices: slices, slice: tables.slice) }

    init(width: Int, height: Int, log2Tree: Int, _ generator: inout SplitMix64) {
        let grid = HEVCGrid(width: width, height: height, log2CodingTreeBlock: log2Tree)
        self.grid = grid
        picture = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
        storage = HEVCPictureTableStorage(grid)
        storage.begin()
        let small = HEVCGrid(width: 16, height: 16, log2CodingTreeBlock: 4)
        references = (0..<2).map { _ in HEVCReconstructedPicture(grid: small, bitDepth: Sample.bitDepth) }
        let empty = ElementStorage<UInt8>(count: 64, repeating: 0)
        var job = HEVCPictureJob(
            grid: grid,
            source: HEVCSource(
                luma: empty.elements, chroma: empty.elements, lumaPitch: 8, chromaPitch: 8, width: 0, height: 0),
            reconstruction: picture, poc: 0, slices: [])
        job.bitDepth = Sample.bitDepth
        if Bool.random(using: &generator) && grid.columns > 1 {
            job.tiles = HEVCTiles(
                columnBounds: [0, (grid.columns + 1) / 2, grid.columns], rowBounds: [0, (grid.rows + 1) / 2, grid.rows])
        }
        job.loop_filter_across_tiles_enabled_flag = Bool.random(using: &generator)
        var slices: [HEVCSliceJob] = []
        var first = 0
        while first < grid.codingTrees {
            let count = Int.random(in: 1...max(grid.codingTrees - first, 1), using: &generator)
            var slice = HEVCSliceJob(
                firstCodingTree: job.tiles.rasterScan[first], codingTreeCount: count, type: .b, qp: 30,
                header: SliceHeaderBits(prefix: [], payload: [], bitCount: 0))
            let order = slices.count % 2
            slice.list0 = [
                HEVCReference(picture: references[order], poc: 1),
                HEVCReference(picture: references[1 - order], poc: 2),
            ]
            slice.list1 = slice.list0.reversed()
            slice.slice_deblocking_filter_disabled_flag = Int.random(in: 0..<4, using: &generator) == 0
            slice.slice_loop_filter_across_slices_enabled_flag = Bool.random(using: &generator)
            slice.betaOffset = 2 * Int.random(in: -6...6, using: &generator)
            slice.tcOffset = 2 * Int.random(in: -6...6, using: &generator)
            for position in first..<first + count {
                storage.tables.slice[job.tiles.rasterScan[position]] = Int32(slices.count)
            }
            slices.append(slice)
            first += count
        }
        self.slices = slices
        job.slices = slices
        self.job = job
        fillTables(&generator)
        fillSamples(&generator)
    }

    private func fillTables(_ generator: inout SplitMix64) {
        let tables = tables
        for unit in 0..<grid.minimumColumns * grid.minimumRows {
            tables.mode[unit] = [.intra, .inter, .inter, .skip][Int.random(in: 0..<4, using: &generator)]
            tables.qp[unit] = Int8.random(in: Int8(-6 * (Sample.bitDepth - 8))...51, using: &generator)
            if Bool.random(using: &generator) { tables.qp[unit] = Int8.random(in: 36...46, using: &generator) }
        }
        func vector(_ isUsed: Bool) -> MotionVector {
            let steps: [Int16] = [0, 0, 3, 4, -4, -1]
            func part() -> Int16 { isUsed ? steps[Int.random(in: 0..<6, using: &generator)] : 0 }
            return MotionVector(x: part(), y: part())
        }
        for block in 0..<grid.blockColumns * grid.blockRows {
            var motion = HEVCMotion()
            let uses = Int.random(in: 1...3, using: &generator)
            motion.reference0 = uses & 1 != 0 ? Int8.random(in: 0...1, using: &generator) : -1
            motion.reference1 = uses & 2 != 0 ? Int8.random(in: 0...1, using: &generator) : -1
            motion.vector0 = vector(uses & 1 != 0)
            motion.vector1 = vector(uses & 2 != 0)
            tables.motion[block] = motion
            tables.edges[block] = UInt8.random(in: 0..<32, using: &generator)
        }
    }

    /// Fills the samples with steps and slopes with noise, so that every decision occurs both ways, and with some
    /// extremes.
    private func fillSamples(_ generator: inout SplitMix64) {
        let scale = 1 << (Sample.bitDepth - 8)
        for component in 0..<3 {
            let plane = planes.plane(component)
            let noise = Int.random(in: 1...4, using: &generator)
            for y in 0..<grid.height >> (component == 0 ? 0 : 1) {
                for x in 0..<grid.width >> (component == 0 ? 0 : 1) {
                    let block = (x / 8 * 7 + y / 8 * 13) % 11
                    let base = y / 16 % 5 == 4 ? (block > 5 ? 252 : 2) : 90 + block * 2 + (x + y) % 8 / 3
                    let value = base * scale + Int.random(in: 0..<noise * scale, using: &generator)
                    plane.elements[y * plane.stride + x] = Sample(min(value, Sample.largest))
                }
            }
        }
    }

    func samples(_ component: Int) -> [[Int]] {
        let plane = planes.plane(component)
        return (0..<grid.height >> (component == 0 ? 0 : 1)).map { y in
            (0..<grid.width >> (component == 0 ? 0 : 1)).map { Int(plane.elements[y * plane.stride + $0]) }
        }
    }

    /// Returns the raster address of the coding tree unit at a luma sample.
    func tree(_ x: Int, _ y: Int) -> Int {
        (y >> grid.log2CodingTreeBlock) * grid.columns + x >> grid.log2CodingTreeBlock
    }

    func slice(_ x: Int, _ y: Int) -> HEVCSliceJob { slices[Int(tables.slice[tree(x, y)])] }
}
