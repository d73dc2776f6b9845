import MediaFiles
import Synchronization
import Testing
import Threads
import VideoBase
@testable import Vaenc

/// The queue of a connection beside other outputs: a stalled network does not hold up the encoder.
@Suite struct OutputSinkTests {
    /// A sink whose writes wait until the test permits them.
    private final class GatedSink: PacketSink {
        private struct State {
            var permitted = 0
            var times: [Int64] = []
            var isFinished = false
            var isCancelled = false
            var failsAt: Int?
        }

        private let state = Monitor(State())

        func permit(_ count: Int) { state.withLock { $0.permitted += count } }
        func fail(at index: Int) { state.withLock { $0.failsAt = index } }
        var times: [Int64] { state.withLock { $0.times } }
        var isFinished: Bool { state.withLock { $0.isFinished } }
        var isCancelled: Bool { state.withLock { $0.isCancelled } }

        func add(_ track: MediaTrack) -> Int { 1 }
        func start(_ description: EncoderDescription) {}
        func write(_ packet: EncodedPacket) throws {
            let fails = state.wait { state -> Bool? in
                if state.isCancelled { return true }
                guard state.permitted > 0 else { return nil }
                state.permitted -= 1
                if state.failsAt == state.times.count { return true }
                state.times.append(packet.decode.value)
                return false
            }
            if fails { throw VaencError(.inputOutput, "lost") }
        }
        func write(_ packet: TrackPacket, track: Int) {}
        func finish() { state.withLock { $0.isFinished = true } }
        func abortBlockingIO() { cancel() }
        func cancel() { state.withLock { $0.isCancelled = true } }
        var bytesWritten: Int { 0 }
        var path: String { "rtmp://test" }
    }

    private func description() throws -> EncoderDescription {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.codec = .h264
        let session = try CompressionSession(configuration: configuration, device: .software) { _ in }
        defer { session.invalidate() }
        return try session.encoderDescription
    }

    private func sinks() throws -> (OutputSink, GatedSink) {
        let (sink, gated) = (OutputSink(isQueued: true), GatedSink())
        try sink.start(gated, description: try description(), sounds: [])
        return (sink, gated)
    }

    /// A picture, with times in tenths of a second.
    private func packet(_ index: Int) -> EncodedPacket {
        let time = MediaTime(value: Int64(index), timescale: 10)
        return EncodedPacket(
            codec: .h264, bytes: [0, 0, 0, 1, 0x65, 0x88], type: .idr, presentation: time, decode: time,
            displayIndex: index, codingIndex: index)
    }

    /// While a write waits, further writes return. All packets arrive in order before the end.
    @Test func writesDoNotWaitForAStalledConnection() throws {
        let (sink, gated) = try sinks()
        for index in 0..<110 { sink.write(packet(index)) }
        #expect(gated.times.isEmpty && sink.failure == nil)
        gated.permit(110)
        try sink.finish()
        #expect(gated.times == (0..<110).map { Int64($0) } && gated.isFinished)
    }

    /// The queue holds twelve seconds of pictures. A write beyond them waits until the first one is written.
    @Test func aFullQueueMakesWritesWait() throws {
        let (sink, gated) = try sinks()
        let written = Monitor(0)
        let starts = DedicatedThread.start("test") { [self] in
            for index in 0..<300 {
                sink.write(packet(index))
                written.withLock { $0 += 1 }
            }
        }
        try #require(starts)
        written.wait { $0 >= 120 ? () : nil }
        // The next write can only return after a permitted one.
        for _ in 0..<20 {
            gated.permit(1)
            written.withLock { #expect($0 <= 121 + gated.times.count + 1) }
        }
        gated.permit(280)
        written.wait { $0 == 300 ? () : nil }
        try sink.finish()
        #expect(gated.times == (0..<300).map { Int64($0) })
    }

    /// The error of a queued write ends the output. Packets after it are discarded.
    @Test func failureOfAQueuedWriteEndsTheOutput() throws {
        let (sink, gated) = try sinks()
        gated.fail(at: 3)
        for index in 0..<50 { sink.write(packet(index)) }
        gated.permit(100)
        #expect(throws: VaencError.self) { try sink.finish() }
        #expect(gated.times == [0, 1, 2] && !gated.isFinished && sink.failure != nil)
        // No later write waits, although nothing is written any more.
        for index in 50..<1000 { sink.write(packet(index)) }
    }

    /// After an error of the run, packets that wait are not written.
    @Test func abandoningDiscardsTheQueue() throws {
        let (sink, gated) = try sinks()
        for index in 0..<50 { sink.write(packet(index)) }
        _ = sink.abandon(after: VaencError(.badInput, "damaged"))
        #expect(gated.isCancelled && gated.times.isEmpty)
    }
}
