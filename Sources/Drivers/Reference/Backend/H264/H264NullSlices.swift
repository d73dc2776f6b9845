/// Makes H.264 slices with minimal data (VAENC_REFERENCE_MODE=null), and caches them by the parameters that they depend
/// on.
///
/// P and B slices consist of skipped macroblocks. I slices use 16×16 DC prediction without a residual.
final class H264NullSlices {
    private struct Key: Hashable {
        var firstMacroblock: Int
        var macroblockCount: Int
        var width: Int
        var type: SliceType
        var cabac: Bool
        var cabac_init_idc: Int
        var qp: Int
        /// The number of header bits in the last header byte, which CAVLC data follows directly; 0 for CABAC data,
        /// which is aligned.
        var phase: Int
    }

    private var cache: [Key: [UInt8]] = [:]

    /// Returns the NAL unit of each slice.
    func units(for slices: [H264SliceJob], width: Int) -> [[UInt8]] {
        slices.map { slice in
            let header = slice.header
            let key = Key(
                firstMacroblock: slice.firstMacroblock, macroblockCount: slice.macroblockCount, width: width,
                type: slice.type, cabac: slice.cabac,
                cabac_init_idc: slice.type == .i ? 0 : slice.cabac_init_idc, qp: slice.cabac ? slice.qp : 0,
                phase: slice.cabac ? 0 : header.bitCount % 8)
            let data = cache[key] ?? make(key)
            if cache.count > 256 { cache.removeAll() }
            cache[key] = data
            let whole = header.bitCount / 8
            let rest = header.bitCount % 8
            var payload = Array(header.payload[..<whole])
            if rest > 0 {
                let last = header.payload[whole] & (0xff << UInt8(8 - rest))
                if slice.cabac {
                    payload.append(last | 0xff >> UInt8(rest))
                    payload += data
                } else {
                    payload.append(last | (data.first ?? 0))
                    payload += data.dropFirst()
                }
            } else {
                payload += data
            }
            return EmulationPrevention.escape(payload, after: header.prefix)
        }
    }

    /// Returns `phase` zero bits and the slice data with trailing bits, without emulation prevention bytes.
    private func make(_ key: Key) -> [UInt8] {
        let writer = SliceEntropyWriter(widthInMacroblocks: key.width)
        var slice = EntropySlice()
        slice.firstMacroblock = key.firstMacroblock
        slice.type = key.type
        slice.qp = key.qp
        slice.cabac = key.cabac
        slice.cabac_init_idc = key.cabac_init_idc
        writer.begin(slice, header: SliceHeaderBits(prefix: [], payload: [0], bitCount: key.phase))
        var macroblock = MacroblockSyntax()
        macroblock.kind = key.type == .i ? .intra16x16 : .skip
        macroblock.intra16x16Mode = 2
        for address in key.firstMacroblock..<key.firstMacroblock + key.macroblockCount {
            writer.write(macroblock, address: address)
        }
        return EmulationPrevention.unescape(writer.finish())
    }
}
