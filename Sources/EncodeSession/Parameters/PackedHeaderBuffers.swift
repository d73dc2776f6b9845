import H264Syntax
import NALWriting
import VAAPI

extension PackedHeader {
    /// Whole NAL units behind start codes, escaped.
    init(_ kind: Kind, units: [[UInt8]]) {
        var bytes: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &bytes) }
        self.init(kind, bytes, hasEmulationBytes: true)
    }

    /// A slice header, up to the slice data.
    ///
    /// Where it holds no two zero bytes there is nothing to escape, and it is sent as escaped, which every driver
    /// knows from FFmpeg. Otherwise the driver escapes it: whether its last bits need an escape depends on the slice
    /// data that they share a byte with.
    init(_ header: SliceHeader, sps: SequenceParameterSet, pps: PictureParameterSet) {
        let packed = header.packed(sps: sps, pps: pps)
        let afterStartCode = packed.bytes.span.extracting(droppingFirst: AnnexB.startCode.count)
        self.init(
            .slice, packed.bytes, bitLength: packed.bitLength,
            hasEmulationBytes: firstZeroPair(in: afterStartCode, from: 0) == nil)
    }
}
