import ReferenceDriver
import TestOracles
import Testing

/// Tests that several threads encode a picture, and that the result does not depend on their number.
struct PixelsThreadTests {
    /// Returns how the outcome with several threads differs from that with one thread, or nil.
    private func fault(_ encoding: PixelsEncoding, threads: Int) -> String? {
        var encoding = encoding
        let expected = encoding.run()
        encoding.threads = threads
        let outcome = encoding.run()
        if outcome.stream != expected.stream { return "another stream" }
        if outcome.reconstructions != expected.reconstructions { return "another reconstruction" }
        for (index, pair) in zip(outcome.results, expected.results).enumerated() {
            if pair.0.qpSum != pair.1.qpSum { return "another sum of QPs in picture \(index)" }
            if pair.0.intraMacroblocks != pair.1.intraMacroblocks { return "another number of intra macroblocks" }
            if pair.0.skippedMacroblocks != pair.1.skippedMacroblocks { return "another number of skipped macroblocks" }
        }
        return nil
    }

    /// Every two values of every two parameters occur together in some stream.
    @Test func streamsDoNotDependOnThreads() {
        let sizes = [16, 32, 70, 144, 256]
        let rows = PairwiseCover.rows(counts: [sizes.count, sizes.count, 7, 2, 4, 3, 3, 3, 3, 4, 3, 2])
        for row in rows {
            var encoding = PixelsEncoding(
                width: sizes[row[0]], height: sizes[row[1]], frames: 6, cabac: row[3] == 0, slices: [1, 2, 5, 11][row[4]],
                references: row[5] + 1, quality: row[2] + 1, qp: [18, 28, 40][row[6]], filterMode: row[9],
                constrainedIntra: row[11] == 1, period: 4, bipredictive: row[7],
                layers: PixelsEncoding.Layers(rawValue: row[10])!)
            switch row[8] {
            case 0: encoding.macroblockQP = { UInt8(20 + ($0 + $1 * 7) % 13) }
            case 1: encoding.sliceBytes = 300
            default: break
            }
            let fault = fault(encoding, threads: 2 + row[6])
            #expect(fault == nil, "\(encoding)")
        }
    }

    /// Refreshed columns and rows limit the prediction of the macroblocks before them.
    @Test(arguments: [false, true]) func intraRefreshDoesNotDependOnThreads(_ isRows: Bool) {
        let encoding = PixelsEncoding(
            width: 160, height: 160, frames: 12, quality: 7,
            refresh: { picture in
                let part = 2 * (picture % 5)..<2 * (picture % 5) + 2
                return isRows ? .rows(part) : .columns(part)
            })
        let fault = fault(encoding, threads: 3)
        #expect(fault == nil)
    }

    /// Takes work in a random order, and checks when each piece of work may begin.
    @Test func rowsAreScheduledInOrder() {
        var generator = SplitMix64(state: 5)
        for round in 0..<400 {
            let rows = 1 + round % 9
            let capacity = 1 + round % 4
            let isSerial = round % 3 == 0
            let interpolates = round % 5 != 0
            let schedule = H264RowSchedule(
                rows: rows, capacity: capacity, isSerial: isSerial, isWritten: false, interpolates: interpolates)
            var running: [H264RowSchedule.Work] = []
            var done: Set<H264RowSchedule.Work> = []
            var count = 0
            while true {
                if running.count < 3, let work = schedule.poll(worker: count % 2) ?? schedule.poll(worker: 0) {
                    count += 1
                    switch work {
                    case .code(let row):
                        #expect(row == 0 || !isSerial || done.contains(.code(row - 1)))
                        #expect(row < capacity || done.contains(.write(row - capacity)))
                        #expect(row == 0 || done.contains(.code(row - 1)) || running.contains(.code(row - 1)))
                    case .write(let row):
                        #expect((0...row).allSatisfy { done.contains(.code($0)) })
                        #expect(row == 0 || done.contains(.write(row - 1)))
                    case .filter(let row):
                        #expect(done.contains(.write(row)))
                        #expect(row + 1 == rows || done.contains(.code(row + 1)))
                        #expect(row == 0 || done.contains(.filter(row - 1)))
                    case .interpolate(let row): #expect(interpolates && done.contains(.filter(row)))
                    }
                    running.append(work)
                    continue
                }
                guard !running.isEmpty else { break }
                // A row cannot be complete before the row above it.
                let complete = running.indices.filter {
                    guard case .code(let row) = running[$0], row > 0 else { return true }
                    return done.contains(.code(row - 1))
                }
                let work = running.remove(at: complete.randomElement(using: &generator)!)
                schedule.finish(work)
                done.insert(work)
            }
            #expect(count == rows * (interpolates ? 4 : 3))
            #expect(done.count == count)
            #expect(schedule.next() == nil)
        }
    }
}
