@testable import ReferenceDriver
import TestOracles
import Testing

/// Compares intra prediction with a plain implementation of H.265 8.4.4.2.
struct HEVCIntraTests {
    /// The samples p[x][y] of 8.4.4.2, where x or y is −1.
    struct Edge {
        var left: [Int]
        var above: [Int]
        var corner: Int

        subscript(_ x: Int, _ y: Int) -> Int {
            x >= 0 ? above[x] : (y >= 0 ? left[y] : corner)
        }
    }

    static let angles = [
        0, 0, 32, 26, 21, 17, 13, 9, 5, 2, 0, -2, -5, -9, -13, -17, -21, -26, -32, -26, -21, -17, -13, -9, -5, -2, 0, 2,
        5, 9, 13, 17, 21, 26, 32,
    ]
    static let inverses = [
        11: -4096, 12: -1638, 13: -910, 14: -630, 15: -482, 16: -390, 17: -315, 18: -256, 19: -315, 20: -390, 21: -482,
        22: -630, 23: -910, 24: -1638, 25: -4096,
    ]

    /// Substitutes missing samples, which are nil (8.4.4.2.2).
    static func substituted(_ left: [Int?], _ above: [Int?], _ corner: Int?, depth: Int) -> Edge {
        var line = left.reversed() + [corner] + above
        guard let first = line.compactMap({ $0 }).first else {
            let middle = 1 << (depth - 1)
            return Edge(left: left.map { _ in middle }, above: above.map { _ in middle }, corner: middle)
        }
        if line[0] == nil { line[0] = first }
        for i in line.indices.dropFirst() where line[i] == nil { line[i] = line[i - 1] }
        let full = line.map { $0! }
        let n = left.count
        return Edge(left: full[..<n].reversed(), above: Array(full[(n + 1)...]), corner: full[n])
    }

    /// Filters the neighboring samples (8.4.4.2.3).
    static func filtered(_ p: Edge, _ size: Int, mode: Int, strong: Bool, depth: Int) -> Edge {
        let distance = min(abs(mode - 26), abs(mode - 10))
        let limit = [8: 7, 16: 1, 32: 0][size] ?? 99
        if mode == 1 || size == 4 || distance <= limit { return p }
        let end = 2 * size - 1
        var f = p
        if strong && size == 32 && abs(p[-1, -1] + p[end, -1] - 2 * p[size - 1, -1]) < 1 << (depth - 5)
            && abs(p[-1, -1] + p[-1, end] - 2 * p[-1, size - 1]) < 1 << (depth - 5)
        {
            for i in 0..<63 {
                f.left[i] = ((63 - i) * p[-1, -1] + (i + 1) * p[-1, 63] + 32) >> 6
                f.above[i] = ((63 - i) * p[-1, -1] + (i + 1) * p[63, -1] + 32) >> 6
            }
            return f
        }
        f.corner = (p[-1, 0] + 2 * p[-1, -1] + p[0, -1] + 2) >> 2
        for i in 0..<end {
            f.left[i] = (p[-1, i + 1] + 2 * p[-1, i] + p[-1, i - 1] + 2) >> 2
            f.above[i] = (p[i - 1, -1] + 2 * p[i, -1] + p[i + 1, -1] + 2) >> 2
        }
        return f
    }

    /// Returns the predicted rows of samples (8.4.4.2.4 to 8.4.4.2.6).
    static func predicted(_ p: Edge, _ size: Int, mode: Int, isLuma: Bool, depth: Int) -> [[Int]] {
        let log2 = size.trailingZeroBitCount
        let edges = isLuma && size < 32
        let most = (1 << depth) - 1
        func grid(_ value: (Int, Int) -> Int) -> [[Int]] { (0..<size).map { y in (0..<size).map { value($0, y) } } }
        if mode == 0 {
            return grid { x, y in
                ((size - 1 - x) * p[-1, y] + (x + 1) * p[size, -1] + (size - 1 - y) * p[x, -1] + (y + 1) * p[-1, size]
                    + size) >> (log2 + 1)
            }
        }
        if mode == 1 {
            let mean = ((0..<size).reduce(size) { $0 + p[$1, -1] + p[-1, $1] }) >> (log2 + 1)
            return grid { x, y in
                if !edges || (x > 0 && y > 0) { return mean }
                if x == 0 && y == 0 { return (p[-1, 0] + 2 * mean + p[0, -1] + 2) >> 2 }
                return ((y == 0 ? p[x, -1] : p[-1, y]) + 3 * mean + 2) >> 2
            }
        }
        let angle = angles[mode]
        let isVertical = mode >= 18
        func side(_ i: Int) -> Int { isVertical ? p[-1 + i, -1] : p[-1, -1 + i] }
        func other(_ i: Int) -> Int { isVertical ? p[-1, -1 + i] : p[-1 + i, -1] }
        func ref(_ i: Int) -> Int { i >= 0 ? side(i) : other((i * inverses[mode]! + 128) >> 8) }
        return grid { x, y in
            let (along, away) = isVertical ? (x, y) : (y, x)
            if angle == 0 && edges && along == 0 {
                let value = side(1) + (other(away + 1) - p[-1, -1]) >> 1
                return min(max(value, 0), most)
            }
            let index = ((away + 1) * angle) >> 5
            let fraction = ((away + 1) * angle) & 31
            if fraction == 0 { return ref(along + index + 1) }
            return ((32 - fraction) * ref(along + index + 1) + fraction * ref(along + index + 2) + 16) >> 5
        }
    }

