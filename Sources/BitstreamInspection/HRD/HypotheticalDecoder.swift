/// The coded picture buffer of the hypothetical reference decoder (H.264 C.1 to C.3), under one delivery schedule.
struct HypotheticalDecoder {
    /// One access unit and its schedule.
    struct AccessUnit {
        var frame: Int
        var bits: Double
        /// The schedule of the access unit's active parameter set.
        var schedule: HRDSchedule
        /// num_units_in_tick / time_scale, in seconds.
        var tick: Double
        var lowDelay: Bool
        /// The delays of its buffering period SEI; nil if it has none.
        var delay: InitialRemovalDelay?
        var cpbRemovalDelay: Int
    }

    private(set) var samples: [HRDReport.Sample] = []
    private(set) var faults: [(frame: Int, message: String)] = []

    /// The tolerance of comparisons, in seconds. It is far above the rounding error of `Double` and far below a tick.
    private static let tolerance = 1e-6

    init(_ units: [AccessUnit]) {
        guard let first = units.first, first.delay != nil else { return }
        var nominalOfPeriod = 0.0
        var period =
            first.delay
            ?? InitialRemovalDelay(
                initial_cpb_removal_delay: 0, initial_cpb_removal_delay_offset: 0)
        var previousFinal = 0.0
        var previousNominal = -Double.infinity
        for (index, unit) in units.enumerated() {
            // Nominal removal time (C.1.2).
            let nominal: Double
            if index == 0 {
                nominal = Double(period.initial_cpb_removal_delay) / 90000
            } else {
                nominal = nominalOfPeriod + unit.tick * Double(unit.cpbRemovalDelay)
            }
            // Arrival time (C.1.1).
            var initial = previousFinal
            if index > 0, !unit.schedule.cbr_flag {
                let delay = unit.delay ?? period
                let offset = unit.delay == nil ? delay.initial_cpb_removal_delay_offset : 0
                initial = max(
                    previousFinal, nominal - Double(delay.initial_cpb_removal_delay + offset) / 90000)
            }
            let final = initial + unit.bits / Double(unit.schedule.bitrate)
            if index > 0, let delay = unit.delay {
                checkDelay(delay, unit, ticks: 90000 * (nominal - previousFinal))
            }
            if nominal <= previousNominal {
                fault(unit.frame, "it is removed \(Self.text(previousNominal - nominal)) before the previous picture")
            }
            var removal = nominal
            if final > nominal + Self.tolerance {
                if unit.lowDelay, unit.tick > 0 {
                    removal = nominal + unit.tick * ((final - nominal) / unit.tick).rounded(.up)
                } else {
                    fault(
                        unit.frame,
                        "underflow: its last bit arrives \(Self.text(final - nominal)) after its removal at "
                            + Self.text(nominal))
                }
            }
            samples.append(
                HRDReport.Sample(frame: unit.frame, time: removal, arrival: final, before: 0, after: 0))
            arrivals.append((initial, final))
            if let delay = unit.delay {
                nominalOfPeriod = nominal
                period = delay
            }
            previousFinal = final
            previousNominal = nominal
        }
        fill(units)
    }

    /// The initial and final arrival time of each access unit.
    private var arrivals: [(initial: Double, final: Double)] = []

    private mutating func fault(_ frame: Int, _ message: String) {
        // One more fault than a report lists is stored, so that the report says that there are more.
        if faults.count <= ViolationList.limit { faults.append((frame, message)) }
    }

    /// Formats a time in seconds, rounded to a microsecond.
    private static func text(_ seconds: Double) -> String { "\((seconds * 1e6).rounded() / 1e6) s" }

    /// Checks a buffering period's initial_cpb_removal_delay against the time between the last arrival and the removal
    /// (C.3, first item).
    ///
    /// - Parameter ticks: The time from the final arrival of the previous access unit to the nominal removal of this
    ///   one,
    ///   in ticks of 90 kHz.
    private mutating func checkDelay(_ delay: InitialRemovalDelay, _ unit: AccessUnit, ticks: Double) {
        let sent = Double(delay.initial_cpb_removal_delay)
        // The tolerance in ticks of 90 kHz is far above the rounding error of `Double` and far below a tick.
        let slack = 0.001
        if sent > (ticks + slack).rounded(.up) {
            fault(
                unit.frame,
                "initial_cpb_removal_delay is \(delay.initial_cpb_removal_delay), but only \(Int(clamping: ticks)) "
                    + "ticks remain until removal")
        } else if unit.schedule.cbr_flag, sent < (ticks - slack).rounded(.down) {
            fault(
                unit.frame,
                "initial_cpb_removal_delay is \(delay.initial_cpb_removal_delay), less than \(Int(clamping: ticks)) at a "
                    + "constant rate")
        }
    }

    /// Computes the fullness just before and after each removal: arrived bits minus removed bits (C.3). Reports
    /// overflow.
    private mutating func fill(_ units: [AccessUnit]) {
        var arrived = 0.0
        var next = 0
        var removed = 0.0
        for index in units.indices {
            let time = samples[index].time
            while next < units.count, arrivals[next].final <= time {
                arrived += units[next].bits
                next += 1
            }
            var part = 0.0
            if next < units.count, arrivals[next].initial < time {
                part = (time - arrivals[next].initial) * Double(units[next].schedule.bitrate)
            }
            samples[index].before = arrived + part - removed
            removed += units[index].bits
            samples[index].after = arrived + part - removed
            // One bit of slack for the rounding of times to `Double`.
            if samples[index].before > Double(units[index].schedule.cpbSize) + 1 {
                fault(
                    units[index].frame,
                    "overflow: \(Int(clamping: samples[index].before)) bits are in the buffer of \(units[index].schedule.cpbSize)"
                )
            }
        }
    }
}
