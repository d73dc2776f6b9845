import TestOracles
import Testing

@testable import ReferenceDriver

/// Tests the writer of HEVC slices apart from syntax: entry points, the return to a mark, and the count of bits.
@Suite struct HEVCSyntaxWriterTests {
    private static func headers(_ seed: Int, tiles: (columns: [Int], rows: [Int])? = nil) -> HEVCSyntaxHeaders {
        let grid = HEVCGrid(width: 104, height: 88, log2MinCodingBlock: 3, log2CodingTreeBlock: 4)
        var headers = HEVCSyntaxHeaders(
            grid: grid,
            tiles: tiles.map { HEVCTiles(columnBounds: $0.columns, rowBounds: $0.rows) } ?? HEVCTiles(grid))
        headers.max_transform_hierarchy_depth_inter = 2
        headers.max_transform_hierarchy_depth_intra = seed % 3
        headers.hasSAO = true
        headers.amp_enabled_flag = true
        headers.qpDeltaDepth = 1
        headers.sign_data_hiding_enabled_flag = seed % 2 == 0
        headers.hasHeaderExtension = seed % 2 == 1
        return headers
    }

    /// At its entry points, a slice of whole tiles holds the same data as slices of one tile each.
    @Test(arguments: 0..<8) func entryPointsLeadToTheTilesData(_ seed: Int) {
        let headers = Self.headers(seed, tiles: ([0, 1, 4, 7], [0, 2, 6]))
        let random = HEVCRandomStream(headers, seed: UInt64(seed), contents: [], options: .init(largestLevel: 3000))
        let picture = random.pictures[0]
        let trees = picture.trees.flatMap(\.self)
        var whole = picture.slices[0]
        whole.codingTreeCount = headers.grid.codingTrees
        whole.type = .i
        let writer = HEVCSliceWriter(headers.grid)
        /// Returns the NAL unit, the offset of its data, and the entry point offsets.
        func write(_ slice: HEVCSliceJob, from start: Int) -> (unit: [UInt8], dataStart: Int, offsets: [Int]) {
            var slice = slice
            slice.header = headers.slice(slice, poc: 0, stored: 0, usesTemporalMotion: false, collocatedIndex: 0)
            writer.begin(slice, random.job([slice], poc: 0))
            for scan in start..<(start + slice.codingTreeCount) {
                writer.write(trees[scan], address: headers.tiles.rasterScan[scan])
            }
            let unit = writer.finish()
            let payload = EmulationPrevention.unescape(unit.dropFirst(slice.header.prefix.count))
            var reader = HeaderBitReader(payload, bitCount: 8 * payload.count)
            for _ in 0..<slice.header.bitCount { _ = reader.get(1) }
            let count = reader.unsigned()
            let length = count > 0 ? reader.unsigned() + 1 : 0
            let offsets = (0..<count).map { _ in Int(reader.get(length)) + 1 }
            var isRight = !headers.hasHeaderExtension || reader.unsigned() == 0
            isRight = reader.flag() && isRight
            while reader.position % 8 != 0 { isRight = !reader.flag() && isRight }
            #expect(isRight)
            let header = EmulationPrevention.escape(Array(payload.prefix(reader.position / 8)))
            return (unit, slice.header.prefix.count + header.count, offsets)
        }
        let (unit, dataStart, offsets) = write(whole, from: 0)
        #expect(offsets.count == 5)
        let bounds = offsets.reduce(into: [dataStart]) { $0.append($0.last! + $1) } + [unit.count]
        for (tile, (start, end)) in zip(bounds, bounds.dropFirst()).enumerated() {
            let scans = trees.indices.filter { headers.tiles.tileID[headers.tiles.rasterScan[$0]] == tile }
            var slice = whole
            slice.firstCodingTree = headers.tiles.rasterScan[scans[0]]
            slice.codingTreeCount = scans.count
            let alone = write(slice, from: scans[0])
            #expect(alone.offsets.isEmpty)
            let (part, own) = (unit[start..<end], alone.unit[alone.dataStart...])
            // Inside the slice, end_of_slice_segment_flag 0 precedes end_of_subset_one_bit (H.265 7.3.8.1); this
            // affects only the last bytes.
            let isLast = end == unit.count
            let same = isLast ? part.elementsEqual(own) : part.dropLast(4).elementsEqual(own.prefix(part.count - 4))
            #expect(same && abs(part.count - own.count) <= (isLast ? 0 : 1), "tile \(tile)")
        }
    }

