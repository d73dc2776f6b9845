/// The properties of each block of the current picture, for later blocks and for the loop filters.
struct HEVCPictureTables {
    /// The slice's number of each coding tree unit in raster order; −1 for units that are not coded yet.
    let slice: ElementPointer<Int32>
    /// CuPredMode, log2 of the unit's size and QP_Y of each smallest coding block, with `minimumColumns` in a row.
    let mode: ElementPointer<HEVCPredictionMode>
    let log2Size: ElementPointer<UInt8>
    let qp: ElementPointer<Int8>
    /// IntraPredModeY (1, DC, for units that are not intra), the motion and `HEVCEdges` of each 4×4 block, with
    /// `blockColumns` in a row.
    let intraMode: ElementPointer<UInt8>
    let motion: ElementPointer<HEVCMotion>
    let edges: ElementPointer<UInt8>
}

/// The flags of a 4×4 block for deblocking, H.265 8.7.2.3 and 8.7.2.4.
enum HEVCEdges {
    /// The left or upper border is an edge of a transform block or of a prediction block. Edges of coding blocks are
    /// both.
    static let transformLeft: UInt8 = 1
    static let transformTop: UInt8 = 2
    static let predictionLeft: UInt8 = 4
    static let predictionTop: UInt8 = 8
    /// The luma transform block that contains the 4×4 block has levels.
    static let coded: UInt8 = 16
}

/// Owns the memory that a `HEVCPictureTables` points into.
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

    /// Clears the tables for the next picture.
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
