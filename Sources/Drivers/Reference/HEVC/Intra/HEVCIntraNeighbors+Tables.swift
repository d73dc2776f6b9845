extension HEVCIntraNeighbors {
    /// Determines the available neighbors of a block: H.265 6.4.1 (z-scan order), and 8.4.4.2.2 with
    /// constrained_intra_pred_flag.
    ///
    /// The block's area begins at luma sample (x, y) and has a side of `size` luma samples. `tiles` holds TileId by
    /// raster address. The tables must already contain the slice of the block's coding tree unit.
    init(
        x: Int, y: Int, size: Int, _ grid: HEVCGrid, _ tables: HEVCPictureTables, tiles: ElementPointer<Int32>,
        isConstrained: Bool
    ) {
        let log2Tree = grid.log2CodingTreeBlock
        let columns = grid.columns
        let minimumColumns = grid.minimumColumns
        let address = (y &>> log2Tree) &* columns &+ x &>> log2Tree
        let slice = tables.slice[address]
        let tile = tiles[address]
        let inside = grid.codingTreeSize &- 1
        let order = Self.zOrder((x & inside) &>> 2, (y & inside) &>> 2)
        @inline(__always) func isAvailable(_ x: Int, _ y: Int) -> Bool {
            if x < 0 || y < 0 || x >= grid.width || y >= grid.height { return false }
            let other = (y &>> log2Tree) &* columns &+ x &>> log2Tree
            if other == address {
                if Self.zOrder((x & inside) &>> 2, (y & inside) &>> 2) > order { return false }
            } else if other > address || tables.slice[other] != slice || tiles[other] != tile {
                // In one tile and slice, coding tree units are coded in raster order.
                return false
            }
            let unit = (y &>> grid.log2MinCodingBlock) &* minimumColumns &+ x &>> grid.log2MinCodingBlock
            return !isConstrained || tables.mode[unit] == .intra
        }
        left = 0
        above = 0
        for i in 0..<size / 2 {
            let bit = (1 as UInt32) &<< UInt32(truncatingIfNeeded: i)
            if isAvailable(x &- 1, y &+ 4 &* i) { left |= bit }
            if isAvailable(x &+ 4 &* i, y &- 1) { above |= bit }
        }
        corner = isAvailable(x &- 1, y &- 1)
    }

    /// Interleaves the low four bits of x (least significant) and y.
    @inline(__always) private static func zOrder(_ x: Int, _ y: Int) -> Int {
        func spread(_ v: Int) -> Int {
            let pairs = (v | v &<< 2) & 0x33
            return (pairs | pairs &<< 1) & 0x55
        }
        return spread(x) | spread(y) &<< 1
    }
}
