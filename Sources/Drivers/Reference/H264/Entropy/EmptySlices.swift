/// Slices without a residual, at next to no cost: P slices of skipped macroblocks only, and I slices of intra 16×16
/// with DC prediction, which decode to grey where nothing else of their slice stands around them. CABAC's bytes are
/// kept by what they depend on.
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

    /// Kept slice data before everything is dropped.
    private static let limit = 256

    package init(widthInMacroblocks: Int) {
        width = widthInMacroblocks
        writer = SliceEntropyWriter(widthInMacroblocks: widthInMacroblocks)
    }

    /// The NAL unit of such a slice of `count` macroblocks: intra for I slices, else skipped.
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
            // With no header the NAL unit is the slice data itself.
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

    /// In CAVLC a P slice is one mb_skip_run, and every macroblock of an I slice the same eight bits.
    private func writeCAVLC(_ slice: EntropySlice, count: Int, header: SliceHeaderBits) -> [UInt8] {
        let output = ElementStorage<UInt8>(count: header.payload.count + count + 64, repeating: 0)
        var sink = SliceBitSink(output.elements)
        sink.put(header)
        if slice.type == .i {
            // mb_type 3 (DC, nothing coded), intra_chroma_pred_mode 0, mb_qp_delta 0, coeff_token of no levels.
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
