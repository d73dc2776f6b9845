/// The limits of a level (H.264 table A-1).
package struct H264LevelLimits: Sendable, Hashable {
    /// MaxMBPS in macroblocks per second.
    package var maxMBPS: Int
    /// MaxFS in macroblocks per frame.
    package var maxFS: Int
    /// MaxDpbMbs in macroblocks.
    package var maxDpbMbs: Int
    /// MaxBR in units of `rateFactor(profile:nal:)` bits per second.
    package var maxBR: Int
    /// MaxCPB in units of `rateFactor(profile:nal:)` bits.
    package var maxCPB: Int
    /// MinCR, the minimum compression ratio of a picture.
    package var minCR: Int

    private static let table: [(Int, [Int])] = [
        (10, [1485, 99, 396, 64, 175, 2]), (9, [1485, 99, 396, 128, 350, 2]), (11, [3000, 396, 900, 192, 500, 2]),
        (12, [6000, 396, 2376, 384, 1000, 2]), (13, [11880, 396, 2376, 768, 2000, 2]),
        (20, [11880, 396, 2376, 2000, 2000, 2]), (21, [19800, 792, 4752, 4000, 4000, 2]),
        (22, [20250, 1620, 8100, 4000, 4000, 2]), (30, [40500, 1620, 8100, 10000, 10000, 2]),
        (31, [108_000, 3600, 18000, 14000, 14000, 4]), (32, [216_000, 5120, 20480, 20000, 20000, 4]),
        (40, [245_760, 8192, 32768, 20000, 25000, 4]), (41, [245_760, 8192, 32768, 50000, 62500, 2]),
        (42, [522_240, 8704, 34816, 50000, 62500, 2]), (50, [589_824, 22080, 110_400, 135_000, 135_000, 2]),
        (51, [983_040, 36864, 184_320, 240_000, 240_000, 2]),
        (52, [2_073_600, 36864, 184_320, 240_000, 240_000, 2]),
        (60, [4_177_920, 139_264, 696_320, 240_000, 240_000, 2]),
        (61, [8_355_840, 139_264, 696_320, 480_000, 480_000, 2]),
        (62, [16_711_680, 139_264, 696_320, 800_000, 800_000, 2]),
    ]

    /// Creates the limits of a sequence's level; nil if the level is not in the table.
    package init?(_ sps: H264SequenceParameterSet) {
        // Level 1b is level_idc 11 with constraint_set3_flag in the older profiles, 9 in the others (A.3.4).
        let is1b = sps.level_idc == 11 && sps.constraint_set3_flag && [66, 77, 88].contains(sps.profile_idc)
        let level = is1b ? 9 : sps.level_idc
        guard let row = Self.table.first(where: { $0.0 == level })?.1 else { return nil }
        (maxMBPS, maxFS, maxDpbMbs) = (row[0], row[1], row[2])
        (maxBR, maxCPB, minCR) = (row[3], row[4], row[5])
    }

    /// Returns MaxDpbFrames (A.3.1).
    package func maxDpbFrames(_ sps: H264SequenceParameterSet) -> Int { min(maxDpbMbs / sps.macroblocksPerFrame, 16) }

    /// Returns cpbBrNalFactor if `nal` is true, otherwise cpbBrVclFactor (table A-2).
    package static func rateFactor(profile: Int, nal: Bool) -> Int {
        switch profile {
        case 66, 77, 88: nal ? 1200 : 1000
        case 100: nal ? 1500 : 1250
        case 110: nal ? 3600 : 3000
        default: nal ? 4800 : 4000
        }
    }
}
