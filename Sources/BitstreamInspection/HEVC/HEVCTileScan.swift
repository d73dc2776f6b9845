/// Converts the addresses of coding tree blocks between raster scan and tile scan (H.265 6.5.1). Each address is
/// computed on demand: a table for a large picture would cost more than the headers of a small stream.
struct HEVCTileScan {
    /// colBd, ascending.
    private let columns: [Int]
    /// rowBd, ascending.
    private let rows: [Int]
    /// PicWidthInCtbsY.
    private let width: Int
    /// PicSizeInCtbsY.
    private let count: Int

    /// Creates a converter for the pictures of a PPS.
    ///
    /// - Parameter pps: A PPS whose tiles fit the SPS.
    init(_ sps: HEVCSequenceParameterSet, _ pps: HEVCPictureParameterSet) {
        (columns, rows) = (pps.columnBoundaries(sps), pps.rowBoundaries(sps))
        (width, count) = (sps.widthInCtbs, sps.sizeInCtbs)
    }

    /// Returns the index of the last boundary that is not above `value`. `value` must be below the last boundary.
    private static func index(of value: Int, in boundaries: [Int]) -> Int {
        var (low, high) = (0, boundaries.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if boundaries[middle] <= value { low = middle } else { high = middle }
        }
        return low
    }

    /// Returns CtbAddrRsToTs.
    ///
    /// - Parameter address: An address in raster scan, less than PicSizeInCtbsY.
    func tileScan(_ address: Int) -> Int {
        let (x, y) = (address % width, address / width)
        let (column, row) = (Self.index(of: x, in: columns), Self.index(of: y, in: rows))
        let height = rows[row + 1] - rows[row]
        return rows[row] * width + columns[column] * height
            + (y - rows[row]) * (columns[column + 1] - columns[column]) + x - columns[column]
    }

    /// Returns TileId.
    ///
    /// - Parameter address: An address in tile scan, less than PicSizeInCtbsY.
    func tile(_ address: Int) -> Int {
        let row = Self.index(of: address / width, in: rows)
        let rest = address - rows[row] * width
        return row * (columns.count - 1) + Self.index(of: rest / (rows[row + 1] - rows[row]), in: columns)
    }

    /// Returns whether a tile starts at an address in tile scan. The end of the picture counts as a start.
    func isTileStart(_ address: Int) -> Bool { address == 0 || address == count || tile(address) != tile(address - 1) }
}
