import Testing
import TestOracles
import Threads
import Vaenc
import VideoBase

/// Decoding by the public API. DecodeSessionTests cover the streams.
@Suite struct DecompressionSessionTests {
    private func stream() throws -> (bytes: [UInt8], frames: [PlanarFrame]) {
        let frames = try Fixture.carphone.frames(12, width: 96, height: 80)
        let bytes = try ForeignEncoder.x264(frames, options: "qp=30:keyint=6:bframes=2:threads=1")
        return (bytes, ForeignDecoder.libavcodec.decode(bytes).frames)
    }

    private func luma(_ frame: DecodedFrame) throws -> [UInt8] {
        try unsafe frame.buffer.withUnsafePlanes { planes in
            (0..<80).flatMap { row in
                unsafe Array(UnsafeRawBufferPointer(start: planes.base(0) + row * planes.pitch(0), count: 96))
            }
        }
    }

    @Test func outputsAreReadDuringDecoding() async throws {
        let (bytes, expected) = try stream()
        let session = try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .software, capacity: 2)
        let reader = Task { () -> [[UInt8]] in
            var result: [[UInt8]] = []
            for try await output in session.outputs {
                guard case .frame(let frame) = output else { continue }
                result.append(try luma(frame))
            }
            return result
        }
        try await session.decode(bytes, presentation: .zero)
        try await session.finish()
        #expect(session.statistics.taken == 12 && session.statistics.delivered == 12 && session.statistics.pending == 0)
        #expect(session.backend.kind == .software && session.backend.driver == "libavcodec")
        session.invalidate()
        #expect(try await (reader.value == expected.map { Array($0.luma) }) as Bool)
    }

    /// A picture that was read does not hold its surface: a slow reader gets every picture, although there are more
    /// than surfaces.
    @Test(.timeLimit(.minutes(60))) func slowReadersGetEveryPicture() async throws {
        let frames = try Fixture.carphone.frames(80, width: 64, height: 64)
        let units = try ForeignEncoder.x264(frames, options: "qp=30:keyint=30:bframes=0:threads=1")
        let session = try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .reference)
        let reader = Task { () -> Int in
            var count = 0
            for try await output in session.outputs {
                if case .frame = output { count += 1 }
                try await Task.sleep(nanoseconds: 2_000_000)
            }
            return count
        }
        try await session.decode(units, presentation: .zero)
        try await session.finish()
        session.invalidate()
        #expect(try await reader.value == 80)
    }

    /// Bad data and an invalid session have different error categories.
    @Test func errorsHaveTheirCategory() throws {
        let (bytes, expected) = try stream()
        let count = Counter()
        let session = try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .software) { result in
            if case .success(.frame) = result { count.add() }
        }
        let bad = #expect(throws: VaencError.self) { try session.decode([1, 2, 3, 4], presentation: .zero) }
        #expect(bad?.category == .badInput)
        try session.decode(bytes, presentation: .zero)
        try session.finish()
        #expect(count.value == expected.count)
        // Decoding starts again.
        try session.decode(bytes, presentation: .zero)
        try session.finish()
        #expect(count.value == expected.count * 2 && session.statistics.pending == 0)
        session.invalidate()
        session.invalidate()
        let late = #expect(throws: VaencError.self) { try session.decode(bytes, presentation: .zero) }
        #expect(late?.category == .usage)
        let time = #expect(throws: VaencError.self) {
            try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .software) { _ in }
                .decode(bytes, presentation: MediaTime(value: 1, timescale: 0))
        }
        #expect(time?.category == .usage)
        var wrong = DecompressionConfiguration(codec: .hevc)
        wrong.record = [1, 2, 3]
        let record = #expect(throws: VaencError.self) { try DecompressionSession(configuration: wrong, device: .software) { _ in } }
        #expect(record?.category == .badInput)
        let device = #expect(throws: (any Error).self) {
            try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .path("/dev/dri/renderD999")) { _ in }
        }
        #expect((device as? any DescribedError)?.category == .unavailable)
        #expect(throws: VaencError.self) {
            try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .auto, requireHardware: true) { _ in }
        }
    }

    /// The caller holds pictures with all of the device's surfaces. A wait for a surface ends by cancellation, by the
    /// end of the session, or when a picture is released. No picture is lost.
    @Test(arguments: ["cancel", "invalidate", "drop"]) func waitForASurfaceEnds(_ by: String) async throws {
        let frames = try Fixture.carphone.frames(60, width: 96, height: 80)
        let bytes = try ForeignEncoder.x264(frames, options: "qp=40:keyint=60:bframes=0:threads=1")
        let held = Monitor([DecodedFrame]())
        let session = try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .reference) { result in
            if case .success(.frame(let frame)) = result { held.withLock { $0.append(frame) } }
        }
        let decoding = Task { try await session.decode(bytes, presentation: .zero) }
        while held.withLock({ $0.count }) < 20 { try await Task.sleep(for: .milliseconds(1)) }
        // The call waits now, or will soon.
        try await Task.sleep(for: .milliseconds(50))
        switch by {
        case "cancel":
            // The data was accepted: the call returns, and decoding continues.
            decoding.cancel()
            try await decoding.value
            held.withLock { $0 = [] }
            try await dropAll(held, until: 60, of: session)
        case "invalidate":
            session.invalidate()
            let error = await #expect(throws: VaencError.self) { try await decoding.value }
            #expect(error?.category == .usage)
            return
        default:
            try await dropAll(held, until: 60, of: session)
            try await decoding.value
        }
        held.withLock { $0 = [] }
        try await session.finish()
        #expect(session.statistics.taken == 60 && session.statistics.delivered == 60)
        #expect(session.backend.kind == .reference)
        session.invalidate()
    }

    private func dropAll(_ held: Monitor<[DecodedFrame]>, until count: Int, of session: DecompressionSession) async throws {
        // Pictures that wait for reordering are output at the end.
        while session.statistics.delivered < count - 8 {
            held.withLock { $0 = [] }
            try await Task.sleep(for: .milliseconds(1))
        }
        held.withLock { $0 = [] }
    }
}

private final class Counter: Sendable {
    private let count = Monitor(0)
    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock { $0 } }
}
