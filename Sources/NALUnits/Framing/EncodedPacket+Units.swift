public import VideoBase

extension EncodedPacket {
    /// The ranges of the packet's NAL units in `bytes`, without start codes: those that the encoder found, or a scan.
    package var unitRanges: [Range<Int>] { knownUnitRanges ?? AnnexB.units(in: bytes.span) }

    /// The packet's NAL units without start codes, parameter sets included, copied.
    public var units: [[UInt8]] { unitRanges.map { Array(bytes[$0]) } }
}
