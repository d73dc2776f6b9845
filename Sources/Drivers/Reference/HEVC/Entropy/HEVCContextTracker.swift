/// Follows the states of a slice's contexts while its coding tree units are chosen, before the slice is written. Units
/// are coded into memory that is not read.
final class HEVCContextTracker {
    /// The current states, for a `HEVCBinCount`.
    let states = ElementStorage<UInt8>(count: ArithmeticEncoder.stateCount, repeating: 0)
    private let grid: HEVCGrid
    private let scratch = ElementStorage<Int32>(count: HEVCResidualCoder.scratchCount, repeating: 0)
    /// Twice the largest size of a coding tree unit's syntax; see `HEVCSliceWriter`.
    private let output = ElementStorage<UInt8>(count: 1 << 17, repeating: 0)
    private var syntax = HEVCSliceSyntax()
    private var coder: HEVCTreeCoder?

    init(_ grid: HEVCGrid) {
        self.grid = grid
        ArithmeticEncoder.layStates(states.elements, tables: .shared)
    }

    /// Starts a slice; `initialize` or `load` must follow. The trackers of a picture share the units' `records`.
    func begin(_ slice: HEVCSliceJob, _ job: HEVCPictureJob, records: ElementPointer<HEVCUnitRecord>) {
        syntax = HEVCSliceSyntax(slice, job)
        coder = HEVCTreeCoder(
            arithmetic: ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements),
            syntax: syntax, records: records, scratch: scratch.elements)
    }

    func initialize() {
        HEVCContexts.initialize(
            states.elements, type: syntax.type, cabac_init_flag: syntax.cabac_init_flag, qp: syntax.qp)
    }

    func load(_ saved: ElementPointer<UInt8>) { states.elements.copy(from: saved, count: HEVCContexts.count) }

    func save(_ saved: ElementPointer<UInt8>) { saved.copy(from: states.elements, count: HEVCContexts.count) }

    /// Updates the states with the coding tree unit at raster address `address`.
    func follow(_ tree: HEVCCodingTree, address: Int, neighbors: HEVCTreeNeighbors) {
        coder?.arithmetic = ArithmeticEncoder(destination: output.elements, byteCount: 0, states: states.elements)
        coder?.write(
            tree, x: (address % grid.columns) << grid.log2CodingTreeBlock,
            y: (address / grid.columns) << grid.log2CodingTreeBlock, neighbors: neighbors)
    }
}
