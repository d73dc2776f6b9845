import Testing
import Threads
import VAAPI
@testable import Vaenc
import VideoBase

/// Waiting for buffers, completing, and ending a session during concurrent use.
@Suite(.timeLimit(.minutes(60))) struct SessionEndTests {
    /// Takes all buffers of a session: with one frame in flight and no B frames, two; in software, three.
    private func hold(_ session: CompressionSession) async throws -> [any PixelBuffer] {
        var held: [any PixelBuffer] = []
        for _ in 0..<(session.choice.kind == .software ? 3 : 2) { held.append(try await session.makePixelBuffer()) }
        return held
    }

    private func session(_ device: DeviceSelector) throws -> CompressionSession {
        var configuration = Pictures.immediate()
        configuration.pipeline.asyncDepth = 1
        return try CompressionSession(configuration: configuration, device: device)
    }

    /// The counts add up while frames wait, and the sequence of packets ends when the session is released.
    @Test func releasedSessionEndsItsReader() async throws {
        var configuration = Pictures.configuration()
        configuration.structure.bFrames = 3
        var session: CompressionSession? = try CompressionSession(configuration: configuration, device: .reference)
        let packets = try #require(session).packets
        try Pictures.encode(0..<6, on: try #require(session))
        let counts = try #require(session).statistics
        // The last frame waits for the rest of its group.
        #expect(counts.taken == 6 && counts.pending > 0 && counts.taken == counts.delivered + counts.dropped + counts.pending)
        let reader = Task {
            var count = 0
            for try await _ in packets { count += 1 }
            return count
        }
        session = nil
        #expect(try await reader.value <= 6)
    }

    /// A task that waits for a buffer does not block another task's `encode`, which returns that buffer.
    @Test(arguments: [DeviceSelector.reference, .software])
    func waitForABufferBlocksNoOtherCall(_ device: DeviceSelector) async throws {
        let session = try session(device)
        var held = try await hold(session)
        let waiting = Task { try await session.makePixelBuffer() }
        await until { session.bufferMaker.isWorking }
        try Pictures.draw(0, into: held[0])
        // The buffer is released here: without optimization `held` lives to the end, and a buffer is in use as long as
        // it is held.
        try await session.encode(held.removeFirst(), presentation: Pictures.time(0))
        let buffer = try await waiting.value
        try Pictures.draw(1, into: buffer)
        try await session.encode(buffer, presentation: Pictures.time(1))
        try await session.completeFrames()
        session.invalidate()
        #expect(Pictures.decode(try await read(2, of: session)).count == 2)
    }

    /// The buffer for a cancelled task returns to the pool.
    @Test func cancelledWaitForABufferEnds() async throws {
        let session = try session(.reference)
        var held = try await hold(session)
        let waiting = Task { try await session.makePixelBuffer() }
        await until { session.bufferMaker.isWorking }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        held = []
        for _ in 0..<2 { held.append(try await session.makePixelBuffer()) }
        #expect(held.count == 2)
        held = []
        try Pictures.encode(0..<3, on: session)
        session.invalidate()
    }

    /// Waits for a buffer, for room in the queue and for a packet end.
    @Test(arguments: [DeviceSelector.reference, .software])
    func invalidateEndsEveryWait(_ device: DeviceSelector) async throws {
        let reading = try session(device)
        let reader = Task { try await read(1, of: reading) }
        let channel = try #require(reading.channel)
        await until { channel.hasWaitingReader }
        let held = try await hold(reading)
        let buffer = Task { try await reading.makePixelBuffer() }
        await until { reading.bufferMaker.isWorking }
        reading.invalidate()
        #expect(try await reader.value.isEmpty)
        await #expect(throws: (any Error).self) { try await buffer.value }
        await #expect(throws: (any Error).self) { try await reading.encode(held[0], presentation: .zero) }
        await #expect(throws: (any Error).self) { try await reading.completeFrames() }
        await #expect(throws: (any Error).self) { try await reading.prepare() }

        let full = try CompressionSession(
            configuration: Pictures.immediate(), device: device, packetCapacity: 1)
        try Pictures.encode(0..<1, on: full)
        let fullChannel = try #require(full.channel)
        let encode = Task {
            let buffer = try await full.makePixelBuffer()
            try Pictures.draw(1, into: buffer)
            try await full.encode(buffer, presentation: Pictures.time(1))
        }
        await until { fullChannel.waitersForRoom == 1 }
        full.invalidate()
        await #expect(throws: (any Error).self) { try await encode.value }
        #expect(full.statistics.taken == 1 && full.statistics.delivered == 1)
        #expect(try await read(2, of: full).count == 1)
    }

    /// If the session ends at any moment, every frame is counted as delivered or dropped.
    @Test(arguments: [DeviceSelector.reference, .software], 0..<6)
    func invalidateDuringEncodeCountsEveryFrame(_ device: DeviceSelector, _ count: Int) async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: device)
        let producers = (0..<2).map { producer in
            Task.detached {
                var index = producer
                while true {
                    let buffer = try await session.makePixelBuffer()
                    do {
                        try await session.encode(buffer, presentation: Pictures.time(index))
                    } catch let error as VaencError where error.message.contains("after") {
                        // The other producer has encoded a later time.
                    }
                    index += 2
                }
            }
        }
        let packets = try await read(count, of: session)
        session.invalidate()
        for producer in producers {
            await #expect(throws: (any Error).self) { try await producer.value }
        }
        var rest = 0
        for try await _ in session.packets { rest += 1 }
        let statistics = session.statistics
        #expect(packets.count == count)
        #expect(statistics.taken == statistics.delivered + statistics.dropped, "\(statistics)")
        #expect(packets.count + rest == statistics.delivered)
        #expect(session.pendingFrameCount == 0)
    }

    /// If its packet is delivered, `encode` succeeds, even if the session ends while the handler has the packet.
    /// Otherwise `encode` throws. The counts agree.
    @Test(arguments: [DeviceSelector.reference, .software])
    func invalidateDuringASlowHandlerKeepsItsPacket(_ device: DeviceSelector) async throws {
        let gate = Monitor((isEntered: false, isOpen: false))
        let packets = PacketList()
        let session = try CompressionSession(configuration: Pictures.immediate(), device: device) { result in
            packets.add(result)
            gate.withLock { $0.isEntered = true }
            gate.wait { $0.isOpen ? () : nil }
        }
        var held = try await hold(session)
        try Pictures.draw(0, into: held[0])
        let first = held.removeFirst()
        let encode = Task { try await session.encode(first, presentation: Pictures.time(0)) }
        await until { gate.withLock { $0.isEntered } }
        let end = SerialThread("test")
        end.add { session.invalidate() }
        await until { session.core.isInvalidated }
        // The encoder needs time to notice the end.
        try await Task.sleep(for: .milliseconds(100))
        var counts = session.statistics
        #expect(counts.taken == 1 && counts.delivered == 0 && counts.dropped == 0 && counts.pending == 1)
        gate.withLock { $0.isOpen = true }
        try await encode.value
        counts = session.statistics
        #expect(counts.taken == 1 && counts.delivered == 1 && counts.dropped == 0 && counts.pending == 0)
        #expect(try packets.values().count == 1)
        await #expect(throws: (any Error).self) {
            try await session.encode(held[0], presentation: Pictures.time(1))
        }
    }

    /// A second frame, after the one in the handler, is not delivered, and its `encode` throws.
    @Test(arguments: [DeviceSelector.reference, .software])
    func invalidateDropsTheWaitingFrame(_ device: DeviceSelector) async throws {
        let gate = Monitor((isEntered: false, isOpen: false))
        let session = try CompressionSession(configuration: Pictures.immediate(), device: device) { _ in
            gate.withLock { $0.isEntered = true }
            gate.wait { $0.isOpen ? () : nil }
        }
        let held = try await hold(session)
        let first = Task { try await session.encode(held[0], presentation: Pictures.time(0)) }
        await until { gate.withLock { $0.isEntered } }
        // Encodes on another thread, because the first one is blocked.
        let result = Monitor<Result<Void, any Error>?>(nil)
        let other = SerialThread("test")
        other.add {
            let own = Result { try session.encode(held[1], presentation: Pictures.time(1)) }
            result.withLock { $0 = own }
        }
        await until { session.statistics.taken == 2 }
        let end = SerialThread("test")
        end.add { session.invalidate() }
        await until { session.core.isInvalidated && session.statistics.dropped == 1 }
        gate.withLock { $0.isOpen = true }
        try await first.value
        await until { result.withLock { $0 != nil } }
        #expect(throws: (any Error).self) { try result.withLock { try $0?.get() } }
        let counts = session.statistics
        #expect(counts.taken == 2 && counts.delivered == 1 && counts.dropped == 1 && counts.pending == 0)
    }

    /// The session may be released anywhere, also in its own handler, where it cannot wait.
    @Test(arguments: [DeviceSelector.reference, .software])
    func sessionReleasedInItsHandlerEnds(_ device: DeviceSelector) async throws {
        let box = SessionBox()
        let (calls, call) = AsyncStream<Void>.makeStream()
        do {
            let session = try CompressionSession(configuration: Pictures.configuration(), device: device) { _ in
                box.waitAndRelease()
                call.yield()
            }
            try Pictures.encode(0..<1, on: session)
            session.flush { _ in }
            box.keep(session)
        }
        var iterator = calls.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        await until { box.isReleased }
    }
}

/// Keeps a session until it is released.
final class SessionBox: Sendable {
    private struct State {
        var session: CompressionSession?
        weak var watched: CompressionSession?
    }

    private let state = Monitor(State())

    func keep(_ session: CompressionSession) {
        state.withLock {
            $0.session = session
            $0.watched = session
        }
    }

    func waitAndRelease() { state.wait { $0.session == nil ? nil : ($0.session = nil) } }

    var isReleased: Bool { state.withLock { $0.watched == nil } }
}
