import ReferenceDriver
import TestOracles

/// Pictures of random but legal HEVC syntax, and their streams.
struct HEVCRandomStream {
    struct Picture {
        var content: HEVCRandomTrees.Content
        /// The slices in one coding variant, with their trees in tile scan.
        var slices: [HEVCSliceJob]
        var trees: [[HEVCCodingTree]]
        var usesTemporalMotion = false
        var collocatedIndex = 0
    }

    var headers: HEVCSyntaxHeaders
    var pictures: [Picture] = []
    private let reference: HEVCReconstructedPicture
    private let source = ElementStorage<UInt8>(count: 64, repeating: 0)
    private let writer: HEVCSliceWriter

    /// Makes pictures: the first is intra, and the others have the `contents` in turn.
    init(
        _ headers: HEVCSyntaxHeaders, seed: UInt64, contents: [HEVCRandomTrees.Content],
        options: HEVCRandomTrees.Options = .init()
    ) {
        self.headers = headers
        let grid = headers.grid
        reference = HEVCReconstructedPicture(grid: grid, bitDepth: headers.bitDepth)
        writer = HEVCSliceWriter(grid)
        var maker = HEVCRandomTrees(headers, seed: seed, options: options)
        for (poc, content) in ([.intra] + contents).enumerated() {
            maker.beginPicture(content)
            var picture = Picture(content: content, slices: [], trees: [])
            picture.usesTemporalMotion = headers.temporalMotion && poc > 0 && maker.chance(70)
            let fromList0 = maker.chance(50)
            let most = max(Self.stored(poc), 1)
            let references = (maker.random(1...most), maker.random(1...most))
            // All slices of a picture have the same collocated picture.
            picture.collocatedIndex =
                (content != .bipredictive || fromList0 ? references.0 : references.1) > 1 && maker.chance(50) ? 1 : 0
            for (start, count) in Self.spans(headers, &maker) {
                var slice = HEVCSliceJob(
                    firstCodingTree: headers.tiles.rasterScan[start], codingTreeCount: count, type: .i,
                    qp: maker.random((maker.chance(30) ? 0 : 12)...51),
                    header: SliceHeaderBits(prefix: [], payload: [], bitCount: 0))
                slice.collocated_from_l0_flag = content != .bipredictive || fromList0
                slice.mergeCandidates = maker.random(1...5)
                slice.mvd_l1_zero_flag = maker.chance(50)
                slice.slice_sao_luma_flag = headers.hasSAO && maker.chance(70)
                slice.slice_sao_chroma_flag = headers.hasSAO && maker.chance(70)
                slice.hasHeaderExtension = headers.hasHeaderExtension
                let one = HEVCReference(picture: reference, poc: 0)
                slice.list0 = [HEVCReference](repeating: one, count: references.0)
                slice.list1 = [HEVCReference](repeating: one, count: references.1)
                picture.trees.append(
                    (start..<(start + count)).map {
                        maker.makeTree(headers.tiles.rasterScan[$0], slice: slice, number: picture.slices.count)
                    })
                picture.slices.append(slice)
            }
            pictures.append(picture)
        }
    }

    private static func stored(_ poc: Int) -> Int { min(poc, 2) }

    /// Returns the first coding tree and the count of each slice of a picture, in tile scan: divided anywhere in one
    /// tile, or between tiles.
    private static func spans(_ headers: HEVCSyntaxHeaders, _ maker: inout HEVCRandomTrees) -> [(Int, Int)] {
        let count = headers.grid.codingTrees
        var cuts: [Int] = []
        let mayCutInside = !headers.tiles.isEnabled
        let percent = maker.pick([0, 100 / count + 1, 20])
        for index in 1..<max(count, 1) {
            let scan = headers.tiles.rasterScan
            let isTileStart = headers.tiles.tileID[scan[index]] != headers.tiles.tileID[scan[index - 1]]
            if mayCutInside ? maker.chance(percent) : isTileStart && maker.chance(40) { cuts.append(index) }
        }
        return zip([0] + cuts, cuts + [count]).map { ($0, $1 - $0) }
    }

    /// Returns the slice type and the flag of a coding variant; `index` selects among the possible variants.
    private func variant(_ content: HEVCRandomTrees.Content, poc: Int, _ index: Int) -> (SliceType, cabacInit: Bool) {
        if poc == 0 { return (.i, false) }
        let variants: [(SliceType, Bool)] =
            switch content {
            case .intra: [(.i, false), (.p, false), (.b, false), (.p, true), (.b, true)]
            case .forward: [(.p, false), (.p, true)]
            case .bipredictive: [(.b, false), (.b, true)]
            }
        return variants[index % variants.count]
    }

    func job(_ slices: [HEVCSliceJob], poc: Int) -> HEVCPictureJob {
        var job = HEVCPictureJob(
            grid: headers.grid,
            source: HEVCSource(
                luma: source.elements, chroma: source.elements, lumaPitch: 0, chromaPitch: 0, width: headers.grid.width,
                height: headers.grid.height),
            reconstruction: reference, poc: poc, slices: slices)
        job.tiles = headers.tiles
        job.bitDepth = headers.bitDepth
        job.max_transform_hierarchy_depth_inter = headers.max_transform_hierarchy_depth_inter
        job.max_transform_hierarchy_depth_intra = headers.max_transform_hierarchy_depth_intra
        job.amp_enabled_flag = headers.amp_enabled_flag
        job.hasTransformSkip = headers.hasTransformSkip
        job.sign_data_hiding_enabled_flag = headers.sign_data_hiding_enabled_flag
        job.qpDeltaDepth = headers.qpDeltaDepth
        return job
    }

    /// Returns the NAL units of a picture.
    func units(_ poc: Int, variant: Int) -> [[UInt8]] {
        let picture = pictures[poc]
        let (type, cabacInit) = self.variant(picture.content, poc: poc, variant)
        return zip(picture.slices, picture.trees).map { slice, trees in
            var slice = slice
            slice.type = type
            slice.cabac_init_flag = cabacInit
            if type != .b {
                slice.list1 = []
                slice.collocated_from_l0_flag = true
            }
            if type == .i { slice.list0 = [] }
            slice.header = headers.slice(
                slice, poc: poc, stored: Self.stored(poc), usesTemporalMotion: picture.usesTemporalMotion,
                collocatedIndex: picture.collocatedIndex)
            writer.begin(slice, job([slice], poc: poc))
            let start = headers.tiles.tileScan[slice.firstCodingTree]
            for (index, tree) in trees.enumerated() {
                writer.write(tree, address: headers.tiles.rasterScan[start + index])
            }
            return writer.finish()
        }
    }

    func stream(variant: Int) -> [UInt8] {
        headers.parameterSets + pictures.indices.flatMap { units($0, variant: variant).joined() }
    }
}
