@testable import ReferenceDriver
import TestOracles
import Testing

/// Compares sample adaptive offset with a plain implementation of H.265 8.7.3, and tests its choice of parameters.
struct HEVCSAOTests {
    private func component(_ tree: HEVCCodingTree, _ plane: Int) -> HEVCSAOParameters.Component {
        let sao = tree.sao.elements[0]
        return plane == 0 ? sao.luma : (plane == 1 ? sao.cb : sao.cr)
    }

    /// Applies 8.7.3.2, sample by sample.
    private func applied<Sample: HEVCSample>(
        _ picture: HEVCFilterPicture<Sample>, _ trees: [HEVCCodingTree], plane: Int
    ) -> [[Int]] {
        let deblocked = picture.samples(plane)
        var result = deblocked
        let shift = plane == 0 ? 0 : 1
        let (height, width) = (deblocked.count, deblocked[0].count)
        let order = picture.job.tiles.tileScan
        for y in 0..<height {
            for x in 0..<width {
                let address = picture.tree(x << shift, y << shift)
                let parameters = component(trees[address], plane)
                var offset = 0
                let value = deblocked[y][x]
                switch parameters.kind {
                case .off: break
                case .band:
                    let band = value >> (Sample.bitDepth - 5)
                    for k in 0..<4 where (Int(parameters.band) + k) & 31 == band {
                        offset = Int(parameters.offsets[k])
                    }
                case .edge:
                    let (hPos, vPos) = [
                        ([-1, 1], [0, 0]), ([0, 0], [-1, 1]), ([-1, 1], [-1, 1]), ([1, -1], [-1, 1]),
                    ][
                        Int(parameters.edgeClass)]
                    var edge = 2
                    var isCut = false
                    for k in 0..<2 {
                        let (nx, ny) = (x + hPos[k], y + vPos[k])
                        if nx < 0 || ny < 0 || nx >= width || ny >= height {
                            isCut = true
                            continue
                        }
                        let other = picture.tree(nx << shift, ny << shift)
                        let (mine, its) = (picture.tables.slice[address], picture.tables.slice[other])
                        if mine != its {
                            let isLater = order[address] > order[other]
                            let judge = picture.slices[Int(isLater ? mine : its)]
                            if !judge.slice_loop_filter_across_slices_enabled_flag { isCut = true }
                        }
                        let tiles = picture.job.tiles.tileID
                        if tiles[address] != tiles[other] && !picture.job.loop_filter_across_tiles_enabled_flag {
                            isCut = true
                        }
                        edge += (value - deblocked[ny][nx]).signum()
                    }
                    // The index of SaoOffsetVal[edgeIdx], with 0 moved to the front.
                    let index = edge == 2 ? 0 : (edge < 2 ? edge + 1 : edge)
                    if !isCut && index > 0 { offset = Int(parameters.offsets[index - 1]) }
                }
                result[y][x] = min(max(value + offset, 0), (1 << Sample.bitDepth) - 1)
            }
        }
        return result
    }

    private func randomComponent(depth: Int, _ generator: inout SplitMix64) -> HEVCSAOParameters.Component {
        var parameters = HEVCSAOParameters.Component()
        parameters.kind = [.off, .band, .edge][Int.random(in: 0..<3, using: &generator)]
        let most = Int8((1 << (depth - 5)) - 1)
        for i in 0..<4 {
            let size = Int8.random(in: 0...most, using: &generator)
            let isNegative = parameters.kind == .edge ? i > 1 : Bool.random(using: &generator)
            parameters.offsets[i] = isNegative ? -size : size
        }
        parameters.band = UInt8.random(in: 0..<32, using: &generator)
        parameters.edgeClass = UInt8.random(in: 0..<4, using: &generator)
        return parameters
    }

