extension HEVCIntraNeighbours {
    /// The neighbours of the block whose area's first luma sample is (x, y) and which spans `size` luma samples: H.265
    /// 6.4.1 in z-scan order, and 8.4.4.2.2 under constrained_intra_pred_flag.
    ///
    /// `tiles`: TileId by raster address. The tables must tell the slice of the block's own coding tree unit.
    init(
        x: Int, y: Int, size: Int, _ grid: HEVCGrid, _ tables: HEVCPictureTables, tiles: ElementPointer<Int32>,
        isConstrained: Bool
    ) {
        let log2Tree = grid.log2CodingTreeBlock
        let columns = grid.columns
        let minimumColumns = grid.minimumColumns
        let own = (y &>> log2Tree) &* columns &+ x &>> log2Tree
        let slice = tables.slice[own]
        let tile = tiles[own]
        let inside = grid.codingTreeSize &- 1
        let order = Self.zOrder((x & inside) &>> 2, (y & inside) &>> 2)
        @inline(__always) func isAvailable(_ x: Int, _ y: Int) -> Bool {
            if x < 0 || y < 0 || x >= grid.width || y >= grid.height { return false }
            let other = (y &>> log2Tree) &* columns &+ x &>> log2Tree
            if other == own {
                if Self.zOrder((x & inside) &>> 2, (y & inside) &>> 2) > order { return false }
            } else if other > own || tables.slice[other] != slice || tiles[other] != tile {
                // In one tile and slice, coding tree units come in raster order.
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

    /// Interleaves the bits of x (first) and y, of which four each count.
    @inline(__always) private static func zOrder(_ x: Int, _ y: Int) -> Int {
        func spread(_ v: Int) -> Int {
            let pairs = (v | v &<< 2) & 0x33
            return (pairs | pairs &<< 1) & 0x55
        }
        return spread(x) | spread(y) &<< 1
    }
}
