/// The coding of a picture by several threads. The result does not depend on their number.
///
/// SAFETY: `H264RowSchedule` and `RowProgress` order the threads, so that none reads what another writes at the same
/// time. Each thread has its own worker.
final class H264PictureTask: @unchecked Sendable {
    private let job: H264PictureJob
    private let geometry: PlaneGeometry
    private let planes: ReferencePlanes
    private let tables: H264PictureTables
    private let references: H264SliceReferences
    private let workers: [H264RowWorker]
    private let codedRows: [H264CodedRow]
    private let entropy: SliceEntropyWriter
    private let makeCoder: (H264RowWorker) -> MacroblockCoder
    private let deblocker: H264Deblocker?
    private let schedule: H264RowSchedule
    private let progress: RowProgress
    /// The number of macroblocks of a row that are coded before the row below is informed.
    private let step: Int
    private var qps = QPChain()
    /// The slice of the next macroblock that is written.
    private var slice = 0
    private(set) var units: [[UInt8]] = []

    private let monitor = Monitor()
    private(set) var intraCount = 0
    private(set) var skipCount = 0
    var qpSum: Int { qps.sum }

    /// - Parameters:
    ///   - isSerial: Whether a row must be complete before the next row begins.
    ///   - isWritten: Whether the macroblocks are already coded and written.
    init(
        _ job: H264PictureJob, _ geometry: PlaneGeometry, _ tables: H264PictureTables, _ references: H264SliceReferences,
        workers: [H264RowWorker], codedRows: [H264CodedRow], entropy: SliceEntropyWriter, deblocker: H264Deblocker?,
        isSerial: Bool, isWritten: Bool, makeCoder: @escaping (H264RowWorker) -> MacroblockCoder
    ) {
        self.job = job
        self.geometry = geometry
        planes = job.reconstruction.planes
        self.tables = tables
        self.references = references
        self.workers = workers
        self.codedRows = codedRows
        self.entropy = entropy
        self.deblocker = deblocker
        self.makeCoder = makeCoder
        schedule = H264RowSchedule(
            rows: job.heightInMacroblocks, capacity: codedRows.count, isSerial: isSerial, isWritten: isWritten,
            interpolates: job.isReference)
        progress = RowProgress(rows: job.heightInMacroblocks)
        step = max(1, job.widthInMacroblocks / (4 * workers.count))
        units.reserveCapacity(job.slices.count)
    }

    /// Works on rows until nothing is left to do.
    func run(_ index: Int) {
        let worker = workers[index]
        var coder = makeCoder(worker)
        var slice = -1
        while let work = schedule.next(worker: index) {
            switch work {
            case .code(let row): code(row, &coder, slice: &slice)
            case .write(let row): write(row)
            case .filter(let row): filter(row)
            case .interpolate(let row): planes.interpolate(macroblockRow: row, geometry, worker.sums)
            }
            schedule.finish(work)
        }
        monitor.withLock {
            intraCount += coder.intraCount
            skipCount += coder.skipCount
        }
    }

    /// Codes a row. `slice` is the index of the coder's slice; −1 if none has begun.
    private func code(_ row: Int, _ coder: inout MacroblockCoder, slice: inout Int) {
        codedRows[row % codedRows.count].withMacroblocks { code(row, &coder, slice: &slice, into: &$0) }
    }

    private func code(
        _ row: Int, _ coder: inout MacroblockCoder, slice: inout Int, into macroblocks: inout [MacroblockSyntax]
    ) {
        let width = job.widthInMacroblocks
        var sliceEnd = slice < 0 ? 0 : end(slice)
        /// The number of macroblocks of the row above that are known to be coded.
        var above = row > 0 ? 0 : width
        var x = 0
        while x < width {
            let end = min(x + step, width)
            // The last macroblock predicts from the one above right.
            let needed = min(end + 1, width)
            if above < needed { above = progress.wait(row: row - 1, count: needed) }
            while x < end {
                let address = row * width + x
                if address >= sliceEnd {
                    repeat { slice += 1 } while address >= self.end(slice)
                    sliceEnd = self.end(slice)
                    coder.begin(job.slices[slice], number: slice, references.ofSlice(slice))
                }
                coder.code(x: x, y: row, into: &macroblocks[x])
                x += 1
            }
            progress.report(row: row, count: end)
        }
    }

    /// Returns the address after the last macroblock of a slice of the job.
    private func end(_ slice: Int) -> Int { job.slices[slice].firstMacroblock + job.slices[slice].macroblockCount }

    /// Writes a row, and sets the QPs of its macroblocks.
    private func write(_ row: Int) {
        codedRows[row % codedRows.count].withMacroblocks { write(row, &$0) }
    }

    private func write(_ row: Int, _ macroblocks: inout [MacroblockSyntax]) {
        let width = job.widthInMacroblocks
        var qps = qps
        var isFirst = row * width == job.slices[slice].firstMacroblock
        var sliceEnd = end(slice)
        for x in 0..<width {
            let address = row * width + x
            if isFirst {
                entropy.begin(job.slices[slice], transform8x8: job.transform8x8)
                qps.begin(job.slices[slice])
                isFirst = false
            }
            qps.settle(&macroblocks[x])
            tables.qp[address] = Int8(truncatingIfNeeded: macroblocks[x].qp)
            // A span lends the element, a subscript of the array would copy it.
            entropy.write(macroblocks.span[x], address: address, column: x)
            if address + 1 == sliceEnd {
                units.append(entropy.finish())
                slice += 1
                if slice < job.slices.count {
                    isFirst = true
                    sliceEnd = end(slice)
                }
            }
        }
        self.qps = qps
    }

    private func filter(_ row: Int) {
        deblocker?.filterRow(row)
        if job.isReference { planes.extend(macroblockRow: row, geometry) }
    }
}