    private func check<Sample: HEVCSample>(_ type: Sample.Type, log2: Int, isLuma: Bool) {
        let size = 1 << log2
        let depth = Sample.bitDepth
        let most = (1 << depth) - 1
        var generator = SplitMix64(state: UInt64(depth * 100 + log2 * 2 + (isLuma ? 1 : 0)))
        let stride = 160
        let plane = ElementStorage<Sample>(count: stride * 140, repeating: 0)
        let output = ElementStorage<Sample>(count: 40 * 33, repeating: 0)
        let block = plane.elements + (66 * stride + 66)
        let storage = HEVCIntraStorage<Sample>()
        let references = HEVCIntraReferences(storage)
        defer { withExtendedLifetime(storage) {} }
        let unit = isLuma ? 4 : 2
        let units = 2 * size / unit
        for round in 0..<24 {
            // The content is noise, extremes, and slopes near the threshold of the strong smoothing of 32×32 blocks.
            let slope = Int.random(in: -1...1, using: &generator)
            let bump = Int.random(in: 0..<3, using: &generator) == 0 ? 1 << (depth - 5) : 0
            for y in 0..<140 {
                for x in 0..<stride {
                    let value: Int
                    switch round % 3 {
                    case 0: value = Int.random(in: 0...most, using: &generator)
                    case 1: value = Bool.random(using: &generator) ? most : 0
                    default:
                        value = 100 + slope * (x + y - 130) / 8 + (x == 66 + 63 ? bump : 0) + (x + y) % 2
                    }
                    plane.elements[y * stride + x] = Sample(value)
                }
            }
            let draws = round % 4
            let left: [Bool] = (0..<units).map { _ in draws == 0 || Bool.random(using: &generator) && draws != 3 }
            let above: [Bool] = (0..<units).map { _ in draws == 0 || Bool.random(using: &generator) && draws != 3 }
            let corner = draws == 0 || Bool.random(using: &generator)
            func bits(_ flags: [Bool]) -> UInt32 {
                flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt32($1.offset) : 0) }
            }
            let strong = Bool.random(using: &generator) || round % 3 == 2
            references.load(
                block, stride: stride, log2Size: log2, isLuma: isLuma,
                HEVCIntraNeighbors(left: bits(left), above: bits(above), corner: corner), strongSmoothing: strong)
            let edge = Self.substituted(
                (0..<2 * size).map { left[$0 / unit] ? Int(block[$0 * stride - 1]) : nil },
                (0..<2 * size).map { above[$0 / unit] ? Int(block[$0 - stride]) : nil },
                corner ? Int(block[-1 - stride]) : nil, depth: depth)
            for mode in 0..<35 {
                let p = isLuma ? Self.filtered(edge, size, mode: mode, strong: strong, depth: depth) : edge
                // DC and the horizontal and vertical modes predict from unfiltered samples, and so do their edge
                // filters.
                let expected = Self.predicted(p, size, mode: mode, isLuma: isLuma, depth: depth)
                output.elements.fill(3, count: output.count)
                references.predict(mode: mode, log2Size: log2, isLuma: isLuma, to: output.elements, 40)
                let found = (0..<size).map { y in (0..<size).map { Int(output.elements[y * 40 + $0]) } }
                #expect(found == expected, "\(size) mode \(mode) round \(round)")
                #expect(output.elements[size] == 3 && output.elements[size * 40] == 3)
            }
        }
    }

    @Test(arguments: [2, 3, 4, 5], [true, false]) func byteSamplesMatchTheStandard(_ log2: Int, _ isLuma: Bool) {
        check(UInt8.self, log2: log2, isLuma: isLuma)
    }

    @Test(arguments: [2, 3, 4, 5], [true, false]) func wordSamplesMatchTheStandard(_ log2: Int, _ isLuma: Bool) {
        check(UInt16.self, log2: log2, isLuma: isLuma)
    }

    /// Sweeps every block of every size in a picture with slices and tiles: the available neighbors are those coded
    /// before (6.4.1 and 6.5.2).
    @Test(arguments: [4, 5, 6]) func availableNeighborsMatchTheStandard(_ log2Tree: Int) {
        let grid = HEVCGrid(width: 136, height: 88, log2CodingTreeBlock: log2Tree)
        let tiles = HEVCTiles(
            columnBounds: grid.columns > 2 ? [0, 2, grid.columns] : [0, grid.columns],
            rowBounds: grid.rows > 1 ? [0, 1, grid.rows] : [0, grid.rows])
        let storage = HEVCPictureTableStorage(grid)
        let tables = storage.tables
        storage.begin()
        let tileLane = ElementStorage<Int32>(count: grid.codingTrees, repeating: 0)
        for address in 0..<grid.codingTrees { tileLane.elements[address] = Int32(tiles.tileID[address]) }
        var generator = SplitMix64(state: 4)
        for unit in 0..<grid.minimumColumns * grid.minimumRows {
            tables.mode[unit] = Bool.random(using: &generator) ? .intra : .inter
        }
        /// The MinTbAddrZs of 4×4 blocks: the plain coding order of all blocks.
        var order = [Int: Int]()
        func visit(_ x: Int, _ y: Int, _ size: Int) {
            if size == 4 {
                order[y / 4 * 1000 + x / 4] = order.count
                return
            }
            let half = size / 2
            for (dx, dy) in [(0, 0), (half, 0), (0, half), (half, half)] { visit(x + dx, y + dy, half) }
        }
        let treeSize = 1 << log2Tree
        for address in tiles.rasterScan {
            visit(address % grid.columns * treeSize, address / grid.columns * treeSize, treeSize)
        }
        // A slice ends in the middle of a tile.
        func slice(_ address: Int) -> Int { tiles.tileScan[address] < 3 ? 0 : 1 }
        func tree(_ x: Int, _ y: Int) -> Int { y / treeSize * grid.columns + x / treeSize }
        for address in tiles.rasterScan {
            tables.slice[address] = Int32(slice(address))
            for size in [4, 8, 16, 32] where size <= treeSize {
                for dy in stride(from: 0, to: treeSize, by: size) {
                    for dx in stride(from: 0, to: treeSize, by: size) {
                        let x = address % grid.columns * treeSize + dx
                        let y = address / grid.columns * treeSize + dy
                        if x + size > grid.width || y + size > grid.height { continue }
                        for isConstrained in [false, true] {
                            func expected(_ nx: Int, _ ny: Int) -> Bool {
                                if nx < 0 || ny < 0 || nx >= grid.width || ny >= grid.height { return false }
                                let other = tree(nx, ny)
                                let isBefore = order[ny / 4 * 1000 + nx / 4]! < order[y / 4 * 1000 + x / 4]!
                                let isIntra = tables.mode[ny / 8 * grid.minimumColumns + nx / 8] == .intra
                                return isBefore && slice(other) == slice(address)
                                    && tiles.tileID[other] == tiles.tileID[address] && (isIntra || !isConstrained)
                            }
                            let found = HEVCIntraNeighbors(
                                x: x, y: y, size: size, grid, tables, tiles: tileLane.elements,
                                isConstrained: isConstrained)
                            var expectedNeighbors = HEVCIntraNeighbors(
                                left: 0, above: 0, corner: expected(x - 1, y - 1))
                            for i in 0..<size / 2 {
                                if expected(x - 1, y + 4 * i) { expectedNeighbors.left |= 1 << UInt32(i) }
                                if expected(x + 4 * i, y - 1) { expectedNeighbors.above |= 1 << UInt32(i) }
                            }
                            #expect(found == expectedNeighbors, "(\(x), \(y)) of \(size)")
                        }
                    }
                }
            }
        }
    }
}
