import TestOracles
import Testing

/// Under a limit of memory (`ulimit -v`) a command does its work, or ends with one line about memory and leaves no file.
@Suite struct MemoryLimitTests {
    /// The exit status under each limit, in kB.
    @discardableResult
    private func statuses(_ arguments: [String], _ limits: [Int]) throws -> [Int] {
        try limits.map { limit in
            try Files.withTemporaryFolder { folder in
                let run = try ProcessRunner.run(
                    "sh", ["-c", "ulimit -v \(limit); exec \"$0\" \"$@\"", Checkout.vaenc] + arguments, directory: folder,
                    timeout: 120)
                let what = "\(limit) kB, \(arguments): \(run.status) \(run.errors)"
                #expect(!run.timedOut && [0, 69].contains(run.status), "\(what)")
                if run.status != 0 {
                    #expect(run.errorLines.count == 1 && run.errors.contains("ulimit -v"), "\(what)")
                    #expect(Files.list(folder).isEmpty, "\(what)")
                }
                return run.status
            }
        }
    }

    /// libx265 does not check its allocations: it ended by SIGSEGV, and left a `.part`. The last limit is enough.
    @Test func libx265() throws {
        let all = try statuses(
            ["encode", "testsrc:1280x720@25:40", "--device", "software", "--codec", "hevc", "--preset", "7", "-o", "o.h265"],
            Array(stride(from: 250_000, through: 600_000, by: 50_000)))
        #expect(all.first == 69 && all.last == 0, "\(all)")
    }

    @Test func libx265WithLargePictures() throws {
        let all = try statuses(
            ["encode", "testsrc:3840x2160@25:12", "--device", "software", "--codec", "hevc", "--preset", "7", "-o", "o.mp4"],
            [400_000, 600_000, 800_000])
        #expect(all == [69, 69, 69])
    }
}
