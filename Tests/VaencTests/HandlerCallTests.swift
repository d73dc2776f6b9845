import TestOracles
import Testing
import Threads
import VAAPI
@testable import Vaenc
import VideoBase

/// Calls that a handler makes to its session: a call that would wait for the handler throws, and nothing blocks
/// forever.
@Suite(.timeLimit(.minutes(60))) struct HandlerCallTests {
    /// A session that its handler can access, and the results of the handler's calls: "done", or the error.
    private final class Calls<Session: Sendable>: Sendable {
        private let state = Monitor<(session: Session?, results: [String: String])>((nil, [:]))

        var session: Session? { state.withLock { $0.session } }
        var results: [String: String] { state.withLock { $0.results } }

        func keep(_ session: Session?) { state.withLock { $0.session = session } }

        func note(_ name: String, _ call: () throws -> Void) {
            var result = "done"
            do { try call() } catch { result = "\(error)" }
            state.withLock { $0.results[name] = result }
        }
    }

    private static let wouldWait = "the session's handler made a call that may wait for that handler"

    /// Runs `body` on a separate thread. A blocked call is an error and does not block the test.
    private func run(_ body: @escaping @Sendable () throws -> Void) throws {
        let end = Monitor<Result<Void, any Error>?>(nil)
        let thread = SerialThread("test")
        thread.add {
            let result = Result { try body() }
            end.withLock { $0 = result }
        }
        let result = end.wait(atMostNanoseconds: 600_000_000_000) { $0 }
        try #require(result, "a call waits without end").get()
    }

    @Test(arguments: [DeviceSelector.reference, .software])
    func callsThatWouldWaitThrow(_ device: DeviceSelector) throws {
        let calls = Calls<CompressionSession>()
        let session = try CompressionSession(configuration: Pictures.immediate(), device: device) { _ in
            guard let session = calls.session, calls.results.isEmpty else { return }
            calls.note("prepare") { try session.prepare() }
            calls.note("makePixelBuffer") { _ = try session.makePixelBuffer() }
            calls.note("encode") {
                try session.encode(SystemPixelBuffer(format: .nv12, size: Pictures.size), presentation: Pictures.time(9))
            }
            calls.note("completeFrames") { try session.completeFrames() }
            calls.note("flush") { try session.flush() }
            calls.note("refresh") { try session.refresh() }
            calls.note("swap") { try session.swap(to: Pictures.configuration()) }
            calls.note("invalidateReferences") { try session.invalidateReferences(displayIndices: [0]) }
            calls.note("encoderDescription") { _ = try session.encoderDescription }
            calls.note("EncoderID") { _ = try session.value(named: "EncoderID") }
            // These calls do not wait.
            calls.note("counts") {
                _ = (session.choice, session.configuration, session.unreadPacketCount)
                let counts = session.statistics
                if counts.taken == 1, counts.pending == 1, session.pendingFrameCount == 1 { return }
                throw VaencError(.internalFault, "wrong counts in the handler: \(counts)")
            }
            calls.note("acknowledge") { session.acknowledge([]) }
            calls.note("change") { try session.change(RunningChange()) }
            calls.note("flush with a completion") { session.flush { _ in } }
        }
        calls.keep(session)
        try run {
            try Pictures.encode(0..<3, on: session)
            try session.completeFrames()
        }
        let harmless = ["counts", "acknowledge", "change", "flush with a completion"]
        #expect(calls.results.count == 14)
        for (name, result) in calls.results {
            #expect(harmless.contains(name) ? !result.contains("handler") : result.hasPrefix(Self.wouldWait), "\(name): \(result)")
        }
        #expect(session.statistics.delivered == 3)
        // Outside the handler, the calls work.
        #expect(try session.encoderDescription.size == Pictures.size)
        calls.keep(nil)
        session.invalidate()
    }

    /// A swap waits for the packets, so it waits for the handler.
    @Test func changeInTheHandlerDuringASwapThrows() throws {
        let calls = Calls<CompressionSession>()
        var configuration = Pictures.configuration()
        configuration.structure.bFrames = 3
        let session = try CompressionSession(configuration: configuration, device: .reference) { result in
            guard let session = calls.session, case .success(let packet) = result else { return }
            calls.note("\(packet.displayIndex)") { try session.change(RunningChange()) }
        }
        calls.keep(session)
        try run {
            // The second frame waits for the rest of its group.
            try Pictures.encode(0..<2, on: session)
            try session.swap(to: Pictures.configuration())
            try Pictures.encode(2..<3, on: session)
            try session.completeFrames()
        }
        #expect(calls.results["1"]?.hasPrefix(Self.wouldWait) == true, "\(calls.results)")
        #expect(calls.results["2"]?.contains("handler") == false, "\(calls.results)")
        #expect(session.statistics.delivered == 3)
        calls.keep(nil)
        session.invalidate()
    }

    @Test(arguments: [DeviceSelector.reference, .software])
    func invalidateInTheHandlerReturns(_ device: DeviceSelector) throws {
        let calls = Calls<CompressionSession>()
        let session = try CompressionSession(configuration: Pictures.immediate(), device: device) { _ in
            guard let session = calls.session else { return }
            calls.note("invalidate") { session.invalidate() }
        }
        calls.keep(session)
        try run { try Pictures.encode(0..<1, on: session) }
        #expect(calls.results == ["invalidate": "done"])
        let late = #expect(throws: VaencError.self) { try session.makePixelBuffer() }
        #expect(late?.category == .usage)
        #expect(session.statistics.delivered == 1 && session.statistics.pending == 0)
        calls.keep(nil)
    }

    @Test func decodingInADecodingHandlerThrows() throws {
        let frames = try Fixture.carphone.frames(3, width: 96, height: 80)
        let bytes = try ForeignEncoder.x264(frames, options: "qp=30:bframes=0:threads=1")
        let calls = Calls<DecompressionSession>()
        let session = try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .software) { _ in
            guard let session = calls.session else { return }
            calls.note("decode") { try session.decode(bytes, presentation: .zero) }
            calls.note("unit") { try session.decode(unit: bytes, presentation: .zero) }
            calls.note("finish") { try session.finish() }
            calls.note("counts") { _ = (session.statistics, session.backend) }
        }
        calls.keep(session)
        try run {
            try session.decode(bytes, presentation: .zero)
            try session.finish()
        }
        #expect(calls.results.count == 4)
        for (name, result) in calls.results {
            #expect(name == "counts" ? result == "done" : result.hasPrefix(Self.wouldWait), "\(name): \(result)")
        }
        #expect(session.statistics.delivered == 3)
        calls.keep(nil)
        session.invalidate()
    }

    /// A muxer's completion handler runs on the thread that `stop` waits for.
    @Test func stopInAMuxersCompletionThrows() throws {
        let calls = Calls<MediaMuxer>()
        let muxer = MediaMuxer(MediaMuxer.Configuration(output: "never-started.mp4"))
        try run {
            let isDone = Monitor(false)
            muxer.stop { _ in
                calls.note("stop") { try muxer.stop() }
                isDone.withLock { $0 = true }
            }
            isDone.wait { $0 ? () : nil }
        }
        #expect(calls.results["stop"]?.hasPrefix("stop was called on the muxer's own thread") == true, "\(calls.results)")
    }
}
