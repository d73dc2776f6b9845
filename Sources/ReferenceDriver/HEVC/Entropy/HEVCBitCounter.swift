/// Says what syntax would cost, in 1/32768 bits, with a slice's contexts as the writer has them at the moment. One
/// thread at a time, that of the writer.
///
/// Elements are counted as they are coded: `var bins = counter.bins`, then any of `HEVCBinSink`'s elements, then
/// `bins.cost`. Contexts do not adapt on the way.
package final class HEVCBitCounter {
    private let writer: HEVCSliceWriter
    private let scratch = LaneStorage<Int32>(count: HEVCResidualCoder.scratchCount, repeating: 0)
    private let prices = HEVCBinPrices.shared.prices.lane
    private let residual: HEVCResidualCoder

    /// A whole bit.
    static let bit = 1 << 15

    package init(_ writer: HEVCSliceWriter) {
        self.writer = writer
        residual = HEVCResidualCoder(scratch: scratch.lane)
    }

    /// A count that begins at 0.
    @inline(__always) var bins: HEVCBinCount { HEVCBinCount(states: writer.contextStates, prices: prices) }

    /// residual_coding() of a block with levels, without transform_skip_flag.
    @inline(never) func residual(_ block: HEVCResidualBlock) -> Int {
        var bins = bins
        residual.code(block, &bins)
        return bins.cost
    }
}
