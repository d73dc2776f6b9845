package import VideoBase

extension CodecProfile {
    /// profile_idc, H.264 A.2, or 0 for a profile of another standard.
    package var profile_idc: UInt8 {
        switch self {
        case .h264ConstrainedBaseline: 66
        case .h264Main: 77
        case .h264High: 100
        case .hevcMain, .hevcMain10: 0
        }
    }

    /// cpbBrVclFactor and cpbBrNalFactor, table A-2. Those of Main for a profile of another standard.
    package var rateFactors: (vcl: Int, nal: Int) {
        switch self {
        case .h264High: (1250, 1500)
        case .h264ConstrainedBaseline, .h264Main, .hevcMain, .hevcMain10: (1000, 1200)
        }
    }

    /// Returns the byte from constraint_set0_flag (the highest bit) on, H.264 7.4.2.1.1. The flags signal conformance
    /// to other profiles (set0, set1), level 1b (set3), frames only (set4) and no B slices (set5).
    func constraintFlags(level: Level, hasBFrames: Bool) -> UInt8 {
        let set0: UInt8 = 0x80
        let set1: UInt8 = 0x40
        let set3: UInt8 = 0x10
        let set4: UInt8 = 0x08
        let set5: UInt8 = 0x04
        let level1b = level.number == 9 ? set3 : 0
        return switch self {
        case .h264ConstrainedBaseline: set0 | set1 | level1b
        case .h264Main: set1 | level1b | set4 | (hasBFrames ? 0 : set5)
        case .h264High: set4 | (hasBFrames ? 0 : set5)
        case .hevcMain, .hevcMain10: 0
        }
    }
}
