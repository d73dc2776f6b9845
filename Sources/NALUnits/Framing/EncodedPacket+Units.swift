public import VideoBase

extension EncodedPacket {
    /// The ranges of the packet's NAL units in `bytes`, without start codes. If the encoder has not stored the ranges,
    /// the bytes are scanned at each access.
    package var unitRanges: [Range<Int>] { knownUnitRanges ?? AnnexB.units(in: bytes.span) }

    /// Copies of the packet's NAL units without start codes, including parameter sets.
    public var units: [[UInt8]] { unitRanges.map { Array(bytes[$0]) } }
}
