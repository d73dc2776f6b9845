/// Writes slices of HEVC pictures as NAL units: header, entry points, slice segment data (H.265 7.3.8), trailing bits
/// and emulation prevention. One thread at a time may use a writer; memory is kept from slice to slice.
///
/// Call `begin`, then `write` for each coding tree unit in tile scan from the slice's first on, then `finish`.
package final class HEVCSliceWriter {
    private let grid: HEVCGrid
    private let records: ElementStorage<HEVCUnitRecord>
    /// By coding tree unit, raster: the slice that wrote it last.
    private let sliceOfTree: ElementStorage<Int32>
    private let states = ElementStorage<UInt8>(count: ArithmeticEncoder.stateCount, repeating: 0)
    private let scratch = ElementStorage<Int32>(count: HEVCResidualCoder.scratchCount, repeating: 0)
    private var output = ElementStorage<UInt8>(count: 1 << 17, repeating: 0)
    private var syntax = HEVCSliceSyntax()
    private var tiles: HEVCTiles
    private var coder: HEVCTreeCoder
    /// Counts slices; no two that this writer wrote have the same.
    private var slice: Int32 = 0
    private var previousTile = -1
    /// Where in the data each tile's subset after the first begins.
    private var subsets: [Int] = []
    private var header = SliceHeaderBits(prefix: [], payload: [], bitCount: 0)
    private var hasHeaderExtension = false

    /// No coding tree unit's syntax takes more bytes: 6144 levels of at most 35 bypass bins and three others of up to
    /// six bits each, and modes.
    private static let largestTree = 1 << 16

    package init(_ grid: HEVCGrid) {
        self.grid = grid
        tiles = HEVCTiles(grid)
        records = ElementStorage(count: grid.minimumColumns * grid.minimumRows, repeating: 0)
        sliceOfTree = ElementStorage(count: grid.codingTrees, repeating: -1)
        coder = HEVCTreeCoder(
            arithmetic: ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements),
            syntax: syntax, records: records.elements, scratch: scratch.elements)
        ArithmeticEncoder.layStates(states.elements, tables: .shared)
    }

    /// Starts a slice of a picture on the writer's grid; whatever was not finished is dropped. `contextStates` are those
    /// that a slice begins with from here on.
    package func begin(_ slice: HEVCSliceJob, _ job: HEVCPictureJob) {
        precondition(job.grid == grid)
        syntax = HEVCSliceSyntax(slice, job)
        tiles = job.tiles
        self.slice &+= 1
        previousTile = -1
        subsets.removeAll(keepingCapacity: true)
        header = slice.header
        hasHeaderExtension = slice.hasHeaderExtension
        marked = nil
        emulated = EmulationCount()
        headerBytes = header.prefix.count + header.payload.count * 3 / 2 + 2
        initialiseContexts()
        coder = HEVCTreeCoder(
            arithmetic: ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements),
            syntax: syntax, records: records.elements, scratch: scratch.elements)
    }

    private func initialiseContexts() {
        HEVCContexts.initialise(
            states.elements, type: syntax.type, cabacInitFlag: syntax.cabacInitFlag, qp: syntax.qp)
    }

    /// Writes the coding tree unit of raster address `address`.
    package func write(_ tree: HEVCCodingTree, address: Int) {
        reserve(used: coder.arithmetic.byteCount, more: Self.largestTree)
        let tile = tiles.tileID[address]
        let isNewTile = previousTile >= 0 && tile != previousTile
        previousTile = tile
        var coder = coder
        coder.endUnit(endsTile: isNewTile)
        if isNewTile {
            subsets.append(coder.arithmetic.byteCount)
            initialiseContexts()
            coder.arithmetic = ArithmeticEncoder(
                destination: output.elements, byteCount: coder.arithmetic.byteCount, states: states.elements)
        }
        sliceOfTree.elements[address] = slice
        let column = address % grid.columns
        let neighbours = HEVCTreeNeighbours(
            hasLeft: column > 0 && isNeighbour(address - 1, tile: tile),
            hasTop: address >= grid.columns && isNeighbour(address - grid.columns, tile: tile))
        coder.write(
            tree, x: column << grid.log2CodingTreeBlock, y: (address / grid.columns) << grid.log2CodingTreeBlock,
            neighbours: neighbours)
        self.coder = coder
    }

    private func isNeighbour(_ address: Int, tile: Int) -> Bool {
        sliceOfTree.elements[address] == slice && tiles.tileID[address] == tile
    }

    /// Bits of the slice's data so far, before emulation prevention. A few are held back.
    package var bitCount: Int { coder.arithmetic.bitCount }

    /// The states of the slice's contexts as they are at the moment, for a `HEVCBinCount`.
    var contextStates: ElementPointer<UInt8> { states.elements }

    // MARK: Going back

    /// The coder as it was at `mark`; contexts need no way back, since a slice ends where it goes back to.
    private var marked: HEVCTreeCoder?
    /// A carry of later bits goes to this byte, over bytes of 255 after it.
    private var markedByte: (index: Int, value: UInt8) = (0, 0)
    private var emulated = EmulationCount()
    private var headerBytes = 0

    /// The slice may come to end here: see `returnToMark`. Not with tiles.
    package func mark() {
        marked = coder
        var index = coder.arithmetic.byteCount - 1
        while index >= 0 && output.elements[index] == 0xFF { index -= 1 }
        markedByte = (index, index < 0 ? 0 : output.elements[index])
    }

    /// Takes back what was written since `mark`. Only `finish` may follow.
    package func returnToMark() {
        guard let marked else { return }
        coder = marked
        coder.arithmetic.move(to: output.elements)
        let start = markedByte.index + 1
        if start > 0 { output.elements[markedByte.index] = markedByte.value }
        for index in start..<max(start, coder.arithmetic.byteCount) { output.elements[index] = 0xFF }
    }

    /// Bytes that the NAL unit has at most if the slice ends here; without tiles.
    package func mostBytes() -> Int {
        // Bytes that no carry reaches any more are counted; of the few others every second may need a 3 before it.
        var settled = coder.arithmetic.byteCount
        repeat { settled -= 1 } while settled > 0 && output.elements[settled] == 0xFF
        emulated.count(output.elements, upTo: max(settled, 0))
        // What the coder holds back, and the trailing bits.
        let bytes = bitCount / 8 + 8
        return headerBytes + bytes + emulated.found + (bytes - max(settled, 0)) / 2
    }

    // MARK: Ending

    /// Ends the slice and returns its NAL unit: the header's prefix as it was given, the rest with emulation
    /// prevention.
    package func finish() -> [UInt8] {
        let count = coder.finish()
        // Every subset, and the header, ends in a byte with a bit set: each can be escaped by itself.
        guard !subsets.isEmpty else {
            return EmulationPrevention.escape(output.elements, count: count, after: headerBytes(entryPoints: []))
        }
        let bounds = [0] + subsets + [count]
        let escaped = zip(bounds, bounds.dropFirst()).map { start, end in
            EmulationPrevention.escape(output.elements + start, count: end - start, after: [])
        }
        return headerBytes(entryPoints: escaped.dropLast().map(\.count)) + escaped.joined()
    }

    /// The prefix and the slice segment header with its end, escaped. `entryPoints` are the subsets' sizes but the
    /// last's, emulation prevention bytes counted (7.4.7.1).
    private func headerBytes(entryPoints: [Int]) -> [UInt8] {
        var writer = HeaderBitWriter()
        for index in 0..<(header.bitCount / 8) { writer.put(UInt32(header.payload[index]), 8) }
        let rest = header.bitCount % 8
        if rest > 0 { writer.put(UInt32(header.payload[header.bitCount / 8]) >> UInt32(8 - rest), rest) }
        if tiles.isEnabled {
            writer.putUnsigned(entryPoints.count)
            if let largest = entryPoints.max() {
                let length = max(1, Int.bitWidth - (largest - 1).leadingZeroBitCount)
                writer.putUnsigned(length - 1)
                for size in entryPoints { writer.put(UInt32(size - 1), length) }
            }
        }
        if hasHeaderExtension { writer.putUnsigned(0) }
        // byte_alignment().
        writer.putTrailingBits()
        return EmulationPrevention.escape(writer.bytes, after: header.prefix)
    }

    /// Makes room for `more` bytes after `used`.
    @inline(__always) private func reserve(used: Int, more: Int) {
        if used &+ more > output.count { grow(used: used, more: more) }
    }

    @inline(never) private func grow(used: Int, more: Int) {
        let larger = ElementStorage<UInt8>(count: max(2 * output.count, used + more), repeating: 0)
        larger.elements.copy(from: output.elements, count: used)
        output = larger
        coder.arithmetic.move(to: larger.elements)
    }
}
