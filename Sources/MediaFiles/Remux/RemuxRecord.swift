import VideoBase

/// The report of a copy: the packets that were copied, and the differences from the input.
struct RemuxRecord {
    /// The report, complete after `finish`.
    private(set) var report: RemuxReport
    private(set) var packetCount = 0
    private var effective: [EffectiveEntry] = []
    private let isStrict: Bool

    init(_ plan: RemuxPlan, isStrict: Bool) {
        report = RemuxReport(streams: plan.report, effective: plan.effective)
        self.isStrict = isStrict
    }

    /// Adds an entry.
    /// - Throws: `unavailable` if the options are strict and the entry is a difference.
    mutating func add(_ entry: EffectiveEntry) throws {
        effective.append(entry)
        if isStrict, let error = effective.strictError { throw error }
    }

    /// Adds an entry that is no reason to stop a strict copy.
    mutating func note(_ entry: EffectiveEntry) { effective.append(entry) }

    mutating func addNotice(_ notice: String) { report.notices.append(notice) }

    /// Whether no packet of a stream was copied.
    func isAtStart(of stream: Int) -> Bool { report.streams[stream].packets == 0 }

    /// Counts a packet that was copied.
    mutating func count(_ packet: TrackPacket, of stream: Int) {
        packetCount += 1
        report.streams[stream].packets += 1
        report.streams[stream].bytes += packet.byteCount
    }

    /// Records that the container left a stream out.
    mutating func leaveOut(_ stream: Int, why: String) {
        (report.streams[stream].leftOut, report.streams[stream].packets, report.streams[stream].bytes) = (why, 0, 0)
    }

    /// - Parameter seconds: The duration of the copy.
    mutating func finish(seconds: Double) {
        report.effective += effective
        report.duration = Duration(checkedSeconds: seconds) ?? .zero
    }
}
