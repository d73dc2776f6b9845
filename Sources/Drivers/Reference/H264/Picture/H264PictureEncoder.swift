/// Encodes pictures of one size. Each VA context has one. Only one thread at a time may use it. The scratch memory is
/// reused for the next picture.
package final class H264PictureEncoder {
    package let widthInMacroblocks: Int
    package let heightInMacroblocks: Int

    private let geometry: PlaneGeometry
    private let scratch = H264Scratch()
    private let tables: H264PictureTableStorage
    private let quantizerTables = QuantizerTables()
    /// One quantizer for each QP. The quantizers point into `quantizerTables`.
    private let quantizers: ElementStorage<H264Quantizer>
    private let references: ElementStorage<ReferencePlanes>
    private let referenceIdentities = ElementStorage<Int8>(count: 64, repeating: -1)
    /// The limit of the samples that refreshed macroblocks may use during intra refresh, with the same indices as
    /// `references`.
    private let cleanLimits = ElementStorage<Int32>(count: 64, repeating: 0)
    private var refresh = RefreshRounds.h264
    private let deblocking = H264DeblockingTables()
    private let chromaQPs = ElementStorage<Int8>(count: 104, repeating: 0)
    private let strengths = ElementStorage<UInt8>(count: 32, repeating: 0)
    private let entropy: SliceEntropyWriter

    package init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
        geometry = PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
        tables = H264PictureTableStorage(macroblocks: widthInMacroblocks * heightInMacroblocks)
        quantizers = ElementStorage(count: 52, repeating: quantizerTables[0])
        for qp in 0..<52 { quantizers.elements[qp] = quantizerTables[qp] }
        references = ElementStorage(count: 64, repeating: ReferencePlanes(geometry, scratch.source.elements))
        entropy = SliceEntropyWriter(widthInMacroblocks: widthInMacroblocks)
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
        var coder = MacroblockCoder(
            job: job, geometry: geometry, tables: tables.tables, scratch: scratch, quantizers: quantizers.elements,
            references: references.elements, referenceIdentities: referenceIdentities.elements, refresh: refreshGuard,
            cleanLimits: cleanLimits.elements)
        var result = PictureResult(slices: [])
        result.slices.reserveCapacity(job.slices.count)
        var syntax = MacroblockSyntax()
        // The filter parameters by slice. A byte limit can lead to more slices than the job has.
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
        if job.measuresError { result.lumaSquaredError = squaredError(job.source, planes) }
        return result
    }

    /// The address after the last macroblock of the slice that was coded last.
    private var codedEnd = 0

    /// Codes a slice up to its end, or up to the macroblock that would make its NAL unit larger than `limit` bytes.
    /// Sets `codedEnd`.
    private func encode(
        _ slice: H264SliceJob, _ limit: Int, _ coder: inout MacroblockCoder, _ syntax: inout MacroblockSyntax
    ) {
        codedEnd = slice.firstMacroblock
        while codedEnd < slice.firstMacroblock + slice.macroblockCount {
            let before = coder
            entropy.mark()
            coder.code(codedEnd, into: &syntax)
            entropy.write(syntax, address: codedEnd)
            if codedEnd > slice.firstMacroblock && entropy.maxBytes() > limit {
                entropy.returnToMark()
                coder = before
                return
            }
            codedEnd += 1
        }
    }

    /// Sets the planes of the lists, and assigns a number to each distinct picture. Deblocking compares pictures, not
    /// indices.
    private func listReferences(_ slice: H264SliceJob) {
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

    /// The distinct pictures that the slices of this picture refer to.
    private var distinctReferences: [H264ReconstructedPicture] = []

    private func deblock(_ job: H264PictureJob, _ slices: [SliceFiltering]) {
        distinctReferences.removeAll()
        if job.slices.allSatisfy({ $0.disable_deblocking_filter_idc == 1 }) { return }
        for qp in 0..<52 {
            chromaQPs.elements[qp] = Int8(H264TransformTables.chromaQP(qp, offset: job.chroma_qp_index_offset))
            chromaQPs.elements[52 + qp] = Int8(
                H264TransformTables.chromaQP(qp, offset: job.second_chroma_qp_index_offset))
        }
        let filtering = ElementStorage(count: slices.count, repeating: SliceFiltering(mode: 1, offsetA: 0, offsetB: 0))
        for (number, slice) in slices.enumerated() { filtering.elements[number] = slice }
        let deblocker = H264Deblocker(
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
