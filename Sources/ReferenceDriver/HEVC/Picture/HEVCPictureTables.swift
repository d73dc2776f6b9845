/// What is known of each block of the picture being coded, for the blocks after it and for the loop filters.
struct HEVCPictureTables {
    /// By coding tree unit, raster: the slice's number, −1 where nothing is coded yet.
    let slice: Lane<Int32>
    /// By smallest coding block, `minimumColumns` to a row: CuPredMode, log2 of the unit's size, QP_Y.
    let mode: Lane<HEVCPredictionMode>
    let log2Size: Lane<UInt8>
    let qp: Lane<Int8>
    /// By 4×4 block, `blockColumns` to a row: IntraPredModeY (1, DC, for other units), the motion, and `HEVCEdges`.
    let intraMode: Lane<UInt8>
    let motion: Lane<HEVCMotion>
    let edges: Lane<UInt8>
}

/// Bits of a 4×4 block for deblocking, H.265 8.7.2.3 and 8.7.2.4.
enum HEVCEdges {
    /// Its left or upper border is a transform block's, or a prediction block's. A coding block's is both.
    static let transformLeft: UInt8 = 1
    static let transformTop: UInt8 = 2
    static let predictionLeft: UInt8 = 4
    static let predictionTop: UInt8 = 8
    /// The luma transform block over it has levels.
    static let coded: UInt8 = 16
}

/// Owns what `HEVCPictureTables` looks into.
final class HEVCPictureTableStorage: Sendable {
    private let slice: LaneStorage<Int32>
    private let mode: LaneStorage<HEVCPredictionMode>
    private let log2Size: LaneStorage<UInt8>
    private let qp: LaneStorage<Int8>
    private let intraMode: LaneStorage<UInt8>
    private let motion: LaneStorage<HEVCMotion>
    private let edges: LaneStorage<UInt8>

    init(_ grid: HEVCGrid) {
        let blocks = grid.blockColumns * grid.blockRows
        let units = grid.minimumColumns * grid.minimumRows
        slice = LaneStorage(count: grid.codingTrees, repeating: -1)
        mode = LaneStorage(count: units, repeating: .intra)
        log2Size = LaneStorage(count: units, repeating: 0)
        qp = LaneStorage(count: units, repeating: 0)
        intraMode = LaneStorage(count: blocks, repeating: 1)
        motion = LaneStorage(count: blocks, repeating: HEVCMotion())
        edges = LaneStorage(count: blocks, repeating: 0)
    }

    /// Forgets the picture before.
    func begin() {
        slice.lane.fill(-1, count: slice.count)
        edges.lane.fill(0, count: edges.count)
    }

    var tables: HEVCPictureTables {
        HEVCPictureTables(
            slice: slice.lane, mode: mode.lane, log2Size: log2Size.lane, qp: qp.lane, intraMode: intraMode.lane,
            motion: motion.lane, edges: edges.lane)
    }
}
