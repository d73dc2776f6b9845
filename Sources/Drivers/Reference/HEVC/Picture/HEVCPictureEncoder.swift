/// The NAL units that one of the threads writes.
private final class HEVCSliceUnits: @unchecked Sendable {
    var units: [[UInt8]] = []
}

/// Encodes HEVC pictures of one grid and bit depth. Each VA context has one encoder; one thread at a time may use it, and others help it.
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
    let writer: HEVCSliceWriter
    private let pool: WorkerPool
    private let workers: [HEVCRowWorker<Sample>]
    private let records: ElementStorage<HEVCUnitRecord>
    /// The states of the contexts after each row of the latest P and B pictures since the latest I picture.
    private var finalStates: [SliceType: ElementStorage<UInt8>] = [:]
    private var refresh = RefreshRounds.hevc
    /// Makes the decisions instead of the search if it is not nil; for tests.
    package var chooser: (any HEVCChooser)?

    /// - Parameter threads: The number of threads that encode a picture; nil for one per processor. The streams do not
    ///   depend on it.
    package init(_ grid: HEVCGrid, threads: Int? = nil) {
        self.grid = grid
        tables = HEVCPictureTableStorage(grid)
        source = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
        scratch = HEVCScratch(source.planes())
        trees = (0..<grid.codingTrees).map { _ in HEVCCodingTree() }
        tileOfTree = ElementStorage(count: grid.codingTrees, repeating: 0)
        writer = HEVCSliceWriter(grid)
        pool = WorkerPool(count: min(threads ?? WorkerPool.processors, grid.rows))
        let records = ElementStorage<HEVCUnitRecord>(count: grid.minimumColumns * grid.minimumRows, repeating: 0)
        let planes = source.planes(Sample.self)
        self.records = records
        workers = (0..<pool.count).map { _ in HEVCRowWorker(grid, planes, records: records.elements) }
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
        let makeCoder = { [tables, tileOfTree, chooser] (scratch: HEVCScratch<Sample>, transform: HEVCTransform) in
            HEVCUnitCoder<Sample>(
                job, source: original, tables: tables.tables, tileOfTree: tileOfTree.elements, scratch: scratch,
                transform: transform, refresh: refreshGuard, chooser: chooser)
        }
        let sao = job.slices.contains { $0.slice_sao_luma_flag || $0.slice_sao_chroma_flag }
        let hasSAO =
            (HEVCSpeedPreset(quality: job.quality).sao || chooser != nil) && job.sliceByteLimit == nil && sao
        var slices = job.slices
        let codesRows = codesRows(job)
        if codesRows {
            let type = job.slices[0].type
            let isUniform = job.slices.allSatisfy { $0.type == type }
            if type == .i { finalStates.removeAll() }
            let task = HEVCRowTask(
                job, trees, workers, records: records.elements, refresh, previous: isUniform ? finalStates[type] : nil
            ) { makeCoder($0.scratch, $0.transform) }
            pool.run { task.run($0) }
            if isUniform && type != .i { finalStates[type] = task.finalStates }
            for worker in workers {
                result.intraMacroblocks += worker.intraAreas
                result.skippedMacroblocks += worker.skippedAreas
                result.qpSum += worker.qpSum
            }
        } else {
            var coder = makeCoder(scratch, transform)
            slices = code(job, &coder, hasSAO: hasSAO, &result)
            result.intraMacroblocks = coder.intraAreas
            result.skippedMacroblocks = coder.skippedAreas
            result.qpSum = coder.qpSum
        }
        let bounds = HEVCFilterBounds(job, slices: slices, slice: tables.tables.slice)
        let deblocker = HEVCDeblocker(
            bounds: bounds, tables: tables.tables, planes: job.reconstruction.planes(Sample.self),
            cbOffset: job.cbQPOffset, crOffset: job.crQPOffset)
        let coded = slices
        let units = HEVCSliceUnits()
        let finishing = HEVCFinishTask(
            rows: grid.rows, write: codesRows && !hasSAO ? { units.units = self.write(coded, job) } : nil,
            filter: deblocker.isNeeded ? { deblocker.filterRow($0, vertical: $1) } : nil)
        pool.run { _ in finishing.run() }
        if hasSAO {
            filter(job, bounds, slices, original)
            units.units = write(slices, job)
        }
        if codesRows || hasSAO { result.slices = units.units }
        finish(job, slices)
        result.lumaSquaredError = squaredError(job, original)
        return result
    }

    /// Codes the slices one coding tree unit after the other, and writes them unless SAO follows. Returns the slices in
    /// coding order; `sliceByteLimit` can make more of them than the job has.
    private func code(
        _ job: HEVCPictureJob, _ coder: inout HEVCUnitCoder<Sample>, hasSAO: Bool, _ result: inout PictureResult
    ) -> [HEVCSliceJob] {
        var slices: [HEVCSliceJob] = []
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
        return slices
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
            var line = 0
            var x = 0
            while x < width & ~3 {
                let count = min(64, width & ~3 - x)
                line &+= HEVCBlock.squares(a + x, original.stride, b + x, planes.stride, width: count, height: 1)
                x += count
            }
            while x < width {
                let d = Int(a[x]) &- Int(b[x])
                line &+= d &* d
                x += 1
            }
            sum &+= UInt64(line)
        }
        return sum
    }
}
