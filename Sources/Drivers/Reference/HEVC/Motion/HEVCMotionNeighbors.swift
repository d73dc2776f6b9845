/// A prediction block whose motion is to be predicted, and its coding unit.
struct HEVCMotionBlock: BitwiseCopyable {
    /// Position and size in luma samples, in the picture: xPb and yPb, nPbW and nPbH.
    var x: Int
    var y: Int
    var width: Int
    var height: Int
    /// partIdx.
    var index: Int
    var partition: HEVCPartition
    /// The coding unit's xCb, yCb and nCbS.
    var unitX: Int
    var unitY: Int
    var unitSize: Int

    /// Initializes the prediction block of a 2N×2N coding unit.
    init(x: Int, y: Int, size: Int) {
        self.init(
            x: x, y: y, width: size, height: size, index: 0, partition: .part2Nx2N, unitX: x, unitY: y, unitSize: size)
    }

    init(
        x: Int, y: Int, width: Int, height: Int, index: Int, partition: HEVCPartition, unitX: Int, unitY: Int,
        unitSize: Int
    ) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.index = index
        self.partition = partition
        self.unitX = unitX
        self.unitY = unitY
        self.unitSize = unitSize
    }
}

extension HEVCMotion {
    /// Whether no list is used: the block is intra or not available.
    @inline(__always) var isNone: Bool { reference0 & reference1 < 0 }
    @inline(__always) var usesBoth: Bool { reference0 | reference1 >= 0 }

    @inline(__always) func reference(_ list: Int) -> Int { Int(list == 0 ? reference0 : reference1) }
    @inline(__always) func vector(_ list: Int) -> MotionVector { list == 0 ? vector0 : vector1 }

    /// Returns whether vectors and reference indices are the same.
    @inline(__always) func equals(_ other: HEVCMotion) -> Bool {
        reference0 == other.reference0 && reference1 == other.reference1 && vector0 == other.vector0
            && vector1 == other.vector1
    }
}

/// The motion of the five neighbors of a prediction block, H.265 8.5.3.2.3 and 8.5.3.2.7. `isNone` is true for
/// neighbors that are intra or not available by 6.4.2.
struct HEVCMotionNeighbors: BitwiseCopyable {
    /// The neighbors below the left side, and at its lower end.
    var a0 = HEVCMotion()
    var a1 = HEVCMotion()
    /// The neighbors right of the upper side, at its right end, and above the upper left corner.
    var b0 = HEVCMotion()
    var b1 = HEVCMotion()
    var b2 = HEVCMotion()
}

/// Decides which neighbors' motion is available: z-scan order and prediction blocks, H.265 6.4.1 and 6.4.2.
struct HEVCMotionAvailability: BitwiseCopyable {
    let width: Int
    let height: Int
    let log2Tree: Int
    let columns: Int
    let blockColumns: Int
    let slice: ElementPointer<Int32>
    /// TileId by raster address.
    let tiles: ElementPointer<Int32>
    let motion: ElementPointer<HEVCMotion>

    init(_ grid: HEVCGrid, _ tables: HEVCPictureTables, tiles: ElementPointer<Int32>) {
        width = grid.width
        height = grid.height
        log2Tree = grid.log2CodingTreeBlock
        columns = grid.columns
        blockColumns = grid.blockColumns
        slice = tables.slice
        motion = tables.motion
        self.tiles = tiles
    }

    /// Returns the motion at (x, y) if it is available to the block: it is decoded earlier, in the same slice and tile.
    /// `tree` is the raster address of the block's coding tree unit, `order` its z-scan index in that unit.
    @inline(__always) private func motion(
        _ x: Int, _ y: Int, _ block: HEVCMotionBlock, tree: Int, order: Int
    ) -> HEVCMotion {
        guard x >= 0 && y >= 0 && x < width && y < height else { return HEVCMotion() }
        let other = (y &>> log2Tree) &* columns &+ x &>> log2Tree
        if other == tree {
            // Prediction blocks of one coding unit are decoded in the order of partIdx, independent of z-scan order.
            let isSameUnit =
                x >= block.unitX && y >= block.unitY && x < block.unitX &+ block.unitSize
                && y < block.unitY &+ block.unitSize
            if !isSameUnit && zOrder(x, y) > order { return HEVCMotion() }
        } else if other > tree || slice[other] != slice[tree] || tiles[other] != tiles[tree] {
            // In one slice and tile, coding tree units are coded in raster order.
            return HEVCMotion()
        }
        return motion[(y &>> 2) &* blockColumns &+ x &>> 2]
    }

    /// Returns the z-scan index, in its coding tree unit, of the 4×4 block at (x, y).
    @inline(__always) private func zOrder(_ x: Int, _ y: Int) -> Int {
        let mask = 1 &<< log2Tree &- 1
        @inline(__always) func spread(_ v: Int) -> Int {
            let pairs = (v | v &<< 2) & 0x33
            return (pairs | pairs &<< 1) & 0x55
        }
        return spread((x & mask) &>> 2) | spread((y & mask) &>> 2) &<< 1
    }

    /// Returns the motion of a block's neighbors. The tables must contain the motion of earlier blocks of the same
    /// coding unit.
    @inline(__always) func neighbors(_ block: HEVCMotionBlock) -> HEVCMotionNeighbors {
        let tree = (block.y &>> log2Tree) &* columns &+ block.x &>> log2Tree
        let order = zOrder(block.x, block.y)
        let (left, above) = (block.x &- 1, block.y &- 1)
        let (right, below) = (block.x &+ block.width, block.y &+ block.height)
        var result = HEVCMotionNeighbors()
        // With NxN partitions, block 2 lies below the left side of block 1 and is not decoded yet.
        if !(block.partition == .partNxN && block.index == 1) {
            result.a0 = motion(left, below, block, tree: tree, order: order)
        }
        result.a1 = motion(left, below &- 1, block, tree: tree, order: order)
        result.b0 = motion(right, above, block, tree: tree, order: order)
        result.b1 = motion(right &- 1, above, block, tree: tree, order: order)
        result.b2 = motion(left, above, block, tree: tree, order: order)
        return result
    }
}
