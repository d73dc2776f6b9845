/// The NAL units that one of the threads writes.
private final class HEVCWrittenUnits: @unchecked Sendable {
    var units: [[UInt8]] = []
}

/// Encodes HEVC pictures of one grid and bit depth. Each VA context has one encoder. One thread at a time may use it;
/// the threads of a pool help this thread. Memory is reused for the next picture.
package final class HEVCPictureEncoder<Sample: HEVCSample> {
    package let grid: HEVCGrid

    let tables: HEVCPictureTableStorage
    /// The source picture, extended to whole coding tree units.
    private let source: HEVCReconstructedPicture
    /// A copy of the deblocked samples, which SAO reads while it changes the picture.
    private(set) lazy var deblocked = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
    let trees: [HEVCCodingTree]
    let tileOfTree: ElementStorage<Int32>
    let writer: HEVCSliceWriter
    private let pool: WorkerPool?
    /// The memory of this thread and of its helpers.
    let workers: [HEVCRowWorker<Sample>]
    let records: ElementStorage<HEVCUnitRecord>
    /// The states of the contexts before each coding tree unit of the latest P and B pictures since the latest I
    /// picture, or of the latest picture if it is an I picture.
    private var states: [SliceType: ElementStorage<UInt8>] = [:]
    private var refresh = RefreshRounds.hevc
    /// Makes the decisions instead of the search if it is not nil; for tests.
    package var chooser: (any HEVCChooser)?

    /// - Parameter pool: The threads that help; nil for none. The streams do not depend on them.
    package init(_ grid: HEVCGrid, pool: WorkerPool? = nil) {
        self.grid = grid
        tables = HEVCPictureTableStorage(grid)
        source = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
        trees = (0..<grid.codingTrees).map { _ in HEVCCodingTree() }
        tileOfTree = ElementStorage(count: grid.codingTrees, repeating: 0)
        writer = HEVCSliceWriter(grid)
        records = ElementStorage(count: grid.minimumColumns * grid.minimumRows, repeating: 0)
        self.pool = pool
        // A row waits for the row above it until this is two units ahead, so more threads would only wait.
        let count = min(1 + (pool?.helpers ?? 0), grid.rows, (grid.columns + 1) / 2)
        let planes = source.planes(Sample.self)
        workers = (0..<count).map { _ in HEVCRowWorker(grid, planes) }
    }

    /// Calls `body` with different numbers less than `workers.count`, each on its own thread.
    func help(_ body: @escaping @Sendable (Int) -> Void) {
        if let pool { pool.run(workers.count, body) } else { body(0) }
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
        let makeCoder = { [tables, tileOfTree, chooser] (worker: HEVCRowWorker<Sample>) in
            HEVCUnitCoder<Sample>(
                job, source: original, tables: tables.tables, tileOfTree: tileOfTree.elements, scratch: worker.scratch,
                transform: worker.transform, refresh: refreshGuard, chooser: chooser)
        }
        let sao = job.slices.contains { $0.slice_sao_luma_flag || $0.slice_sao_chroma_flag }
        let hasSAO =
            (HEVCSpeedPreset(quality: job.quality).sao || chooser != nil) && job.sliceByteLimit == nil && sao
        let codesRows = codesRows(job)
        var result = PictureResult(slices: [])
        var slices = job.slices
        if codesRows {
            result = codeRows(job, refresh, original: original, makeCoder: makeCoder)
            keepStates(job)
        } else {
            for row in 0..<grid.rows { HEVCSourceImport.load(job.source, into: original, grid, row: row) }
            keepStates(job)
            var coder = makeCoder(workers[0])
            slices = code(job, &coder, hasSAO: hasSAO, &result)
            result.intraMacroblocks = coder.intraAreas
            result.skippedMacroblocks = coder.skippedAreas
            result.qpSum = coder.qpSum
        }
        finish(job, slices, hasSAO: hasSAO, isWritten: !codesRows && !hasSAO, original, &result)
        return result
    }

    /// Filters the coded picture and writes its slices unless `isWritten` is true.
    private func finish(
        _ job: HEVCPictureJob, _ slices: [HEVCSliceJob], hasSAO: Bool, isWritten: Bool,
        _ original: HEVCPlanes<Sample>, _ result: inout PictureResult
    ) {
        let bounds = HEVCFilterBounds(job, slices: slices, slice: tables.tables.slice)
        let deblocker = HEVCDeblocker(
            bounds: bounds, tables: tables.tables, planes: job.reconstruction.planes(Sample.self),
            cbOffset: job.cbQPOffset, crOffset: job.crQPOffset)
        let written = HEVCWrittenUnits()
        let write = { written.units = self.write(slices, job) }
        let last: (Int) -> Void = { self.finish(job, slices, row: $0) }
        var stages: [(Int) -> Void] = []
        if deblocker.isNeeded {
            stages = [{ deblocker.filterRow($0, vertical: true) }, { deblocker.filterRow($0, vertical: false) }]
        }
        if hasSAO {
            run(stages)
            filter(job, bounds, slices, original)
            run([last], aside: write)
        } else {
            run(stages + [last], aside: isWritten ? nil : write)
        }
        if !isWritten { result.slices = written.units }
    }

    private func run(_ stages: [(Int) -> Void], aside: (() -> Void)? = nil) {
        let work = RowStages(rows: grid.rows, stages, aside: aside)
        help { _ in work.run() }
    }

    /// Returns the states of the contexts in the latest picture of the job's type, for `HEVCRowTask`.
    func knownStates(_ job: HEVCPictureJob) -> ElementPointer<UInt8>? {
        uniformType(job).flatMap { states[$0]?.elements }
    }

    /// Makes the writer keep the states of the contexts for later pictures of the job's type.
    private func keepStates(_ job: HEVCPictureJob) {
        let type = uniformType(job)
        // I pictures begin new scenes; after other pictures they are rare.
        states = states.filter { ($0.key == .i) == (type == .i) }
        if let type, states[type] == nil {
            states[type] = ElementStorage(count: grid.codingTrees * HEVCContexts.count, repeating: 0)
        }
        writer.keptStates = type.flatMap { states[$0]?.elements }
    }

    /// Returns the type of the job's slices if it is the same for all.
    private func uniformType(_ job: HEVCPictureJob) -> SliceType? {
        let type = job.slices[0].type
        return job.slices.allSatisfy { $0.type == type } ? type : nil
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
}
