import EncodePlanning
import Testing
import VideoBase

@Suite struct DecodeTimesTests {
    /// Sweeps every reordering × even and uneven frame times.
    @Test func decodeTimesRiseAndNeverFollowPresentation() {
        for bFrames in 0...7 {
            for isPyramid in [false, true] {
                for timescale in [Int32(10), 30, 30000, 90000] {
                    for isUneven in [false, true] {
                        var structure = GOPStructure(keyInterval: 13, references: 1)
                        structure.bFrames = bFrames
                        structure.isPyramid = isPyramid
                        structure = structure.consistent
                        var planner = FramePlanner(structure: structure)
                        var times = DecodeTimes(depth: structure.reorderDepth, frameRate: Rational(30))
                        var last: MediaTime?
                        var faults = 0
                        var coded = 0
                        var presentations: [MediaTime] = []
                        func take(_ plans: [FramePlan]) {
                            for plan in plans {
                                coded += 1
                                guard let time = times.next() else {
                                    faults += 1
                                    continue
                                }
                                if let last, time <= last { faults += 1 }
                                if time > presentations[plan.displayIndex] { faults += 1 }
                                if structure.reorderDepth == 0, time != presentations[plan.displayIndex] { faults += 1 }
                                last = time
                            }
                        }
                        var tick: Int64 = 5
                        for index in 0..<40 {
                            presentations.append(MediaTime(value: tick, timescale: timescale))
                            tick += isUneven ? Int64(1 + index * 7 % 11) : 1
                            times.add(presentations[index])
                            take(planner.add())
                        }
                        take(planner.finish())
                        #expect(faults == 0 && coded == 40, "\(bFrames) \(isPyramid) \(timescale) \(isUneven)")
                    }
                }
            }
        }
    }

    @Test func firstDecodeTimesPrecedeZero() {
        var times = DecodeTimes(depth: 2, frameRate: Rational(25))
        #expect(times.next() == nil)
        for index in 0..<4 { times.add(MediaTime(value: Int64(index) * 3600, timescale: 90000)) }
        let found = (0..<4).compactMap { _ in times.next()?.value }
        #expect(found == [-7200, -3600, 0, 3600])
    }
}
