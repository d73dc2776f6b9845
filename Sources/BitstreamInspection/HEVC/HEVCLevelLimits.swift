/// The limits of a level and tier (H.265 tables A.8 and A.9).
package struct HEVCLevelLimits: Sendable, Hashable {
    /// MaxLumaPs, the maximum number of luma samples in a picture.
    package var maxLumaPs: Int
    /// MaxCPB in units of 1000 (VCL) or 1100 (NAL) bits.
    package var maxCPB: Int
    /// MaxBR in units of 1000 (VCL) or 1100 (NAL) bits per second.
    package var maxBR: Int
    package var maxSliceSegments: Int
    package var maxTileRows: Int
    package var maxTileColumns: Int
    /// MaxLumaSr in luma samples per second.
    package var maxLumaSr: Int
    /// MinCrBase, the minimum compression ratio of a picture.
    package var minCrBase: Int

    private struct Row {
        /// general_level_idc.
        var level: Int
        var maxLumaPs: Int
        /// MaxCPB of the Main tier, then of the High tier. Levels below 4 have no High tier.
        var maxCPB: [Int]
        var segments: Int
        /// MaxTileRows and MaxTileCols.
        var tiles: [Int]
        var maxLumaSr: Int
        var minCrBase: Int
    }

    /// MaxBR equals MaxCPB in every row except level 1, where MaxBR is 128.
    private static let table = [
        Row(level: 30, maxLumaPs: 36864, maxCPB: [350], segments: 16, tiles: [1, 1], maxLumaSr: 552_960, minCrBase: 2),
        Row(
            level: 60, maxLumaPs: 122_880, maxCPB: [1500], segments: 16, tiles: [1, 1], maxLumaSr: 3_686_400,
            minCrBase: 2),
        Row(
            level: 63, maxLumaPs: 245_760, maxCPB: [3000], segments: 20, tiles: [1, 1], maxLumaSr: 7_372_800,
            minCrBase: 2),
        Row(
            level: 90, maxLumaPs: 552_960, maxCPB: [6000], segments: 30, tiles: [2, 2], maxLumaSr: 16_588_800,
            minCrBase: 2),
        Row(
            level: 93, maxLumaPs: 983_040, maxCPB: [10000], segments: 40, tiles: [3, 3], maxLumaSr: 33_177_600,
            minCrBase: 2),
        Row(
            level: 120, maxLumaPs: 2_228_224, maxCPB: [12000, 30000], segments: 75, tiles: [5, 5],
            maxLumaSr: 66_846_720, minCrBase: 4),
        Row(
            level: 123, maxLumaPs: 2_228_224, maxCPB: [20000, 50000], segments: 75, tiles: [5, 5],
            maxLumaSr: 133_693_440, minCrBase: 4),
        Row(
            level: 150, maxLumaPs: 8_912_896, maxCPB: [25000, 100_000], segments: 200, tiles: [11, 10],
            maxLumaSr: 267_386_880, minCrBase: 6),
        Row(
            level: 153, maxLumaPs: 8_912_896, maxCPB: [40000, 160_000], segments: 200, tiles: [11, 10],
            maxLumaSr: 534_773_760, minCrBase: 8),
        Row(
            level: 156, maxLumaPs: 8_912_896, maxCPB: [60000, 240_000], segments: 200, tiles: [11, 10],
            maxLumaSr: 1_069_547_520, minCrBase: 8),
        Row(
            level: 180, maxLumaPs: 35_651_584, maxCPB: [60000, 240_000], segments: 600, tiles: [22, 20],
            maxLumaSr: 1_069_547_520, minCrBase: 8),
        Row(
            level: 183, maxLumaPs: 35_651_584, maxCPB: [120_000, 480_000], segments: 600, tiles: [22, 20],
            maxLumaSr: 2_139_095_040, minCrBase: 8),
        Row(
            level: 186, maxLumaPs: 35_651_584, maxCPB: [240_000, 800_000], segments: 600, tiles: [22, 20],
            maxLumaSr: 4_278_190_080, minCrBase: 6),
    ]

    /// Creates the limits of a sequence's level and tier; nil if the level is not in the table or has no such tier.
    package init?(_ sps: HEVCSequenceParameterSet) {
        let set = sps.profileTierLevel
        let tier = set.general.tier_flag ? 1 : 0
        guard let row = Self.table.first(where: { $0.level == set.general_level_idc }), tier < row.maxCPB.count else {
            return nil
        }
        maxLumaPs = row.maxLumaPs
        maxCPB = row.maxCPB[tier]
        maxBR = row.level == 30 ? 128 : row.maxCPB[tier]
        maxSliceSegments = row.segments
        (maxTileRows, maxTileColumns) = (row.tiles[0], row.tiles[1])
        maxLumaSr = row.maxLumaSr
        minCrBase = row.minCrBase
    }

    /// Returns MaxDpbSize.
    package func maxDpbSize(_ sps: HEVCSequenceParameterSet) -> Int {
        let size = sps.sizeInSamples
        if size <= maxLumaPs >> 2 { return 16 }
        if size <= maxLumaPs >> 1 { return 12 }
        if size <= 3 * maxLumaPs >> 2 { return 8 }
        return 6
    }

    /// Returns FormatCapabilityFactor of Main or Main 10 (table A.10).
    package static func formatCapability(_ sps: HEVCSequenceParameterSet) -> Double {
        sps.profileTierLevel.general.profile_idc == 1 ? 1.5 : 1.875
    }
}

