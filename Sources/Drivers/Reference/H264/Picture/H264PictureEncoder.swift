/// Encodes pictures of one size. Each VA context has one. Only one thread at a time may use it; the threads of a
/// pool help this thread. The memory is reused for the next picture.
package final class H264PictureEncoder {
    package let widthInMacroblocks: Int
    package let heightInMacroblocks: Int

    private let geometry: PlaneGeometry
    private let tables: H264PictureTableStorage
    private let quantizerTables = QuantizerTables()
    /// One quantizer for each QP. The quantizers point into `quantizerTables`.
    private let quantizers: ElementStorage<H264Quantizer>
    private var references: H264ReferenceStorage
    private var refresh = RefreshRounds.h264
    private let deblocking = H264DeblockingTables()
    private let chromaQPs = ElementStorage<Int8>(count: 104, repeating: 0)
    private let strengths = ElementStorage<UInt8>(count: 32, repeating: 0)
    private let entropy: SliceEntropyWriter
    private let pool: WorkerPool?
    private let workers: [H264RowWorker]
    private let codedRows: [H264CodedRow]

    /// - Parameter pool: The threads that help; nil for none. The streams do not depend on them.
    package init(widthInMacroblocks: Int, heightInMacroblocks: Int, pool: WorkerPool? = nil) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
        self.pool = pool
        geometry = PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
        tables = H264PictureTableStorage(macroblocks: widthInMacroblocks * heightInMacroblocks)
        quantizers = ElementStorage(count: 52, repeating: quantizerTables[0])
        for qp in 0..<52 { quantizers.elements[qp] = quantizerTables[qp] }
        entropy = SliceEntropyWriter(widthInMacroblocks: widthInMacroblocks)
        // Each row is coded two macroblocks behind the row above it.
        let threads = min(1 + (pool?.helpers ?? 0), heightInMacroblocks, (widthInMacroblocks + 1) / 2)
        let geometry = geometry
        let workers = (0..<threads).map { _ in H264RowWorker(geometry) }
        self.workers = workers
        codedRows = (0..<min(threads + 2, heightInMacroblocks)).map { _ in H264CodedRow(width: widthInMacroblocks) }
        references = H264ReferenceStorage(
            slices: 1, ReferencePlanes(geometry, workers[0].scratch.source.elements))
    }

    /// Returns whether pictures of a size are so large that several threads are faster than one.
    static func profitsFromThreads(widthInMacroblocks: Int, heightInMacroblocks: Int) -> Bool {
        widthInMacroblocks * heightInMacroblocks >= 200
    }

    /// Encodes the job's slices and stores the deblocked picture in `job.reconstruction`.
    ///
    /// The job must have this encoder's size. Its slices must be in order and cover every macroblock once. Its
    /// references must have the same size and must not be the reconstruction. The back end checks these conditions.
    package func encode(_ job: H264PictureJob) -> PictureResult {
        tables.begin()
        let (refreshGuard, renewal) = refresh.begin(
            job.intraRefresh, isIntra: job.slices.allSatisfy { $0.type == .i }, columns: job.widthInMacroblocks,
            rows: job.heightInMacroblocks)
        job.reconstruction.renewal = renewal
        job.reconstruction.allocate()
        listReferences(job.slices)
        let makeCoder = {
            [geometry, quantizers, references, tables = tables.tables, levels = workers[0].scratch.levelModel]
            (worker: H264RowWorker) in
            MacroblockCoder(
                job: job, geometry: geometry, tables: tables, scratch: worker.scratch, levels: levels,
                quantizers: quantizers.elements, references: references.first, refresh: refreshGuard)
        }
        var result = PictureResult(slices: [])
        // The filter parameters by slice. A byte limit can lead to more slices than the job has.
        var filters = job.slices.map { SliceFiltering($0) }
        if let limit = job.sliceByteLimit { filters = code(job, limit, makeCoder(workers[0]), &result) }
        let filtering = ElementStorage(count: filters.count, repeating: SliceFiltering(mode: 1, offsetA: 0, offsetB: 0))
        for (number, filter) in filters.enumerated() { filtering.elements[number] = filter }
        let task = H264PictureTask(
            job, geometry, tables.tables, references.first, workers: workers, codedRows: codedRows, entropy: entropy,
            deblocker: deblocker(job, filtering.elements),
            isSerial: H264SpeedPreset(quality: job.quality, choosesLevels: job.choosesLevels).learns,
            isWritten: job.sliceByteLimit != nil, makeCoder: makeCoder)
        withExtendedLifetime(filtering) {
            if let pool { pool.run(workers.count) { task.run($0) } } else { task.run(0) }
        }
        job.reconstruction.complete(isFinished: job.isReference)
        if job.sliceByteLimit == nil {
            result.slices = task.units
            result.intraMacroblocks = task.intraCount
            result.qpSum = task.qpSum
            result.skippedMacroblocks = task.skipCount
        }
        if job.measuresError { result.lumaSquaredError = squaredError(job.source, job.reconstruction.planes) }
        return result
    }

    /// Codes and writes slices one macroblock after the other, so that they have at most `limit` bytes. Returns the
    /// filter parameters of the slices.
    private func code(
        _ job: H264PictureJob, _ limit: SliceByteLimit, _ coder: MacroblockCoder, _ result: inout PictureResult
    ) -> [SliceFiltering] {
        var coder = coder
        var qps = QPChain()
        var syntax = MacroblockSyntax()
        var filters: [SliceFiltering] = []
        for (index, slice) in job.slices.enumerated() {
            var part = slice
            let end = slice.firstMacroblock + slice.macroblockCount
            while part.macroblockCount > 0 {
                coder.begin(part, number: filters.count, references.first.ofSlice(index))
                qps.begin(part)
                entropy.begin(part, transform8x8: job.transform8x8)
                filters.append(SliceFiltering(part))
                let next = code(part, limit.bytes, &coder, &qps, &syntax)
                result.slices.append(entropy.finish())
                part.firstMacroblock = next
                part.macroblockCount = end - next
                if part.macroblockCount > 0 { part.header = limit.header(index, next) }
            }
        }
        result.intraMacroblocks = coder.intraCount
        result.qpSum = qps.sum
        result.skippedMacroblocks = coder.skipCount
        return filters
    }

    /// Codes a slice up to its end, or up to the macroblock that would make its NAL unit larger than `limit` bytes.
    /// Returns the address after the last macroblock.
    private func code(
        _ slice: H264SliceJob, _ limit: Int, _ coder: inout MacroblockCoder, _ qps: inout QPChain,
        _ syntax: inout MacroblockSyntax
    ) -> Int {
        let end = slice.firstMacroblock + slice.macroblockCount
        for address in slice.firstMacroblock..<end {
            let before = (coder, qps)
            entropy.mark()
            coder.code(x: address % widthInMacroblocks, y: address / widthInMacroblocks, into: &syntax)
            qps.settle(&syntax)
            tables.tables.qp[address] = Int8(truncatingIfNeeded: syntax.qp)
            entropy.write(syntax, address: address)
            if address > slice.firstMacroblock && entropy.maxBytes() > limit {
                entropy.returnToMark()
                (coder, qps) = before
                return address
            }
        }
        return end
    }

    /// Sets the references of the slices, and assigns a number to each distinct picture.
    private func listReferences(_ slices: [H264SliceJob]) {
        if references.slices < slices.count {
            references = H264ReferenceStorage(
                slices: slices.count, ReferencePlanes(geometry, workers[0].scratch.source.elements))
        }
        var distinct: [H264ReconstructedPicture] = []
        for (index, slice) in slices.enumerated() {
            let entries = references.first.ofSlice(index)
            slice.list1.first?.allocate()
            for (list, pictures) in [slice.list0, slice.list1].enumerated() {
                for (position, picture) in pictures.prefix(MacroblockCoder.listLength).enumerated() {
                    let entry = list * MacroblockCoder.listLength + position
                    picture.finishForReference()
                    entries.planes[entry] = picture.planes
                    entries.cleanLimits[entry] = refresh.limit(
                        picture.renewal, columns: widthInMacroblocks, rows: heightInMacroblocks, log2Unit: 4)
                    let existing = distinct.firstIndex { $0 === picture }
                    entries.identities[entry] = Int8(truncatingIfNeeded: existing ?? distinct.count)
                    if existing == nil { distinct.append(picture) }
                }
            }
        }
    }

    /// Returns the deblocking filter, or nil if no slice is filtered.
    private func deblocker(_ job: H264PictureJob, _ slices: ElementPointer<SliceFiltering>) -> H264Deblocker? {
        if job.slices.allSatisfy({ $0.disable_deblocking_filter_idc == 1 }) { return nil }
        for qp in 0..<52 {
            chromaQPs.elements[qp] = Int8(H264TransformTables.chromaQP(qp, offset: job.chroma_qp_index_offset))
            chromaQPs.elements[52 + qp] = Int8(
                H264TransformTables.chromaQP(qp, offset: job.second_chroma_qp_index_offset))
        }
        return H264Deblocker(
            width: widthInMacroblocks, height: heightInMacroblocks, stride: geometry.stride,
            planes: job.reconstruction.planes, tables: tables.tables, slices: slices, chromaQPs: chromaQPs.elements,
            alpha: deblocking.alpha.elements, beta: deblocking.beta.elements, clipping: deblocking.clipping.elements,
            strengths: strengths.elements, comparesBothLists: job.slices.contains { $0.type == .b })
    }

    private func squaredError(_ source: SourcePicture, _ planes: ReferencePlanes) -> UInt64 {
        let width = min(source.width, geometry.width)
        var sum: UInt64 = 0
        for y in 0..<min(source.height, geometry.height) {
            let a = source.luma + y * source.lumaPitch
            let b = planes.luma + y * geometry.stride
            var line: Int32 = 0
            var x = 0
            while x &+ 8 <= width {
                let d = a.load(x, as: HalfBytes.self).words &- b.load(x, as: HalfBytes.self).words
                for i in 0..<8 { line = line &+ Int32(d[i]) &* Int32(d[i]) }
                x &+= 8
            }
            while x < width {
                let d = Int32(a[x]) &- Int32(b[x])
                line = line &+ d &* d
                x &+= 1
            }
            sum &+= UInt64(UInt32(bitPattern: line))
        }
        return sum
    }
}
