/// Makes slices without a residual at almost no cost: P slices with only skipped macroblocks, and I slices with only
/// intra 16×16 macroblocks in DC mode. The I slices decode to grey, because intra prediction uses no samples of other
/// slices. The slice data of CABAC is cached by the values that it depends on.
package struct EmptySlices {
    private let width: Int
    private let writer: SliceEntropyWriter
    private var cache: [Key: [UInt8]] = [:]

    private struct Key: Hashable {
        var type: SliceType
        var column: Int
        var count: Int
        var qp: Int
        var cabacInitIdc: Int
    }

    /// The maximum number of cached slices. If it is reached, the cache is emptied.
    private static let limit = 256

    package init(widthInMacroblocks: Int) {
        width = widthInMacroblocks
        writer = SliceEntropyWriter(widthInMacroblocks: widthInMacroblocks)
    }

    /// Returns the NAL unit of such a slice with `count` macroblocks: intra macroblocks in I slices, otherwise skipped
    /// ones.
    package mutating func nalUnit(
        _ slice: EntropySlice, macroblockCount count: Int, header: SliceHeaderBits
    ) -> [UInt8] {
        guard slice.cabac else { return writeCAVLC(slice, count: count, header: header) }
        let key = Key(
            type: slice.type, column: slice.firstMacroblock % width, count: count, qp: slice.qp,
            cabacInitIdc: slice.type == .i ? 0 : slice.cabacInitIdc)
        let data: [UInt8]
        if let cached = cache[key] {
            data = cached
        } else {
            if cache.count >= Self.limit { cache = [:] }
            // Without a header, the NAL unit contains only the slice data.
            let escaped = writeCABAC(slice, count: count, header: SliceHeaderBits(prefix: [], payload: [], bitCount: 0))
            data = EmulationPrevention.unescape(escaped)
            cache[key] = data
        }
        var payload = Array(header.payload.prefix((header.bitCount + 7) / 8))
        let unused = 8 * payload.count - header.bitCount
        // cabac_alignment_one_bit
        if unused > 0 { payload[payload.count - 1] |= 1 << UInt8(unused) - 1 }
        return EmulationPrevention.escape(payload + data, after: header.prefix)
    }

    /// Writes a slice with CAVLC. A P slice is one mb_skip_run. In an I slice, each macroblock has the same eight bits.
    private func writeCAVLC(_ slice: EntropySlice, count: Int, header: SliceHeaderBits) -> [UInt8] {
        let output = ElementStorage<UInt8>(count: header.payload.count + count + 64, repeating: 0)
        var sink = SliceBitSink(output.elements)
        sink.put(header)
        if slice.type == .i {
            // mb_type 3 (DC prediction, no levels), intra_chroma_pred_mode 0, mb_qp_delta 0, and coeff_token for no
            // levels.
            for _ in 0..<count { sink.put(0b00100_1_1_1, 8) }
        } else {
            sink.putUnsigned(count)
        }
        sink.put(1, 1)
        sink.align(with: 0)
        sink.flush()
        return withExtendedLifetime(output) {
            EmulationPrevention.escape(output.elements, count: sink.byteCount, after: header.prefix)
        }
    }

    private func writeCABAC(_ slice: EntropySlice, count: Int, header: SliceHeaderBits) -> [UInt8] {
        var macroblock = MacroblockSyntax()
        macroblock.kind = slice.type == .i ? .intra16x16 : .skip
        macroblock.intra16x16Mode = 2
        writer.begin(slice, header: header)
        for address in slice.firstMacroblock..<(slice.firstMacroblock + count) {
            writer.write(macroblock, address: address)
        }
        return writer.finish()
    }
}
