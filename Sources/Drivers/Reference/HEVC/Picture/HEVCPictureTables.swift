/// What is known of each block of the picture being coded, for the blocks after it and for the loop filters.
struct HEVCPictureTables {
    /// By coding tree unit, raster: the slice's number, −1 where nothing is coded yet.
    let slice: ElementPointer<Int32>
    /// By smallest coding block, `minimumColumns` to a row: CuPredMode, log2 of the unit's size, QP_Y.
    let mode: ElementPointer<HEVCPredictionMode>
    let log2Size: ElementPointer<UInt8>
    let qp: ElementPointer<Int8>
    /// By 4×4 block, `blockColumns` to a row: IntraPredModeY (1, DC, for other units), the motion, and `HEVCEdges`.
    let intraMode: ElementPointer<UInt8>
    let motion: ElementPointer<HEVCMotion>
    let edges: ElementPointer<UInt8>
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
    private let slice: ElementStorage<Int32>
    private let mode: ElementStorage<HEVCPredictionMode>
    private let log2Size: ElementStorage<UInt8>
    private let qp: ElementStorage<Int8>
    private let intraMode: ElementStorage<UInt8>
    private let motion: ElementStorage<HEVCMotion>
    private let edges: ElementStorage<UInt8>

    init(_ grid: HEVCGrid) {
        let blocks = grid.blockColumns * grid.blockRows
        let units = grid.minimumColumns * grid.minimumRows
        slice = ElementStorage(count: grid.codingTrees, repeating: -1)
        mode = ElementStorage(count: units, repeating: .intra)
        log2Size = ElementStorage(count: units, repeating: 0)
        qp = ElementStorage(count: units, repeating: 0)
        intraMode = ElementStorage(count: blocks, repeating: 1)
        motion = ElementStorage(count: blocks, repeating: HEVCMotion())
        edges = ElementStorage(count: blocks, repeating: 0)
    }

    /// Forgets the picture before.
    func begin() {
        slice.elements.fill(-1, count: slice.count)
        edges.elements.fill(0, count: edges.count)
    }

    var tables: HEVCPictureTables {
        HEVCPictureTables(
            slice: slice.elements, mode: mode.elements, log2Size: log2Size.elements, qp: qp.elements, intraMode: intraMode.elements,
            motion: motion.elements, edges: edges.elements)
    }
}
