/// Applies sample adaptive offset, H.265 8.7.3.
struct HEVCSAOFilter<Sample: HEVCSample> {
    let bounds: HEVCFilterBounds
    /// The deblocked picture on input, the filtered picture on output.
    let planes: HEVCPlanes<Sample>
    /// Memory of the same layout for a copy of the deblocked samples.
    let scratch: HEVCPlanes<Sample>

    /// Applies the SAO parameters of the trees, which are in raster order.
    func run(_ trees: [HEVCCodingTree]) {
        for component in 0..<3 {
            let isOn = trees.contains { Self.component($0, component).kind != .off }
            if !isOn { continue }
            let shift = component == 0 ? 0 : 1
            let (width, height) = (bounds.grid.width >> shift, bounds.grid.height >> shift)
            let (plane, copy) = (planes.plane(component), scratch.plane(component))
            for y in 0..<height { (copy.elements + y * copy.stride).copy(from: plane.elements + y * plane.stride, count: width) }
            for address in trees.indices {
                let parameters = Self.component(trees[address], component)
                switch parameters.kind {
                case .off: break
                case .band: filterBands(parameters, area(address, shift), plane, copy)
                case .edge:
                    filterEdges(parameters, area: area(address, shift), plane: plane, copy: copy, address: address)
                }
            }
        }
    }

    private static func component(_ tree: HEVCCodingTree, _ component: Int) -> HEVCSAOParameters.Component {
        let sao = tree.sao.elements[0]
        return component == 0 ? sao.luma : component == 1 ? sao.cb : sao.cr
    }

    private struct Area {
        var x: Range<Int>
        var y: Range<Int>
    }

    private func area(_ address: Int, _ shift: Int) -> Area {
        let grid = bounds.grid
        let size = grid.codingTreeSize >> shift
        let (x, y) = (address % grid.columns * size, address / grid.columns * size)
        return Area(x: x..<min(x + size, grid.width >> shift), y: y..<min(y + size, grid.height >> shift))
    }

    private func clipped(_ value: Int) -> Sample {
        Sample(truncatingIfNeeded: min(max(value, 0), (1 << Sample.bitDepth) - 1))
    }

    private func filterBands(
        _ parameters: HEVCSAOParameters.Component, _ area: Area, _ plane: HEVCPlane<Sample>, _ copy: HEVCPlane<Sample>
    ) {
        var offsets = SIMD32<Int8>.zero
        for index in 0..<4 { offsets[(Int(parameters.band) + index) & 31] = parameters.offsets[index] }
        let shift = Sample.bitDepth - 5
        for y in area.y {
            let from = copy.elements + y * copy.stride
            let to = plane.elements + y * plane.stride
            for x in area.x {
                let value = Int(from[x])
                to[x] = clipped(value + Int(offsets[value >> shift]))
            }
        }
    }

    private func filterEdges(
        _ parameters: HEVCSAOParameters.Component, area: Area, plane: HEVCPlane<Sample>, copy: HEVCPlane<Sample>,
        address: Int
    ) {
        let offsets = parameters.offsets
        // Indexed by edgeIdx before it is remapped: local minimum, concave, flat, convex, local maximum.
        let byKind = SIMD8<Int16>(
            Int16(offsets[0]), Int16(offsets[1]), 0, Int16(offsets[2]), Int16(offsets[3]), 0, 0, 0)
        let step = HEVCSAOStatistics.step(Int(parameters.edgeClass), copy.stride)
        let (dx, dy) = [(1, 0), (0, 1), (1, 1), (-1, 1)][Int(parameters.edgeClass)]
        let readable = readableUnits(address)
        for y in area.y {
            let from = copy.elements + y * copy.stride
            let to = plane.elements + y * plane.stride
            func filter(_ x: Int) {
                let kind = 2 + sign(from[x], from[x - step]) + sign(from[x], from[x + step])
                to[x] = clipped(Int(from[x]) + Int(byKind[kind]))
            }
            /// Filters a sample whose neighbors can lie in other units, if SAO may read those units.
            func filterBorder(_ x: Int) {
                for side in [-1, 1] {
                    let column = relativeIndex(x + side * dx, area.x)
                    let row = relativeIndex(y + side * dy, area.y)
                    if readable & 1 << (3 * row + column) == 0 { return }
                }
                filter(x)
            }
            if dy != 0 && (y == area.y.lowerBound || y == area.y.upperBound - 1) {
                for x in area.x { filterBorder(x) }
                continue
            }
            filterBorder(area.x.lowerBound)
            if area.x.count == 1 { continue }
            var x = area.x.lowerBound + 1
            let end = area.x.upperBound - 1
            while x + 8 <= end {
                let value = from.words(x)
                let kind = signs(value, from.words(x - step)) &+ signs(value, from.words(x + step))
                var change = Words.zero
                for (index, mark) in [-2, -1, 1, 2].enumerated() {
                    let offset = Words(repeating: byKind[index < 2 ? index : index + 1])
                    change.replace(with: offset, where: kind .== Words(repeating: Int16(mark)))
                }
                to.storeClipped(x, value &+ change)
                x += 8
            }
            while x < end {
                filter(x)
                x += 1
            }
            filterBorder(end)
        }
    }

    /// Returns 0, 1 or 2 for a value before, in or after the range.
    private func relativeIndex(_ value: Int, _ range: Range<Int>) -> Int {
        value < range.lowerBound ? 0 : value < range.upperBound ? 1 : 2
    }

    /// Returns a mask of the 3×3 coding tree units around `address`: bit 3·row + column is set if SAO may read that
    /// unit.
    private func readableUnits(_ address: Int) -> Int {
        let grid = bounds.grid
        let (column, row) = (address % grid.columns, address / grid.columns)
        var bits = 1 << 4
        for y in max(row - 1, 0)...min(row + 1, grid.rows - 1) {
            for x in max(column - 1, 0)...min(column + 1, grid.columns - 1)
            where bounds.saoMayRead(address, y * grid.columns + x) {
                bits |= 1 << (3 * (y - row + 1) + x - column + 1)
            }
        }
        return bits
    }

    private func sign(_ a: Sample, _ b: Sample) -> Int { (a > b ? 1 : 0) &- (a < b ? 1 : 0) }

    @inline(__always) private func signs(_ a: Words, _ b: Words) -> Words {
        Words.zero.replacing(with: 1, where: a .> b).replacing(with: -1, where: a .< b)
    }
}
