package import VideoBase

extension Level {
    /// The properties of a stream that levels limit.
    package struct Demand: Sendable, Hashable {
        /// pic_width_in_luma_samples and pic_height_in_luma_samples.
        package var codedSize: VideoSize
        /// The frame rate in frames per second.
        package var frameRate: Rational
        /// sps_max_dec_pic_buffering_minus1 + 1 of the highest sub-layer: the number of references plus the current
        /// picture.
        package var decodedPictures: Int
        /// The maximum bit rate of all NAL units, or nil if there is no maximum.
        package var bitrate: BitsPerSecond?
        /// The size of the coded picture buffer for all NAL units in bits, or nil if there is none.
        package var cpbSize: Int?
        /// CtbSizeY: 16, 32 or 64.
        package var ctbSize = 64
        /// The number of slice segments of a picture.
        package var sliceSegments = 1
        /// The number of tile columns.
        package var tileColumns = 1
        /// The number of tile rows.
        package var tileRows = 1

        /// Creates a demand with one slice segment, one tile and coding tree blocks of 64×64 samples.
        package init(
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

    /// Returns whether the level allows a stream's pictures, in any tier: picture size and sides, coding tree blocks of
    /// 16×16 (not from level 5 on), slice segments and tiles, decoded pictures (A.4.1), sample rate and at most 300
    /// pictures per second (A.4.2).
    package func allowsPictures(_ demand: Demand) -> Bool {
        let width = demand.codedSize.width
        let height = demand.codedSize.height
        let rate = demand.frameRate.value
        return width * height <= maxLumaPs && width * width <= 8 * maxLumaPs && height * height <= 8 * maxLumaPs
            && (demand.ctbSize > 16 || number < 50) && demand.sliceSegments <= maxSliceSegmentsPerPicture
            && demand.tileColumns <= maxTileCols && demand.tileRows <= maxTileRows
            && demand.decodedPictures <= maxDpbSize(codedSize: demand.codedSize)
            && Double(width * height) * rate <= Double(maxLumaSr) && rate <= 300
    }

    /// Returns whether the level's tier allows a stream's bit rate and buffer; false if the level does not have the
    /// tier.
    package func allowsRate(_ demand: Demand, tier: Tier) -> Bool {
        guard let rate = maxBitrate(tier: tier), let buffer = maxCPBSize(tier: tier) else { return false }
        return (demand.bitrate?.value ?? 0) <= rate.value && (demand.cpbSize ?? 0) <= buffer
    }

    /// Returns whether the level's tier allows a stream.
    package func allows(_ demand: Demand, tier: Tier) -> Bool {
        allowsPictures(demand) && allowsRate(demand, tier: tier)
    }

    /// Returns the lowest level that allows the stream, in the Main tier if that is sufficient for the level; nil if no
    /// level allows it.
    ///
    /// - Parameter tier: The required tier, or nil for either. If the choice is between a higher level in the Main tier
    ///   and a lower level in the High tier, the lower level is returned: the High tier does not require a higher
    ///   sample rate of a decoder.
    package static func lowest(_ demand: Demand, tier: Tier? = nil) -> (level: Level, tier: Tier)? {
        for level in all where level.allowsPictures(demand) {
            for candidate in tier.map({ [$0] }) ?? Tier.allCases where level.allowsRate(demand, tier: candidate) {
                return (level, candidate)
            }
        }
        return nil
    }
}
