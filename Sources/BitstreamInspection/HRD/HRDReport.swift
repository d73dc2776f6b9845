/// What a check of the coded picture buffer found.
package struct HRDReport: Sendable, Hashable {
    /// Fullness around the removal of one access unit.
    package struct Sample: Sendable, Hashable {
        /// Of the access unit, in coding order.
        package var frame: Int
        /// Removal in seconds from the first bit's arrival.
        package var time: Double
        /// When its last bit arrived.
        package var arrival: Double
        /// Bits in the buffer just before the removal, and just after.
        package var before: Double
        package var after: Double
    }

    /// One delivery schedule of the stream, and how the buffer fills under it.
    package struct Schedule: Sendable, Hashable {
        /// Type II, of NAL HRD parameters, or type I, of VCL ones.
        package var isNAL: Bool
        /// SchedSelIdx.
        package var index: Int
        /// Bits per second, and bits; of the first access unit.
        package var bitRate: Int
        package var cpbSize: Int
        package var isConstant: Bool
        /// Of the first schedule; empty for the others, of which a stream can have 64.
        package var fullness: [Sample]
    }

    package var schedules: [Schedule]
    /// In the order in which they were found. Of each rule the first thousand are listed.
    package var violations: [Violation] { found.elements }
    private var found = ViolationList()

    package var conforms: Bool { violations.isEmpty }

    package init(schedules: [Schedule] = [], violations: [Violation] = []) {
        self.schedules = schedules
        found.append(contentsOf: violations)
    }

    mutating func add(_ violations: [Violation]) { found.append(contentsOf: violations) }
}
