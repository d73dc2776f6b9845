import EncodePlanning

/// The periods of a stream in the sequence parameter buffers of every codec, in frames.
struct SequencePeriods: Sendable, Hashable {
    /// The distance from one intra picture to the next; `Int32.max` if there is no fixed distance.
    var intra: UInt32
    /// The distance from one IDR picture to the next; at most `Int32.max`.
    var idr: UInt32
    /// The distance from one I or P picture to the next; 0 if there are only I pictures.
    var ip: UInt32

    init(_ structure: GOPStructure) {
        intra = UInt32(clamping: structure.keyInterval ?? Int(Int32.max))
        let (product, overflow) = intra.multipliedReportingOverflow(by: UInt32(clamping: structure.idrInterval))
        idr = overflow ? UInt32(Int32.max) : min(product, UInt32(Int32.max))
        ip = intra == 1 ? 0 : UInt32(structure.bFrames + 1)
    }
}