extension HEVCSequenceParameterSet {
    /// Returns the violations of the profile and level (A.3, A.4).
    func levelFaults() -> [String] {
        var faults: [String] = []
        let profile = profileTierLevel.general
        let level = profileTierLevel.general_level_idc
        if profile.profile_space != 0 { faults.append("general_profile_space is \(profile.profile_space)") }
        if profile.includes(1) || profile.includes(2) {
            if chroma_format_idc != 1 { faults.append("chroma_format_idc must be 1 in Main and Main 10") }
            let deepest = profile.includes(1) ? 8 : 10
            for depth in [bit_depth_luma, bit_depth_chroma] where depth > deepest {
                faults.append("samples have \(depth) bits, but the profile allows \(deepest)")
            }
            // A.3.2: a stream that conforms to Main also conforms to Main 10.
            if profile.profile_idc == 1, !profile.isCompatible(with: 2) {
                faults.append("general_profile_compatibility_flag[2] is not set in Main")
            }
            if !profile.isCompatible(with: profile.profile_idc) {
                faults.append("general_profile_compatibility_flag[\(profile.profile_idc)] is not set")
            }
        }
        guard let limits = HEVCLevelLimits(self) else {
            return faults + ["general_level_idc \(level) is not a defined level in this tier"]
        }
        let name = "level \(level / 30).\(level % 30 / 3)"
        let side = 8 * limits.maxLumaPs
        if sizeInSamples > limits.maxLumaPs {
            faults.append("a picture has \(sizeInSamples) samples, but \(name) allows \(limits.maxLumaPs)")
        }
        for length in [pic_width_in_luma_samples, pic_height_in_luma_samples] where length * length > side {
            faults.append("a side of \(length) samples is too long for \(name)")
        }
        if highest.max_dec_pic_buffering > limits.maxDpbSize(self) {
            faults.append(
                "the buffer holds \(highest.max_dec_pic_buffering) pictures, but \(name) allows "
                    + "\(limits.maxDpbSize(self))")
        }
        if level >= 150, ctbSize < 32 { faults.append("\(name) does not allow coding tree blocks of \(ctbSize)") }
        for layer in vui?.hrd?.subLayers ?? [] {
            for (schedules, factor) in [(layer.nal, 1100), (layer.vcl, 1000)] where !schedules.isEmpty {
                if !schedules.contains(where: {
                    $0.bitrate <= factor * limits.maxBR && $0.cpbSize <= factor * limits.maxCPB
                }) {
                    faults.append("the HRD's bit rate and buffer exceed the limits of \(name)")
                }
            }
        }
        if let timing = vui?.timing, let duration = vui?.hrd?.subLayers.last?.elemental_duration_in_tc {
            let rate = Double(sizeInSamples) / (timing.tick * Double(duration))
            if rate > Double(limits.maxLumaSr) * 1.0001 {
                faults.append(
                    "there are \(Int(clamping: rate)) samples a second, but \(name) allows \(limits.maxLumaSr)")
            }
        }
        return faults
    }

    /// Returns the violations of the profile and level by the tiles of a PPS (A.3.2, A.4.1).
    func tileFaults(_ pps: HEVCPictureParameterSet) -> [String] {
        guard let tiles = pps.tiles, let limits = HEVCLevelLimits(self) else { return [] }
        var faults: [String] = []
        if tiles.num_tile_columns > limits.maxTileColumns || tiles.num_tile_rows > limits.maxTileRows {
            faults.append("\(tiles.num_tile_columns)×\(tiles.num_tile_rows) tiles are more than the level allows")
        }
        guard profileTierLevel.general.includes(1) || profileTierLevel.general.includes(2) else { return faults }
        if pps.entropy_coding_sync_enabled_flag {
            faults.append("Main and Main 10 do not allow tiles together with wavefronts")
        }
        let (columns, rows) = (pps.columnBoundaries(self), pps.rowBoundaries(self))
        // ColumnWidthInLumaSamples is at least 256 and RowHeightInLumaSamples at least 64. The last column and row
        // count whole blocks.
        if zip(columns, columns.dropFirst()).contains(where: { ($1 - $0) * ctbSize < 256 }) {
            faults.append("tiles are narrower than 256 samples")
        }
        if zip(rows, rows.dropFirst()).contains(where: { ($1 - $0) * ctbSize < 64 }) {
            faults.append("tiles are lower than 64 samples")
        }
        return faults
    }
}
