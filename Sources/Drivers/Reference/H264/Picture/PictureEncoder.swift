/// Encodes pictures of one size. One belongs to each VA context; one thread at a time may use it. Scratch memory
/// is kept from picture to picture.
package final class PictureEncoder {
    package let widthInMacroblocks: Int
    package let heightInMacroblocks: Int

    private let geometry: PlaneGeometry
    private let scratch = Scratch()
    private let tables: PictureTableStorage
    private let quantizerTables = QuantizerTables()
    /// One quantiser to a QP. Its lanes look into `quantizerTables`.
    private let quantizers: ElementStorage<Quantizer>
    private let references: ElementStorage<ReferencePlanes>
    private let referenceIdentities = ElementStorage<Int8>(count: 64, repeating: -1)
    /// By list and index as `references`: where samples end that intra refresh lets renewed macroblocks use.
    private let cleanLimits = ElementStorage<Int32>(count: 64, repeating: 0)
    private var refresh = RefreshRounds.h264
    private let deblocking = DeblockingTables()
    private let chromaQPs = ElementStorage<Int8>(count: 104, repeating: 0)
    private let strengths = ElementStorage<UInt8>(count: 32, repeating: 0)
    private let entropy: SliceEntropyWriter

    package init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
        geometry = PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
        tables = PictureTableStorage(macroblocks: widthInMacroblocks * heightInMacroblocks)
        quantizers = ElementStorage(count: 52, repeating: quantizerTables[0])
        for qp in 0..<52 { quantizers.elements[qp] = quantizerTables[qp] }
        references = ElementStorage(count: 64, repeating: ReferencePlanes(geometry, scratch.source.elements))
        entropy = SliceEntropyWriter(widthInMacroblocks: widthInMacroblocks)
    }

    /// Encodes the job's slices and leaves the deblocked picture in `job.reconstruction`.
    ///
    /// The job must be of this encoder's size, its slices in order and covering every macroblock once, and its
    /// references neither the reconstruction nor of another size: the back end checks that.
    package func encode(_ job: PictureJob) -> PictureResult {
        tables.begin()
        let (refreshGuard, renewal) = refresh.begin(
            job.intraRefresh, isIntra: job.slices.allSatisfy { $0.type == .i }, columns: job.widthInMacroblocks,
            rows: job.heightInMacroblocks)
        job.reconstruction.renewal = renewal
        var coder = MacroblockCoder(
            job: job, geometry: geometry, tables: tables.tables, scratch: scratch, quantizers: quantizers.elements,
            references: references.elements, referenceIdentities: referenceIdentities.elements, refresh: refreshGuard,
            cleanLimits: cleanLimits.elements)
        var result = PictureResult(slices: [])
        result.slices.reserveCapacity(job.slices.count)
        var syntax = MacroblockSyntax()
        /// By slice, which may be more than the job's.
        var filters: [SliceFiltering] = []
        for (index, slice) in job.slices.enumerated() {
            listReferences(slice)
            var part = slice
            let end = slice.firstMacroblock + slice.macroblockCount
            while part.macroblockCount > 0 {
                coder.begin(part, number: filters.count)
                entropy.begin(part, transform8x8: job.transform8x8)
                filters.append(SliceFiltering(part))
                if let limit = job.sliceByteLimit {
                    encode(part, limit.bytes, &coder, &syntax)
                } else {
                    for address in part.firstMacroblock..<end {
                        coder.code(address, into: &syntax)
                        entropy.write(syntax, address: address)
                    }
                    codedEnd = end
                }
                result.slices.append(entropy.finish())
                part.firstMacroblock = codedEnd
                part.macroblockCount = end - codedEnd
                if let limit = job.sliceByteLimit, part.macroblockCount > 0 {
                    part.header = limit.header(index, codedEnd)
                }
            }
        }
        deblock(job, filters)
        let planes = job.reconstruction.planes
        job.reconstruction.finish(isReference: job.isReference)
        result.intraMacroblocks = coder.intraCount
        result.qpSum = coder.qpSum
        result.skippedMacroblocks = coder.skipCount
        result.lumaSquaredError = squaredError(job.source, planes)
        return result
    }

    /// The address after the macroblocks of the slice coded last.
    private var codedEnd = 0

    /// Codes a slice up to its end, or to the macroblock that would make its NAL unit larger than `limit` bytes.
    private func encode(
        _ slice: SliceJob, _ limit: Int, _ coder: inout MacroblockCoder, _ syntax: inout MacroblockSyntax
    ) {
        codedEnd = slice.firstMacroblock
        while codedEnd < slice.firstMacroblock + slice.macroblockCount {
            let before = coder
            entropy.mark()
            coder.code(codedEnd, into: &syntax)
            entropy.write(syntax, address: codedEnd)
            if codedEnd > slice.firstMacroblock && entropy.mostBytes() > limit {
                entropy.returnToMark()
                coder = before
                return
            }
            codedEnd += 1
        }
    }

    /// Sets the planes of the lists, and gives each distinct picture a number: deblocking compares pictures, not
    /// indices.
    private func listReferences(_ slice: SliceJob) {
        for (list, pictures) in [slice.list0, slice.list1].enumerated() {
            for (index, picture) in pictures.prefix(MacroblockCoder.listLength).enumerated() {
                let entry = list * MacroblockCoder.listLength + index
                picture.finishForReference()
                references.elements[entry] = picture.planes
                cleanLimits.elements[entry] = refresh.limit(
                    picture.renewal, columns: widthInMacroblocks, rows: heightInMacroblocks, log2Unit: 4)
                let existing = distinctReferences.firstIndex { $0 === picture }
                referenceIdentities.elements[entry] = Int8(truncatingIfNeeded: existing ?? distinctReferences.count)
                if existing == nil { distinctReferences.append(picture) }
            }
        }
    }

    /// The pictures that this picture's slices refer to.
    private var distinctReferences: [ReconstructedPicture] = []

    private func deblock(_ job: PictureJob, _ slices: [SliceFiltering]) {
        distinctReferences.removeAll()
        if job.slices.allSatisfy({ $0.disableDeblockingFilterIdc == 1 }) { return }
        for qp in 0..<52 {
            chromaQPs.elements[qp] = Int8(TransformTables.chromaQP(qp, offset: job.chromaQPIndexOffset))
            chromaQPs.elements[52 + qp] = Int8(TransformTables.chromaQP(qp, offset: job.secondChromaQPIndexOffset))
        }
        let filtering = ElementStorage(count: slices.count, repeating: SliceFiltering(mode: 1, offsetA: 0, offsetB: 0))
        for (number, slice) in slices.enumerated() { filtering.elements[number] = slice }
        let deblocker = Deblocker(
            width: widthInMacroblocks, height: heightInMacroblocks, stride: geometry.stride,
            planes: job.reconstruction.planes, tables: tables.tables, slices: filtering.elements, chromaQPs: chromaQPs.elements,
            alpha: deblocking.alpha.elements, beta: deblocking.beta.elements, clipping: deblocking.clipping.elements,
            strengths: strengths.elements, comparesBothLists: job.slices.contains { $0.type == .b })
        withExtendedLifetime(filtering) {
            for y in 0..<heightInMacroblocks { deblocker.filterRow(y) }
        }
    }

    private func squaredError(_ source: SourcePicture, _ planes: ReferencePlanes) -> UInt64 {
        let width = min(source.width, geometry.width)
        var sum: UInt64 = 0
        for y in 0..<min(source.height, geometry.height) {
            let a = source.luma + y * source.lumaPitch
            let b = planes.luma + y * geometry.stride
            var line: UInt32 = 0
            for x in 0..<width {
                let d = Int32(a[x]) &- Int32(b[x])
                line = line &+ UInt32(bitPattern: d &* d)
            }
            sum &+= UInt64(line)
        }
        return sum
    }
}