    private func checkFilter<Sample: HEVCSample>(_ type: Sample.Type) {
        var generator = SplitMix64(state: UInt64(Sample.bitDepth) + 50)
        var changed = 0
        for (width, height) in [(16, 16), (64, 64), (72, 40), (136, 88), (200, 72)] {
            for log2Tree in 4...6 {
                for round in 0..<3 {
                    let picture = HEVCFilterPicture<Sample>(
                        width: width, height: height, log2Tree: log2Tree, &generator)
                    let trees = (0..<picture.grid.codingTrees).map { _ in HEVCCodingTree() }
                    for tree in trees {
                        var sao = HEVCSAOParameters()
                        sao.luma = randomComponent(depth: Sample.bitDepth, &generator)
                        sao.cb = randomComponent(depth: Sample.bitDepth, &generator)
                        sao.cr = randomComponent(depth: Sample.bitDepth, &generator)
                        tree.sao.elements[0] = sao
                    }
                    let before = (0..<3).map { picture.samples($0) }
                    let expected = (0..<3).map { applied(picture, trees, plane: $0) }
                    let copy = HEVCReconstructedPicture(grid: picture.grid, bitDepth: Sample.bitDepth)
                    HEVCSAOFilter<Sample>(bounds: picture.bounds, planes: picture.planes, scratch: copy.planes())
                        .run(trees)
                    for plane in 0..<3 {
                        if expected[plane] != before[plane] { changed += 1 }
                        #expect(
                            picture.samples(plane) == expected[plane],
                            "plane \(plane) of \(width)×\(height), trees of \(1 << log2Tree), round \(round)")
                    }
                }
            }
        }
        #expect(changed > 100)
    }

    @Test func byteSamplesMatchTheStandard() { checkFilter(UInt8.self) }
    @Test func wordSamplesMatchTheStandard() { checkFilter(UInt16.self) }

    /// Expects the chosen parameters to bring the picture nearer to its source, to merge only within slices and tiles,
    /// and to be within the ranges of the syntax.
    private func checkDecision<Sample: HEVCSample>(_ type: Sample.Type) {
        var generator = SplitMix64(state: UInt64(Sample.bitDepth) + 60)
        var merges = 0
        var kinds = Set<HEVCSAOParameters.Kind>()
        for log2Tree in 4...6 {
            for round in 0..<6 {
                let original = HEVCFilterPicture<Sample>(width: 136, height: 88, log2Tree: log2Tree, &generator)
                let slices = original.slices.map {
                    var slice = $0
                    slice.slice_sao_luma_flag = true
                    slice.slice_sao_chroma_flag = true
                    return slice
                }
                let bounds = HEVCFilterBounds(original.job, slices: slices, slice: original.tables.slice)
                let source = HEVCReconstructedPicture(grid: original.grid, bitDepth: Sample.bitDepth)
                let sourcePlanes = source.planes(Sample.self)
                // The source is the picture with shifted bands, or with some of its noise smoothed.
                for component in 0..<3 {
                    let to = sourcePlanes.plane(component)
                    let rows = original.samples(component)
                    for y in rows.indices {
                        for x in rows[y].indices {
                            let near = rows[y][max(x - 1, 0)] + rows[y][min(x + 1, rows[y].count - 1)]
                            let move = (rows[y][x] >> (Sample.bitDepth - 5)) % 3 * (1 << (Sample.bitDepth - 8))
                            let value = round % 2 == 0 ? rows[y][x] + move : (2 * rows[y][x] + near + 2) / 4
                            to.elements[y * to.stride + x] = Sample(min(value, Sample.largest))
                        }
                    }
                }
                let trees = (0..<original.grid.codingTrees).map { _ in HEVCCodingTree() }
                HEVCSAODecision<Sample>(
                    bounds: bounds, tiles: original.job.tiles, source: sourcePlanes, planes: original.planes, lambda: 4
                ).run(trees)
                for (address, tree) in trees.enumerated() {
                    let sao = tree.sao.elements[0]
                    let column = address % original.grid.columns
                    for (isMerged, other) in [
                        (sao.mergesLeft, address - 1), (sao.mergesUp, address - original.grid.columns),
                    ] where isMerged {
                        merges += 1
                        #expect(other >= 0 && (!sao.mergesLeft || column > 0))
                        #expect(original.tables.slice[other] == original.tables.slice[address])
                        #expect(original.job.tiles.tileID[other] == original.job.tiles.tileID[address])
                        let taken = trees[other].sao.elements[0]
                        for plane in 0..<3 {
                            #expect(component(tree, plane).offsets == component(trees[other], plane).offsets)
                            #expect(component(tree, plane).kind == component(trees[other], plane).kind)
                        }
                        #expect(taken.luma.band == sao.luma.band && taken.luma.edgeClass == sao.luma.edgeClass)
                    }
                    #expect(sao.cb.kind == sao.cr.kind && !(sao.mergesLeft && sao.mergesUp))
                    if sao.cb.kind == .edge { #expect(sao.cb.edgeClass == sao.cr.edgeClass) }
                    for plane in 0..<3 {
                        let parameters = component(tree, plane)
                        kinds.insert(parameters.kind)
                        for i in 0..<4 {
                            let offset = Int(parameters.offsets[i])
                            #expect(abs(offset) <= (1 << (Sample.bitDepth - 5)) - 1)
                            if parameters.kind == .edge { #expect(i < 2 ? offset >= 0 : offset <= 0) }
                        }
                    }
                }
                func error(_ plane: Int) -> Int {
                    let to = sourcePlanes.plane(plane)
                    var sum = 0
                    for (y, row) in original.samples(plane).enumerated() {
                        for (x, value) in row.enumerated() {
                            let d = value - Int(to.elements[y * to.stride + x])
                            sum += d * d
                        }
                    }
                    return sum
                }
                let before = (0..<3).map { error($0) }
                let copy = HEVCReconstructedPicture(grid: original.grid, bitDepth: Sample.bitDepth)
                HEVCSAOFilter<Sample>(bounds: bounds, planes: original.planes, scratch: copy.planes()).run(trees)
                for plane in 0..<3 { #expect(error(plane) < before[plane] * 9 / 10) }
            }
        }
        #expect(merges > 10 && kinds.count == 3, "\(merges) \(kinds)")
    }

    @Test func byteChoicesReduceTheError() { checkDecision(UInt8.self) }
    @Test func wordChoicesReduceTheError() { checkDecision(UInt16.self) }
}
