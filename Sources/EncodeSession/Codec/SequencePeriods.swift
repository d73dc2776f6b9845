import EncodePlanning

/// What sequence buffers say of a stream's structure, the same for every codec; in frames.
struct SequencePeriods: Sendable, Hashable {
    /// From one key frame to the next: the greatest where there is no such rule.
    var intra: UInt32
    /// From one IDR picture to the next, likewise.
    var idr: UInt32
    /// From one I or P picture to the next; 0 where there are only I pictures.
    var ip: UInt32

    init(_ structure: GOPStructure) {
        intra = UInt32(clamping: structure.keyInterval ?? Int(Int32.max))
        let (product, overflow) = intra.multipliedReportingOverflow(by: UInt32(clamping: structure.idrInterval))
        idr = overflow ? UInt32(Int32.max) : product
        ip = intra == 1 ? 0 : UInt32(structure.bFrames + 1)
    }
}
