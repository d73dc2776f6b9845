import NALUnits
import VAAPI

extension PackedHeader {
    /// Whole NAL units behind start codes, escaped.
    init(_ kind: Kind, units: [[UInt8]]) {
        var bytes: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &bytes) }
        self.init(kind, bytes, hasEmulationBytes: true)
    }

    /// A slice header, up to the slice data: a NAL unit with its start code, not escaped.
    ///
    /// Where it holds no two zero bytes there is nothing to escape, and it is sent as escaped, which every driver
    /// knows from FFmpeg. Otherwise the driver escapes it: whether its last bits need an escape depends on the slice
    /// data that they share a byte with.
    init(sliceHeader bytes: [UInt8], bitLength: Int) {
        let afterStartCode = bytes.span.extracting(droppingFirst: AnnexB.startCode.count)
        self.init(
            .slice, bytes, bitLength: bitLength, hasEmulationBytes: firstZeroPair(in: afterStartCode, from: 0) == nil)
    }
}
