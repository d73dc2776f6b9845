import NALUnits
import VAAPI

extension PackedHeader {
    /// Creates a header of whole, escaped NAL units with start codes.
    init(_ kind: Kind, units: [[UInt8]]) {
        var bytes: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &bytes) }
        self.init(kind, bytes, has_emulation_bytes: true)
    }

    /// Creates the header of a slice up to the slice data: a NAL unit with its start code, not escaped.
    ///
    /// If it contains no two zero bytes, there is nothing to escape. The header is then marked as escaped, which every
    /// driver knows from FFmpeg. Otherwise the driver escapes it, because the escape of the last bits depends on the
    /// slice data in the same byte.
    init(sliceHeader bytes: [UInt8], bit_length: Int) {
        let afterStartCode = bytes.span.extracting(droppingFirst: AnnexB.startCode.count)
        self.init(
            .slice, bytes, bit_length: bit_length,
            has_emulation_bytes: firstZeroPair(in: afterStartCode, from: 0) == nil)
    }
}
