internal import CVA

/// The rate parameters of a sequence parameter buffer of either codec.
struct SequenceRate {
    var bitsPerSecond: Int
    /// The number of pictures from one I picture to the next; 0 if not specified.
    var intraPeriod: Int
    /// The number of pictures from one I or P picture to the next; 0 if not specified.
    var referencePeriod: Int
    /// The frame rate in the VUI; nil if it has none.
    var framesPerSecond: Double?
    /// The level's limit on the size of pictures; nil if the level has none.
    var levelSizeLimit: LevelSizeLimit?

    init(_ sequence: VAEncSequenceParameterBufferH264) {
        levelSizeLimit = LevelSizeLimit(sequence)
        bitsPerSecond = Int(sequence.bits_per_second)
        intraPeriod = Int(sequence.intra_period)
        referencePeriod = Int(sequence.ip_period)
        let hasTiming = unsafe sequence.vui_fields.bits.timing_info_present_flag != 0
        if sequence.vui_parameters_present_flag != 0, hasTiming {
            // In H.264, a frame lasts two ticks.
            framesPerSecond = Self.rate(ticks: sequence.time_scale, of: sequence.num_units_in_tick).map { $0 / 2 }
        }
    }

    init(_ sequence: VAEncSequenceParameterBufferHEVC) {
        levelSizeLimit = LevelSizeLimit(sequence)
        bitsPerSecond = Int(sequence.bits_per_second)
        intraPeriod = Int(sequence.intra_period)
        referencePeriod = Int(sequence.ip_period)
        let hasTiming = unsafe sequence.vui_fields.bits.vui_timing_info_present_flag != 0
        if sequence.vui_parameters_present_flag != 0, hasTiming {
            framesPerSecond = Self.rate(ticks: sequence.vui_time_scale, of: sequence.vui_num_units_in_tick)
        }
    }

    private static func rate(ticks: UInt32, of units: UInt32) -> Double? {
        ticks > 0 && units > 0 ? Double(ticks) / Double(units) : nil
    }
}
