// Several rows of coding tree units at once.

/// The memory of one thread that codes rows, allocated when it is used first.
final class HEVCRowWorker<Sample: HEVCSample> {
    private let grid: HEVCGrid
    private let planes: HEVCPlanes<Sample>
    private(set) lazy var scratch = HEVCScratch(planes)
    private(set) lazy var tracker = HEVCContextTracker(grid)
    let transform = HEVCTransform(bitDepth: Sample.bitDepth)
    // The statistics of the rows that the thread coded.
    var intraAreas = 0
    var skippedAreas = 0
    var qpSum = 0

    /// `planes` is a placeholder for references until a slice sets them.
    init(_ grid: HEVCGrid, _ planes: HEVCPlanes<Sample>) {
        self.grid = grid
        self.planes = planes
    }
}

/// The rows of a picture that threads code at the same time. Each row follows the row above it by two coding tree
/// units, from which it predicts.
///
/// The states of the contexts, with which the search estimates bits, are not those with which the slice is written
/// later: these depend on the whole row above. The estimates use states that do not depend on the order of the threads.
///
/// SAFETY: `RowProgress` orders the threads, so that none reads a unit's data while another writes it. Each thread has
/// its own worker.
final class HEVCRowTask<Sample: HEVCSample>: @unchecked Sendable {
    private let job: HEVCPictureJob
    private let trees: [HEVCCodingTree]
    private let workers: [HEVCRowWorker<Sample>]
    private let records: ElementPointer<HEVCUnitRecord>
    private let rounds: RefreshRounds
    private let load: (_ row: Int) -> Void
    private let makeCoder: (HEVCRowWorker<Sample>) -> HEVCUnitCoder<Sample>
    private let sliceOfRow: [Int]
    private let progress: RowProgress
    /// The states before each coding tree unit of the previous picture of the same type; nil if there is none.
    private let previous: ElementPointer<UInt8>?
    /// The states after the second unit of each row, with which the next row begins if there is no previous picture.
    private let states: ElementStorage<UInt8>

    /// - Parameters:
    ///   - load: Loads the source of a row.
    ///   - makeCoder: Returns a coder that uses a worker's memory.
    init(
        _ job: HEVCPictureJob, _ trees: [HEVCCodingTree], _ workers: [HEVCRowWorker<Sample>],
        records: ElementPointer<HEVCUnitRecord>, _ rounds: RefreshRounds, previous: ElementPointer<UInt8>?,
        load: @escaping (_ row: Int) -> Void, makeCoder: @escaping (HEVCRowWorker<Sample>) -> HEVCUnitCoder<Sample>
    ) {
        self.job = job
        self.trees = trees
        self.workers = workers
        self.records = records
        self.rounds = rounds
        self.previous = previous
        self.load = load
        self.makeCoder = makeCoder
        let columns = job.grid.columns
        sliceOfRow = job.slices.enumerated().flatMap { Array(repeating: $0, count: $1.codingTreeCount / columns) }
        progress = RowProgress(rows: job.grid.rows)
        states = ElementStorage(count: previous == nil ? job.grid.rows * HEVCContexts.count : 0, repeating: 0)
    }

    /// Codes rows until all are taken. Each thread calls this once, with its own number.
    func run(_ number: Int) {
        let worker = workers[number]
        var coder = makeCoder(worker)
        var current = -1
        while let row = progress.take() { code(row, worker, &coder, &current) }
        worker.intraAreas = coder.intraAreas
        worker.skippedAreas = coder.skippedAreas
        worker.qpSum = coder.qpSum
    }

    private func code(
        _ row: Int, _ worker: HEVCRowWorker<Sample>, _ coder: inout HEVCUnitCoder<Sample>, _ current: inout Int
    ) {
        load(row)
        let columns = job.grid.columns
        let number = sliceOfRow[row]
        if number != current {
            current = number
            coder.begin(job.slices[number], number: number, rounds)
            if previous == nil { worker.tracker.begin(job.slices[number], job, records: records) }
        }
        coder.beginTile()
        let continues = row > 0 && sliceOfRow[row - 1] == number
        var above = row == 0 ? columns : progress.wait(row: row - 1, count: min(2, columns))
        coder.latestVectors.fill(.zero, count: 2 * HEVCMotionReferences.perList)
        if previous == nil {
            if continues {
                worker.tracker.load(states.elements + (row - 1) * HEVCContexts.count)
            } else {
                worker.tracker.initialize()
            }
        }
        for column in 0..<columns {
            let needed = min(column + 2, columns)
            if above < needed { above = progress.wait(row: row - 1, count: needed) }
            let address = row * columns + column
            if let previous {
                coder.code(address, into: trees[address], states: previous + address * HEVCContexts.count)
            } else {
                coder.code(address, into: trees[address], states: worker.tracker.states.elements)
                worker.tracker.follow(
                    trees[address], address: address,
                    neighbors: HEVCTreeNeighbors(hasLeft: column > 0, hasTop: continues))
                if column == 1 { worker.tracker.save(states.elements + row * HEVCContexts.count) }
            }
            progress.report(row: row, count: column + 1)
        }
    }
}

extension HEVCPictureEncoder {
    /// Whether the rows of a picture are coded at the same time. The units of other pictures depend on the end of the
    /// row above: by the size of a slice, or by the QP of the previous unit. In small pictures, and at better quality
    /// levels, the less exact estimates would cost bits.
    func codesRows(_ job: HEVCPictureJob) -> Bool {
        job.quality >= 7 && grid.columns >= 8 && chooser == nil && job.sliceByteLimit == nil && !job.tiles.isEnabled
            && (job.qpDeltaDepth == nil || job.areaQPs == nil)
            && job.slices.allSatisfy {
                $0.firstCodingTree % grid.columns == 0 && $0.codingTreeCount % grid.columns == 0
            }
    }

    /// Codes the rows of a picture, and returns its statistics.
    func codeRows(
        _ job: HEVCPictureJob, _ rounds: RefreshRounds, original: HEVCPlanes<Sample>,
        makeCoder: @escaping (HEVCRowWorker<Sample>) -> HEVCUnitCoder<Sample>
    ) -> PictureResult {
        for worker in workers { (worker.intraAreas, worker.skippedAreas, worker.qpSum) = (0, 0, 0) }
        let task = HEVCRowTask(
            job, trees, workers, records: records.elements, rounds, previous: knownStates(job),
            load: { [grid] in HEVCSourceImport.load(job.source, into: original, grid, row: $0) }, makeCoder: makeCoder)
        help { task.run($0) }
        var result = PictureResult(slices: [])
        for worker in workers {
            result.intraMacroblocks += worker.intraAreas
            result.skippedMacroblocks += worker.skippedAreas
            result.qpSum += worker.qpSum
        }
        return result
    }

    /// Returns NAL units with the coded slices.
    func write(_ slices: [HEVCSliceJob], _ job: HEVCPictureJob) -> [[UInt8]] {
        slices.map { slice in
            writer.begin(slice, job)
            let first = job.tiles.tileScan[slice.firstCodingTree]
            for position in first..<first + slice.codingTreeCount {
                let address = job.tiles.rasterScan[position]
                writer.write(trees[address], address: address)
            }
            return writer.finish()
        }
    }
}
