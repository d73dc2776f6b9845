import Glibc
import TestOracles
import Testing

@testable import VAAPI

/// libva's trace shows whether everything that is created is freed. Tests of `ObjectsTests`, failures included, run
/// once more with LIBVA_TRACE set. Each has its own process, because libva restarts a thread's trace file for each
/// display that is opened within a second.
@Suite struct ObjectBalanceTests {
    @Test(.enabled(if: TestDevice.isReference)) func everyCreatedObjectIsDestroyed() throws {
        let trace = try Self.traceOfObjectsTests()
        let calls = trace.results
        func succeeded(_ call: String) -> Int { calls.count { $0.call == call && $0.status == "VA_STATUS_SUCCESS" } }
        func callCount(_ call: String) -> Int { calls.count { $0.call == call } }
        #expect(succeeded("vaInitialize") >= Self.traced.count, "the traces are not those of the tests")
        #expect(calls.contains { $0.status != "VA_STATUS_SUCCESS" }, "no call was refused")
        for (make, free) in [
            ("vaInitialize", "vaTerminate"), ("vaCreateConfig", "vaDestroyConfig"),
            ("vaCreateContext", "vaDestroyContext"), ("vaCreateBuffer", "vaDestroyBuffer"),
            ("vaMapBuffer", "vaUnmapBuffer"),
        ] {
            #expect(succeeded(make) > 0, "\(make)")
            #expect(succeeded(make) == callCount(free), "\(make) and \(free)")
            #expect(succeeded(free) == callCount(free), "\(free)")
        }
        #expect(succeeded("vaDeriveImage") + succeeded("vaCreateImage") == callCount("vaDestroyImage"))
        // A picture that was begun is ended, also if rendering failed.
        #expect(succeeded("vaBeginPicture") == callCount("vaEndPicture"))
        #expect(trace.surfacesMade > 0 && trace.surfacesMade == trace.surfacesFreed)
    }

    /// The tests that open one display: some calls are made on worker threads, which continue with the next display.
    private static let traced = [
        "encodedPictureIsAnIDRSlice", "syncMayBeRepeated", "errorInsideAMappingIsThrown", "refusedProfileIsNamedInTheError",
        "badCountsAndCapacitiesAreRefused", "refusedPictureLeavesTheContextUsable",
    ]

    private struct NoTrace: Error {}

    private struct Trace {
        var results: [(call: String, status: String)] = []
        var surfacesMade = 0
        var surfacesFreed = 0
        private var section = ""

        init() {}

        /// Reads a line such as `[…][ctx none]=========vaCreateConfig ret = VA_STATUS_SUCCESS, success`, or `[…][ctx
        /// none]==========va_TraceCreateSurfaces` before the arguments of a call.
        mutating func read(_ line: Substring) {
            guard let mark = line.firstIndex(of: "=") else { return }
            let words = line[mark...].split { " =,\n".contains($0) }
            if line.contains("]==="), let first = words.first {
                // libva 2.21 and newer have vaMapBuffer2, which vaUnmapBuffer also reverses.
                let call = first == "vaMapBuffer2" ? "vaMapBuffer" : String(first)
                if words.count > 2, words[1] == "ret" { results.append((call, String(words[2]))) }
                section = String(first)
            } else if line.contains("\tsurfaces[") {
                if section == "va_TraceCreateSurfaces" { surfacesMade += 1 }
                if section == "va_TraceDestroySurfaces" { surfacesFreed += 1 }
            }
        }
    }

    private static func traceOfObjectsTests() throws -> Trace {
        let folder = "/tmp/vaenc-trace-\(getpid())"
        defer { _ = unsafe system("rm -rf '\(folder)'") }
        let program = try #require(
            unsafe realpath("/proc/self/exe", nil).map { path in
                defer { unsafe free(path) }
                return unsafe String(cString: path)
            })
        for test in traced {
            let at = "\(folder)/\(test)"
            let script =
                "mkdir -p '\(at)' && '\(program)' --testing-library swift-testing --no-parallel --filter "
                + "'VAAPITests.ObjectsTests/\(test)' && cat '\(at)'/trace* >>'\(folder)/all'"
            let run = try ProcessRunner.run("sh", ["-c", script], environment: ["LIBVA_TRACE": at + "/trace"])
            #expect(run.status == 0, "\(test) failed under the trace: \(run.output.suffix(500))")
        }
        var trace = Trace()
        guard let file = unsafe fopen("\(folder)/all", "r") else { throw NoTrace() }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            trace.read(Substring(decoding: text, as: UTF8.self))
        }
        return trace
    }
}
