import TestOracles
import Testing

@Suite struct ProcessRunnerTests {
    @Test func programRunsWithInputOutputAndStatus() throws {
        let result = try ProcessRunner.run(
            "sh", ["-c", "cat; echo $A >&2; exit 7"], environment: ["A": "b c"], input: [104, 105])
        #expect(result.output == "hi" && result.errors == "b c\n" && result.status == 7 && !result.timedOut)
        let large = try ProcessRunner.run("sh", ["-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"])
        #expect(large.stdout.count == 3_000_000 && large.stderr.count == 3_000_000)
        #expect(try ProcessRunner.run("pwd", [], directory: "/usr").output == "/usr\n")
    }

    @Test func timeoutsSignalsAndMissingProgramsAreReported() throws {
        let slow = try ProcessRunner.run("sleep", ["20"], timeout: 0.2)
        #expect(slow.timedOut && slow.status == 128 + 9)
        #expect(try ProcessRunner.run("sh", ["-c", "kill -SEGV $$"]).status == 128 + 11)
        #expect(throws: ProcessRunner.Failure.self) { try ProcessRunner.run("no-such-program", []) }
    }
}
