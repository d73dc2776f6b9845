/// Encodes HEVC pictures of one grid and bit depth. One belongs to each VA context; one thread at a time may use it.
/// Memory is kept from picture to picture.
package final class HEVCPictureEncoder<Sample: HEVCSample> {
    package let grid: HEVCGrid

    let scratch: HEVCScratch<Sample>
    let tables: HEVCPictureTableStorage
    private let transform = HEVCTransform(bitDepth: Sample.bitDepth)
    /// The source with whole coding tree units.
    private let source: HEVCReconstructedPicture
    /// What SAO looks at while it changes the picture.
    private(set) lazy var deblocked = HEVCReconstructedPicture(grid: grid, bitDepth: Sample.bitDepth)
    let trees: [HEVCCodingTree]
    let tileOfTree: ElementStorage<Int32>
    private let writer: HEVCSliceWriter
    private var refresh = RefreshRounds.hevc
    /// Decides in the search's place.
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

    /// Encodes the job's slices and leaves the filtered picture, its motion and its border in `job.reconstruction`.
    ///
    /// The job must be of this encoder's grid, its slices in order and covering every coding tree unit once, and its
    /// references neither the reconstruction nor of another grid: the back end checks that.
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
        /// By slice, which may be more than the job's.
        var slices: [HEVCSliceJob] = []
        let preset = coder.preset
        let hasSAO =
            (preset.sao || chooser != nil) && job.sliceByteLimit == nil
            && job.slices.contains { $0.saoLuma || $0.saoChroma }
        for (index, slice) in job.slices.enumerated() {
            var part = slice
            var place = job.tiles.tileScan[slice.firstCodingTree]
            let end = place + slice.codingTreeCount
            while place < end {
                coder.begin(part, number: slices.count, refresh)
                slices.append(part)
                writer.begin(part, job)
                let next = code(part, place..<end, job, &coder)
                if !hasSAO { result.slices.append(writer.finish()) }
                slices[slices.count - 1].codingTreeCount = next - place
                part.codingTreeCount = end - next
                place = next
                if let limit = job.sliceByteLimit, place < end {
                    part.firstCodingTree = job.tiles.rasterScan[place]
                    part.header = limit.header(index, part.firstCodingTree)
                }
            }
        }
        filter(job, slices, original, hasSAO: hasSAO)
        if hasSAO {
            for slice in slices {
                writer.begin(slice, job)
                let first = job.tiles.tileScan[slice.firstCodingTree]
                for place in first..<first + slice.codingTreeCount {
                    let address = job.tiles.rasterScan[place]
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

    /// Codes a slice from `places` of the tile scan up to their end, or to the coding tree unit that would make its NAL
    /// unit larger than the limit. Where SAO follows, what is written here only says how contexts adapt.
    private func code(
        _ slice: HEVCSliceJob, _ places: Range<Int>, _ job: HEVCPictureJob, _ coder: inout HEVCUnitCoder<Sample>
    ) -> Int {
        for place in places {
            let address = job.tiles.rasterScan[place]
            if place > places.lowerBound && tileOfTree.elements[address] != tileOfTree.elements[job.tiles.rasterScan[place - 1]]
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
            if place > places.lowerBound && writer.mostBytes() > limit.bytes {
                writer.returnToMark()
                coder = before
                tables.tables.slice[address] = -1
                return place
            }
        }
        return places.upperBound
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
