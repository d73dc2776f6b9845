import Testing

/// Makes every call fail in every way. The session delivers a complete stream or reports one typed error, and every
/// frame is counted.
@Suite(.serialized) struct FaultSweepTests {
    @Test func sessionSurvivesEveryFaultOfEveryCall() throws {
        var fast: [FaultSweep.Cell] = []
        var slow: [FaultSweep.Cell] = []
        for shape in FaultRun.Shape.allCases {
            let clean = try FaultSweep.counts(shape)
            #expect(clean.run.faults() == [] && clean.run.outcome == .whole, "\(shape)")
            #expect(clean.counts.count > 15 && clean.counts["vaEndPicture"] ?? 0 >= FaultRun.frameCount, "\(clean.counts)")
            let cells = FaultSweep.cells(shape, clean.counts)
            fast += cells.filter { !$0.kind.isSlow }
            slow += cells.filter { $0.kind.isSlow }
        }
        var results = try FaultSweep.run(fast, threads: 3, limitMilliseconds: 600_000)
        // A hang costs up to four times the timeout, for making the encoder, and almost no processor time.
        results += try FaultSweep.run(slow, threads: 24, limitMilliseconds: 400)
        for shape in FaultRun.Shape.allCases { print(FaultSweep.table(results, shape) + "\n") }
        for result in results where !result.faults.isEmpty {
            Issue.record("\(result.cell.shape.rawValue): \(result.cell.rule): \(result.faults.joined(separator: "; "))")
        }
        #expect(results.count == fast.count + slow.count)
        // The faults are real: some runs end in an error, some lose frames, and most survive.
        let marks = results.map(\.mark)
        for outcome in [FaultRun.Outcome.whole, .error] { #expect(marks.contains(outcome.rawValue)) }
        #expect(marks.count { $0 == "w" } * 2 > marks.count)
    }
}
