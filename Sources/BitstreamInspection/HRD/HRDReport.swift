/// The result of a check of the coded picture buffer.
package struct HRDReport: Sendable, Hashable {
    /// The fullness of the buffer around the removal of one access unit.
    package struct Sample: Sendable, Hashable {
        /// The index of the access unit in coding order.
        package var frame: Int
        /// The time of removal, in seconds after the arrival of the first bit.
        package var time: Double
        /// The arrival time of the last bit of the access unit, in seconds.
        package var arrival: Double
        /// The number of bits in the buffer just before the removal.
        package var before: Double
        /// The number of bits in the buffer just after the removal.
        package var after: Double
    }

    /// One delivery schedule of the stream, and the fullness of the buffer under it.
    package struct Schedule: Sendable, Hashable {
        /// Whether the schedule comes from NAL HRD parameters (type II). Otherwise it comes from VCL HRD parameters
        /// (type I).
        package var isNAL: Bool
        /// SchedSelIdx.
        package var index: Int
        /// BitRate of the first access unit, in bits per second.
        package var bitrate: Int
        /// CpbSize of the first access unit, in bits.
        package var cpbSize: Int
        /// cbr_flag: whether bits arrive without pause.
        package var isConstant: Bool
        /// The samples of the first schedule. Empty for the others: a stream can have 64 schedules.
        package var fullness: [Sample]
    }

    package var schedules: [Schedule]
    /// The violations in the order in which they were found: at most the first thousand of each rule.
    package var violations: [Violation] { found.elements }
    private var found = ViolationList()

    package var conforms: Bool { violations.isEmpty }

    package init(schedules: [Schedule] = [], violations: [Violation] = []) {
        self.schedules = schedules
        found.append(contentsOf: violations)
    }

    mutating func add(_ violations: [Violation]) { found.append(contentsOf: violations) }
}
