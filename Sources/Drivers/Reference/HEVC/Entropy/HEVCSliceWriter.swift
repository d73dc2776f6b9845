/// Writes slices of HEVC pictures as NAL units: header, entry points, slice segment data (H.265 7.3.8), trailing bits
/// and emulation prevention. One thread at a time may use a writer. Memory is reused for the next slice.
///
/// Call `begin`, then `write` for each coding tree unit in tile scan from the slice's first one on, then `finish`.
package final class HEVCSliceWriter {
    private let grid: HEVCGrid
    private let records: ElementStorage<HEVCUnitRecord>
    /// The number of the slice that contains each coding tree unit, in raster order.
    private let sliceOfTree: ElementStorage<Int32>
    private let states = ElementStorage<UInt8>(count: ArithmeticEncoder.stateCount, repeating: 0)
    private let scratch = ElementStorage<Int32>(count: HEVCResidualCoder.scratchCount, repeating: 0)
    private var output = ElementStorage<UInt8>(count: 1 << 17, repeating: 0)
    private var syntax = HEVCSliceSyntax()
    private var tiles: HEVCTiles
    private var coder: HEVCTreeCoder
    /// The number of the current slice, different for each slice of this writer.
    private var slice: Int32 = 0
    private var previousTile = -1
    /// The byte offsets in the data where the subsets of the second and later tiles begin.
    private var subsets: [Int] = []
    private var header = SliceHeaderBits(prefix: [], payload: [], bitCount: 0)
    private var hasHeaderExtension = false
    /// Receives the states of the contexts before each coding tree unit that is written, at the unit's raster address
    /// times `HEVCContexts.count`; nil to keep none.
    var keptStates: ElementPointer<UInt8>?

    /// The maximum size of a coding tree unit's syntax in bytes: 6144 levels with at most 35 bypass bins and three
    /// context-coded bins of up to six bits each, and modes.
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

    /// Starts a slice of a picture with the writer's grid. A slice that was not finished is discarded. Initializes
    /// `contextStates` for the new slice.
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
        initializeContexts()
        coder = HEVCTreeCoder(
            arithmetic: ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements),
            syntax: syntax, records: records.elements, scratch: scratch.elements)
    }

    private func initializeContexts() {
        HEVCContexts.initialize(
            states.elements, type: syntax.type, cabac_init_flag: syntax.cabac_init_flag, qp: syntax.qp)
    }

    /// Writes the coding tree unit at raster address `address`.
    package func write(_ tree: HEVCCodingTree, address: Int) {
        reserve(used: coder.arithmetic.byteCount, more: Self.largestTree)
        let tile = tiles.tileID[address]
        let isNewTile = previousTile >= 0 && tile != previousTile
        previousTile = tile
        var coder = coder
        coder.endUnit(endsTile: isNewTile)
        if isNewTile {
            subsets.append(coder.arithmetic.byteCount)
            initializeContexts()
            coder.arithmetic = ArithmeticEncoder(
                destination: output.elements, byteCount: coder.arithmetic.byteCount, states: states.elements)
        }
        sliceOfTree.elements[address] = slice
        if let keptStates {
            (keptStates + address * HEVCContexts.count).copy(from: states.elements, count: HEVCContexts.count)
        }
        let column = address % grid.columns
        let neighbors = HEVCTreeNeighbors(
            hasLeft: column > 0 && isNeighbor(address - 1, tile: tile),
            hasTop: address >= grid.columns && isNeighbor(address - grid.columns, tile: tile))
        coder.write(
            tree, x: column << grid.log2CodingTreeBlock, y: (address / grid.columns) << grid.log2CodingTreeBlock,
            neighbors: neighbors)
        self.coder = coder
    }

    private func isNeighbor(_ address: Int, tile: Int) -> Bool {
        sliceOfTree.elements[address] == slice && tiles.tileID[address] == tile
    }

    /// The approximate number of bits of the slice's data so far, before emulation prevention. The arithmetic encoder
    /// holds back up to ten bits.
    package var bitCount: Int { coder.arithmetic.bitCount }

    /// The current states of the slice's contexts, for a `HEVCBinCount`.
    var contextStates: ElementPointer<UInt8> { states.elements }

    // MARK: Return to a mark

    /// The coder's state at `mark`. The contexts are not saved: after `returnToMark` the slice ends, and they are not
    /// used any more.
    private var marked: HEVCTreeCoder?
    /// The index and value of the last byte that is not 0xFF. A carry of later bits propagates to this byte, through
    /// the 0xFF bytes after it.
    private var markedByte: (index: Int, value: UInt8) = (0, 0)
    private var emulated = EmulationCount()
    private var headerBytes = 0

    /// Marks a position where the slice may end: see `returnToMark`. Not supported with tiles.
    package func mark() {
        marked = coder
        var index = coder.arithmetic.byteCount - 1
        while index >= 0 && output.elements[index] == 0xFF { index -= 1 }
        markedByte = (index, index < 0 ? 0 : output.elements[index])
    }

    /// Removes what was written since `mark`. Only `finish` may follow.
    package func returnToMark() {
        guard let marked else { return }
        coder = marked
        coder.arithmetic.move(to: output.elements)
        let start = markedByte.index + 1
        if start > 0 { output.elements[markedByte.index] = markedByte.value }
        for index in start..<max(start, coder.arithmetic.byteCount) { output.elements[index] = 0xFF }
    }

    /// Returns an upper bound for the NAL unit's size in bytes if the slice ends here. Not supported with tiles.
    package func maxBytes() -> Int {
        // In bytes that no carry can change any more, the emulation prevention bytes are counted exactly. For the few
        // other bytes the worst case is assumed: one for every second byte.
        var settled = coder.arithmetic.byteCount
        repeat { settled -= 1 } while settled > 0 && output.elements[settled] == 0xFF
        emulated.count(output.elements, upTo: max(settled, 0))
        // Includes the bits that the coder has not output yet, and the trailing bits.
        let bytes = bitCount / 8 + 8
        return headerBytes + bytes + emulated.found + (bytes - max(settled, 0)) / 2
    }

    // MARK: End of the slice

    /// Ends the slice and returns its NAL unit: the header's prefix unchanged, the rest with emulation prevention.
    package func finish() -> [UInt8] {
        let count = coder.finish()
        // Every subset, and the header, ends with a byte that is not zero. Therefore each can be escaped separately.
        guard !subsets.isEmpty else {
            return EmulationPrevention.escape(output.elements, count: count, after: headerBytes(entryPoints: []))
        }
        let bounds = [0] + subsets + [count]
        let escaped = zip(bounds, bounds.dropFirst()).map { start, end in
            EmulationPrevention.escape(output.elements + start, count: end - start, after: [])
        }
        return headerBytes(entryPoints: escaped.dropLast().map(\.count)) + escaped.joined()
    }

    /// Returns the prefix and the complete slice segment header with emulation prevention. `entryPoints` are the sizes
    /// of all subsets but the last, including emulation prevention bytes (7.4.7.1).
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

    /// Ensures that the output has memory for `more` bytes after `used`.
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
