/// The division of a sequence's pictures into blocks, H.265 6.3 and 7.4.3.2.1.
package struct HEVCGrid: Equatable, Sendable {
    /// pic_width_in_luma_samples and pic_height_in_luma_samples: multiples of the smallest coding block's size.
    package let width: Int
    package let height: Int
    /// MinCbLog2SizeY (3 or more) and CtbLog2SizeY (4…6).
    package let log2MinCodingBlock: Int
    package let log2CodingTreeBlock: Int
    /// MinTbLog2SizeY (2 or more, less than MinCbLog2SizeY) and MaxTbLog2SizeY (at most 5). Both are at most
    /// CtbLog2SizeY.
    package let log2MinTransformBlock: Int
    package let log2MaxTransformBlock: Int

    package init(
        width: Int, height: Int, log2MinCodingBlock: Int = 3, log2CodingTreeBlock: Int = 6,
        log2MinTransformBlock: Int = 2, log2MaxTransformBlock: Int = 5
    ) {
        self.width = width
        self.height = height
        self.log2MinCodingBlock = log2MinCodingBlock
        self.log2CodingTreeBlock = log2CodingTreeBlock
        self.log2MinTransformBlock = log2MinTransformBlock
        self.log2MaxTransformBlock = log2MaxTransformBlock
    }

    /// CtbSizeY.
    package var codingTreeSize: Int { 1 << log2CodingTreeBlock }
    /// PicWidthInCtbsY and PicHeightInCtbsY.
    package var columns: Int { (width + codingTreeSize - 1) >> log2CodingTreeBlock }
    package var rows: Int { (height + codingTreeSize - 1) >> log2CodingTreeBlock }
    package var codingTrees: Int { columns * rows }
    /// PicWidthInMinCbsY and PicHeightInMinCbsY.
    package var minimumColumns: Int { width >> log2MinCodingBlock }
    package var minimumRows: Int { height >> log2MinCodingBlock }
    /// The numbers of 4×4 blocks in a row and in a column: the granularity of motion, intra modes and edges.
    package var blockColumns: Int { width >> 2 }
    package var blockRows: Int { height >> 2 }
    /// The numbers of 16×16 areas in a row and in a column, including those that the border cuts: the granularity of QP
    /// maps and of stored motion.
    package var areaColumns: Int { (width + 15) >> 4 }
    package var areaRows: Int { (height + 15) >> 4 }
}

/// The tiles of a picture and the resulting order of coding tree units, H.265 6.5.1.
package struct HEVCTiles: Equatable, Sendable {
    /// colBd and rowBd in coding tree blocks: one entry more than there are columns and rows.
    package let columnBounds: [Int]
    package let rowBounds: [Int]
    /// CtbAddrRsToTs, CtbAddrTsToRs, and TileId by raster address.
    package let tileScan: [Int]
    package let rasterScan: [Int]
    package let tileID: [Int]

    /// Initializes the scans. `columnBounds` and `rowBounds` increase from 0 to the grid's columns and rows.
    package init(columnBounds: [Int], rowBounds: [Int]) {
        self.columnBounds = columnBounds
        self.rowBounds = rowBounds
        let columns = columnBounds.last ?? 0
        let count = columns * (rowBounds.last ?? 0)
        var tileScan = [Int](repeating: 0, count: count)
        var rasterScan: [Int] = []
        rasterScan.reserveCapacity(count)
        var tileID = tileScan
        var tile = 0
        for (top, bottom) in zip(rowBounds, rowBounds.dropFirst()) {
            for (left, right) in zip(columnBounds, columnBounds.dropFirst()) {
                for y in top..<bottom {
                    for x in left..<right {
                        let address = y * columns + x
                        tileScan[address] = rasterScan.count
                        tileID[address] = tile
                        rasterScan.append(address)
                    }
                }
                tile += 1
            }
        }
        self.tileScan = tileScan
        self.rasterScan = rasterScan
        self.tileID = tileID
    }

    /// Initializes a picture with one tile.
    package init(_ grid: HEVCGrid) { self.init(columnBounds: [0, grid.columns], rowBounds: [0, grid.rows]) }

    /// tiles_enabled_flag.
    package var isEnabled: Bool { columnBounds.count > 2 || rowBounds.count > 2 }
}
