// Several rows of coding tree units at once.

/// The memory of one thread that codes rows.
final class HEVCRowWorker<Sample: HEVCSample> {
    let scratch: HEVCScratch<Sample>
    let transform = HEVCTransform(bitDepth: Sample.bitDepth)
    let tracker: HEVCContextTracker
    var intraAreas = 0
    var skippedAreas = 0
    var qpSum = 0

    init(_ grid: HEVCGrid, _ planes: HEVCPlanes<Sample>, records: ElementPointer<HEVCUnitRecord>) {
        scratch = HEVCScratch(planes)
        tracker = HEVCContextTracker(grid, records: records)
    }
}

/// The rows of a picture that threads code at the same time.
///
/// SAFETY: `RowProgress` orders the threads, so that none reads a tree's data while another writes it. Each thread has
/// its own worker.
final class HEVCRowTask<Sample: HEVCSample>: @unchecked Sendable {
    private let job: HEVCPictureJob
    private let trees: [HEVCCodingTree]
    private let workers: [HEVCRowWorker<Sample>]
    private let records: ElementPointer<HEVCUnitRecord>
    private let rounds: RefreshRounds
    private let makeCoder: (HEVCRowWorker<Sample>) -> HEVCUnitCoder<Sample>
    private let sliceOfRow: [Int]
    private let progress: RowProgress
    /// The states of the contexts and the latest vectors after the second tree of each row, with which the next row
    /// begins.
    private let states: ElementStorage<UInt8>
    private let vectors: ElementStorage<MotionVector>
    /// The states after each row of the previous picture of the same type. They are closer to those with which a row is
    /// written than the states after the second tree of the row above.
    private let previous: ElementStorage<UInt8>?
    /// The states after each row of this picture.
    let finalStates: ElementStorage<UInt8>
    private static var vectorCount: Int { 2 * HEVCMotionReferences.perList }

    init(
        _ job: HEVCPictureJob, _ trees: [HEVCCodingTree], _ workers: [HEVCRowWorker<Sample>],
        records: ElementPointer<HEVCUnitRecord>, _ rounds: RefreshRounds, previous: ElementStorage<UInt8>?,
        makeCoder: @escaping (HEVCRowWorker<Sample>) -> HEVCUnitCoder<Sample>
    ) {
        self.job = job
        self.trees = trees
        self.workers = workers
        self.records = records
        self.rounds = rounds
        self.makeCoder = makeCoder
        let columns = job.grid.columns
        sliceOfRow = job.slices.enumerated().flatMap { Array(repeating: $0, count: $1.codingTreeCount / columns) }
        progress = RowProgress(rows: job.grid.rows)
        self.previous = previous
        finalStates = ElementStorage(count: job.grid.rows * HEVCContexts.count, repeating: 0)
        states = ElementStorage(count: job.grid.rows * HEVCContexts.count, repeating: 0)
        vectors = ElementStorage(count: job.grid.rows * Self.vectorCount, repeating: .zero)
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
        let columns = job.grid.columns
        let number = sliceOfRow[row]
        let tracker = worker.tracker
        if number != current {
            current = number
            coder.begin(job.slices[number], number: number, rounds)
            tracker.begin(job.slices[number], job, records: records)
        }
        coder.beginTile()
        let continues = row > 0 && sliceOfRow[row - 1] == number
        if continues {
            progress.wait(row: row - 1, count: min(2, columns))
            tracker.load((previous ?? states).elements + (row - 1) * HEVCContexts.count)
            coder.latestVectors.copy(from: vectors.elements + (row - 1) * Self.vectorCount, count: Self.vectorCount)
        } else {
            tracker.initialize()
            coder.latestVectors.fill(.zero, count: Self.vectorCount)
        }
        for column in 0..<columns {
            if row > 0 { progress.wait(row: row - 1, count: min(column + 2, columns)) }
            let address = row * columns + column
            coder.code(address, into: trees[address], states: tracker.states.elements)
            tracker.follow(
                trees[address], address: address,
                neighbors: HEVCTreeNeighbors(hasLeft: column > 0, hasTop: continues))
            if column == min(1, columns - 1) {
                tracker.save(states.elements + row * HEVCContexts.count)
                (vectors.elements + row * Self.vectorCount).copy(from: coder.latestVectors, count: Self.vectorCount)
            }
            progress.report(row: row, count: column + 1)
        }
        tracker.save(finalStates.elements + row * HEVCContexts.count)
    }
}

/// The work after the rows: the slices are written while the rows are deblocked, first all vertical edges, then all
/// horizontal ones.
///
/// SAFETY: all fields are only accessed with the monitor's lock held, except in `write` and `filter`, which the
/// scheduling never calls for the same data at the same time.
final class HEVCFinishTask: @unchecked Sendable {
    private let monitor = Monitor()
    private let rows: Int
    private var write: (() -> Void)?
    private let filter: ((_ row: Int, _ vertical: Bool) -> Void)?
    private var taken = 0
    private var done = 0

    /// - Parameters:
    ///   - write: Writes the slices, if there is no other work between deblocking and writing.
    ///   - filter: Deblocks a row; nil if no slice is deblocked.
    init(rows: Int, write: (() -> Void)?, filter: ((_ row: Int, _ vertical: Bool) -> Void)?) {
        self.rows = rows
        self.write = write
        self.filter = filter
    }

    /// Works until nothing is left. Each thread calls this once.
    func run() {
        let write = monitor.withLock {
            defer { self.write = nil }
            return self.write
        }
        write?()
        guard let filter else { return }
        while let index = take() {
            filter(index % rows, index < rows)
            monitor.withLock {
                done += 1
                if done == rows { monitor.wakeAll() }
            }
        }
    }

    /// Returns the next row to filter; horizontal edges follow as rows from `rows` on.
    private func take() -> Int? {
        monitor.withLock {
            let index = taken
            guard index < 2 * rows else { return nil }
            taken += 1
            while index >= rows && done < rows { _ = monitor.wait() }
            return index
        }
    }
}

extension HEVCPictureEncoder {
    /// Whether the rows of a picture can be coded in parallel. The units of other pictures depend on the end of the row
    /// above: by the size of a slice, or by the QP of the previous unit.
    func codesRows(_ job: HEVCPictureJob) -> Bool {
        chooser == nil && job.sliceByteLimit == nil && !job.tiles.isEnabled
            && (job.qpDeltaDepth == nil || job.areaQPs == nil)
            && job.slices.allSatisfy {
                $0.firstCodingTree % grid.columns == 0 && $0.codingTreeCount % grid.columns == 0
            }
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