    /// After a return to a mark, a slice equals one that ended there, and is no longer than predicted.
    @Test(arguments: 0..<6) func returnToMarkLeavesNoTrace(_ seed: Int) {
        let headers = Self.headers(seed)
        let random = HEVCRandomStream(
            headers, seed: UInt64(seed), contents: [.forward], options: .init(largestLevel: seed < 3 ? 40 : 20000))
        let trees = random.pictures[1].trees.flatMap(\.self)
        let writer = HEVCSliceWriter(headers.grid)
        var slice = random.pictures[1].slices[0]
        slice.type = .p
        slice.list1 = []
        slice.codingTreeCount = trees.count
        slice.header = headers.slice(slice, poc: 1, stored: 1, usesTemporalMotion: false, collocatedIndex: 0)
        let job = random.job([slice], poc: 1)
        for count in 1..<trees.count {
            writer.begin(slice, job)
            for address in 0..<count { writer.write(trees[address], address: address) }
            let most = writer.maxBytes()
            let alone = writer.finish()
            #expect(alone.count <= most)
            #expect(most <= alone.count + alone.count / 50 + 24, "\(most) for \(alone.count)")
            writer.begin(slice, job)
            for address in 0..<count { writer.write(trees[address], address: address) }
            writer.mark()
            for address in count..<min(count + 2, trees.count) { writer.write(trees[address], address: address) }
            writer.returnToMark()
            let back = writer.finish() == alone
            #expect(back, "after \(count)")
        }
    }

    /// The counted bits of a block match what an encoder writes whose contexts were adapted to such a block, except for
    /// what the contexts learn meanwhile.
    @Test func countedBitsMatchWrittenBits() {
        let states = ElementStorage<UInt8>(count: ArithmeticEncoder.stateCount, repeating: 0)
        let output = ElementStorage<UInt8>(count: 1 << 16, repeating: 0)
        let scratch = ElementStorage<Int32>(count: HEVCResidualCoder.scratchCount, repeating: 0)
        let coder = HEVCResidualCoder(scratch: scratch.elements)
        ArithmeticEncoder.layStates(states.elements, tables: .shared)
        var generator = SplitMix64(state: 3)
        var (counted, written) = (0, 0)
        for log2Size in 2...5 {
            for density in [2, 10, 40] {
                for _ in 0..<50 {
                    let levels = ElementStorage<Int16>(count: 1 << (2 * log2Size), repeating: 0)
                    levels.elements[Int.random(in: 0..<levels.count, using: &generator)] = 1
                    for position in 0..<levels.count where Int.random(in: 0..<100, using: &generator) < density {
                        levels.elements[position] = Int16.random(in: -3...3, using: &generator)
                    }
                    levels.elements[0] = 40
                    let block = HEVCResidualBlock(levels: levels.elements, log2Size: log2Size)
                    HEVCContexts.initialize(states.elements, type: .i, cabac_init_flag: false, qp: 30)
                    var first = ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements)
                    coder.code(block, &first)
                    var bins = HEVCBinCount(states: states.elements, prices: HEVCBinPrices.shared.prices.elements)
                    coder.code(block, &bins)
                    counted += bins.cost
                    var encoder = ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements)
                    coder.code(block, &encoder)
                    written += encoder.bitCount + 1
                }
            }
        }
        let ratio = Double(counted) / 32768 / Double(written)
        #expect((0.97...1.1).contains(ratio), "\(ratio)")
    }

    /// The prices of the bins are known: contexts at state 0 cost one bit, and bypass bins one bit each.
    @Test func elementsHaveTheirPrice() {
        let states = ElementStorage<UInt8>(count: HEVCContexts.count, repeating: 1)
        func cost(_ body: (inout HEVCBinCount) -> Void) -> Double {
            var bins = HEVCBinCount(states: states.elements, prices: HEVCBinPrices.shared.prices.elements)
            body(&bins)
            return Double(bins.cost) / 32768
        }
        // Two flags, two flags; |x| − 2 = 3 and |y| − 2 = 0 in first-order Exp-Golomb (4 and 2 bits), two signs.
        let known: [(String, Double, Double)] = [
            ("mvd 0, 0", 2, cost { $0.codeDifference(MotionVector(0, 0)) }),
            ("mvd 1, 0", 4, cost { $0.codeDifference(MotionVector(1, 0)) }),
            ("mvd −5, 2", 12, cost { $0.codeDifference(MotionVector(-5, 2)) }),
            ("delta 0", 1, cost { $0.codeQPDelta(0) }),
            ("delta −4", 6, cost { $0.codeQPDelta(-4) }),
            ("delta 7", 5 + 3 + 1, cost { $0.codeQPDelta(7) }),
            ("merge_idx 4 of 5", 4, cost { $0.codeMergeIndex(4, count: 5) }),
            ("merge_idx 0 of 1", 0, cost { $0.codeMergeIndex(0, count: 1) }),
            ("ref_idx 3 of 4", 3, cost { $0.codeReference(3, count: 4) }),
            ("chroma mode 4", 1, cost { $0.codeChromaMode(4) }),
            ("remaining mode", 5, cost { $0.codeRemainingMode(17) }),
        ]
        for (name, expected, found) in known { #expect(found == expected, "\(name)") }
        // At state 62 the more probable bin costs almost nothing, the other 5.65 bits.
        states.elements.fill(2 * 62 + 1, count: states.count)
        let probable = cost { $0.codeSplit(true, increment: 0) }
        let improbable = cost { $0.codeSplit(false, increment: 0) }
        #expect(abs(probable - 0.029) < 0.002)
        #expect(abs(improbable - 5.66) < 0.03)
    }
}
