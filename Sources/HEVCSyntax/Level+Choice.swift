public import VideoBase

extension Level {
    /// What of a stream the levels limit.
    public struct Demand: Sendable, Hashable {
        /// pic_width_in_luma_samples and pic_height_in_luma_samples.
        public var codedSize: VideoSize
        public var frameRate: Rational
        /// sps_max_dec_pic_buffering_minus1 + 1 of the highest sub-layer: the references and the current picture.
        public var decodedPictures: Int
        /// The largest rate over all NAL units; nil where it is not bounded.
        public var bitrate: BitsPerSecond?
        /// The coded picture buffer over all NAL units, in bits; nil where there is none.
        public var cpbSize: Int?
        /// CtbSizeY: 16, 32 or 64.
        public var ctbSize = 64
        public var sliceSegments = 1
        public var tileColumns = 1
        public var tileRows = 1

        public init(
            codedSize: VideoSize, frameRate: Rational, decodedPictures: Int = 2, bitrate: BitsPerSecond? = nil,
            cpbSize: Int? = nil
        ) {
            self.codedSize = codedSize
            self.frameRate = frameRate
            self.decodedPictures = decodedPictures
            self.bitrate = bitrate
            self.cpbSize = cpbSize
        }
    }

    /// Whether a stream keeps within the level, whatever its tier: picture size and sides, coding tree blocks of 16
    /// (none from level 5 on), slice segments and tiles, decoded pictures (A.4.1), sample rate and at most 300 pictures
    /// per second (A.4.2).
    public func allowsPictures(_ demand: Demand) -> Bool {
        let width = demand.codedSize.width
        let height = demand.codedSize.height
        let rate = demand.frameRate.value
        return width * height <= maxLumaPs && width * width <= 8 * maxLumaPs && height * height <= 8 * maxLumaPs
            && (demand.ctbSize > 16 || number < 50) && demand.sliceSegments <= maxSliceSegmentsPerPicture
            && demand.tileColumns <= maxTileCols && demand.tileRows <= maxTileRows
            && demand.decodedPictures <= maxDpbSize(codedSize: demand.codedSize)
            && Double(width * height) * rate <= Double(maxLumaSr) && rate <= 300
    }

    /// Whether a rate and a buffer keep within the level's tier; false where the level lacks it.
    public func allowsRate(_ demand: Demand, tier: Tier) -> Bool {
        guard let rate = maxBitrate(tier: tier), let buffer = maxCPBSize(tier: tier) else { return false }
        return (demand.bitrate?.value ?? 0) <= rate.value && (demand.cpbSize ?? 0) <= buffer
    }

    /// Whether a stream keeps within the level's tier.
    public func allows(_ demand: Demand, tier: Tier) -> Bool {
        allowsPictures(demand) && allowsRate(demand, tier: tier)
    }

    /// The lowest level that allows the stream, in the Main tier where that level's suffices; nil where none does.
    ///
    /// - Parameter tier: the only tier to take; nil takes either. Of a higher level in the Main tier and a lower one in
    ///   the High tier it is the lower level: the High tier asks no more of a decoder's sample rate.
    public static func lowest(_ demand: Demand, tier: Tier? = nil) -> (level: Level, tier: Tier)? {
        for level in all where level.allowsPictures(demand) {
            for candidate in tier.map({ [$0] }) ?? Tier.allCases where level.allowsRate(demand, tier: candidate) {
                return (level, candidate)
            }
        }
        return nil
    }
}
