/// Encodes HEVC pictures of one grid and bit depth. Each VA context has one encoder; one thread at a time may use it.
/// Memory is reused for the next picture.
package final class HEVCPictureEncoder<Sample: HEVCSample> {
    package let grid: HEVCGrid

    let scratch: HEVCScratch<Sample>
    let tables: HEVCPictureTableStorage
    private let transform = HEVCTransform(bitDepth: Sample.bitDepth)
    /// The source picture, extended to whole coding tree units.
    private let source: HEVCReconstructedPicture
    /// A copy of the deblocked samples, which SAO reads while it changes the picture.
    private(set) lazy var deblocked = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
    let trees: [HEVCCodingTree]
    let tileOfTree: ElementStorage<Int32>
    private let writer: HEVCSliceWriter
    private var refresh = RefreshRounds.hevc
    /// Makes the decisions instead of the search if it is not nil; for tests.
    package var chooser: (any HEVCChooser)?

    package init(_ grid: HEVCGrid) {
        self.grid = grid
        tables = HEVCPictureTableStorage(grid)
        source = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
        scratch = HEVCScratch(source.planes())
        trees = (0..<grid.codingTrees).map { _ in HEVCCodingTree() }
        tileOfTree = ElementStorage(count: grid.codingTrees, repeating: 0)
        writer = HEVCSliceWriter(grid)
    }

    /// Encodes the job's slices. Afterwards `job.reconstruction` contains the filtered picture, its motion and its
    /// margins.
    ///
    /// The back end checks these preconditions: the job has this encoder's grid; its slices are in order and cover
    /// every coding tree unit once; its references have the same grid and are not the reconstruction.
    package func encode(_ job: HEVCPictureJob) -> PictureResult {
        precondition(job.grid == grid && job.bitDepth == Sample.bitDepth)
        tables.begin()
        let (refreshGuard, renewal) = refresh.begin(
            job.intraRefresh, isIntra: job.slices.allSatisfy { $0.type == .i }, columns: job.grid.columns,
            rows: job.grid.rows)
        job.reconstruction.renewal = renewal
        job.reconstruction.poc = job.poc
        for address in 0..<grid.codingTrees { tileOfTree.elements[address] = Int32(job.tiles.tileID[address]) }
        let original = source.planes(Sample.self)
        HEVCSourceImport.load(job.source, into: original, grid)

        var result = PictureResult(slices: [])
        var coder = HEVCUnitCoder<Sample>(
            job, source: original, tables: tables.tables, tileOfTree: tileOfTree.elements, scratch: scratch,
            transform: transform, refresh: refreshGuard, chooser: chooser)
        /// The slices in coding order. `sliceByteLimit` can make more of them than the job has.
        var slices: [HEVCSliceJob] = []
        let preset = coder.preset
        let hasSAO =
            (preset.sao || chooser != nil) && job.sliceByteLimit == nil
            && job.slices.contains { $0.slice_sao_luma_flag || $0.slice_sao_chroma_flag }
        for (index, slice) in job.slices.enumerated() {
            var part = slice
            var position = job.tiles.tileScan[slice.firstCodingTree]
            let end = position + slice.codingTreeCount
            while position < end {
                coder.begin(part, number: slices.count, refresh)
                slices.append(part)
                writer.begin(part, job)
                let next = code(part, position..<end, job, &coder)
                if !hasSAO { result.slices.append(writer.finish()) }
                slices[slices.count - 1].codingTreeCount = next - position
                part.codingTreeCount = end - next
                position = next
                if let limit = job.sliceByteLimit, position < end {
                    part.firstCodingTree = job.tiles.rasterScan[position]
                    part.header = limit.header(index, part.firstCodingTree)
                }
            }
        }
        filter(job, slices, original, hasSAO: hasSAO)
        if hasSAO {
            for slice in slices {
                writer.begin(slice, job)
                let first = job.tiles.tileScan[slice.firstCodingTree]
                for position in first..<first + slice.codingTreeCount {
                    let address = job.tiles.rasterScan[position]
                    writer.write(trees[address], address: address)
                }
                result.slices.append(writer.finish())
            }
        }
        finish(job, slices)
        result.intraMacroblocks = coder.intraAreas
        result.skippedMacroblocks = coder.skippedAreas
        result.qpSum = coder.qpSum
        result.lumaSquaredError = squaredError(job, original)
        return result
    }

    /// Codes a slice for `positions` in the tile scan. Stops before the coding tree unit that would make its NAL unit
    /// larger than the limit, and returns the position where the next slice begins. If SAO follows, the output only
    /// serves to adapt the contexts; the slice is written again later.
    private func code(
        _ slice: HEVCSliceJob, _ positions: Range<Int>, _ job: HEVCPictureJob, _ coder: inout HEVCUnitCoder<Sample>
    ) -> Int {
        for position in positions {
            let address = job.tiles.rasterScan[position]
            if position > positions.lowerBound
                && tileOfTree.elements[address] != tileOfTree.elements[job.tiles.rasterScan[position - 1]]
            {
                coder.beginTile()
            }
            guard let limit = job.sliceByteLimit else {
                coder.code(address, into: trees[address], states: writer.contextStates)
                writer.write(trees[address], address: address)
                continue
            }
            let before = coder
            writer.mark()
            coder.code(address, into: trees[address], states: writer.contextStates)
            writer.write(trees[address], address: address)
            if position > positions.lowerBound && writer.maxBytes() > limit.bytes {
                writer.returnToMark()
                coder = before
                tables.tables.slice[address] = -1
                return position
            }
        }
        return positions.upperBound
    }

    private func squaredError(_ job: HEVCPictureJob, _ original: HEVCPlanes<Sample>) -> UInt64 {
        let planes = job.reconstruction.planes(Sample.self)
        let width = min(job.source.width, grid.width)
        var sum: UInt64 = 0
        for y in 0..<min(job.source.height, grid.height) {
            let a = original.luma + y * original.stride
            let b = planes.luma + y * planes.stride
            var line: UInt64 = 0
            for x in 0..<width {
                let d = Int64(a[x]) &- Int64(b[x])
                line = line &+ UInt64(bitPattern: d &* d)
            }
            sum &+= line
        }
        return sum
    }
}
