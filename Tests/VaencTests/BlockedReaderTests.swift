import Glibc
import Testing
import Threads
import VAAPI
import VideoBase
@testable import Vaenc

/// A blocking call and a reader on the same actor: an error instead of a deadlock.
@Suite(.timeLimit(.minutes(60))) struct BlockedReaderTests {
    private static let packet = EncodedPacket(
        codec: .h264, bytes: [0], type: .idr, presentation: .zero, decode: .zero, displayIndex: 0, codingIndex: 0)

    private func fullChannel(_ capacity: Int = 2) -> PacketChannel {
        let channel = PacketChannel(capacity: capacity)
        for _ in 0..<capacity { channel.add(.success(Self.packet)) }
        return channel
    }

    private func call(
        on actor: (any Actor)? = nil, isMain: Bool = false, isInTask: Bool = false, patience: UInt64 = .max
    ) -> BlockingCall {
        var call = BlockingCall(on: actor)
        call.isOnMainThread = { isMain }
        call.isInTask = isInTask
        call.readerStartTimeout = patience
        return call
    }

    /// `encode` blocks the main thread, and the reader is a task of the main actor.
    @Test @MainActor func readerOnTheMainActorIsAnError() async throws {
        let session = try CompressionSession(
            configuration: Pictures.immediate(), device: .reference, packetCapacity: 2)
        let channel = try #require(session.channel)
        let reader = Task {
            var count = 0
            for try await _ in session.packets { count += 1 }
            return count
        }
        while !channel.hasWaitingReader { await Task.yield() }
        var taken = 0
        func encodeAll() throws {
            for index in 0..<8 {
                let buffer = try session.makePixelBuffer()
                try Pictures.draw(index, into: buffer)
                try session.encode(buffer, presentation: Pictures.time(index))
                try session.completeFrames()
                taken += 1
            }
        }
        let error = #expect(throws: VaencError.self) { try encodeAll() }
        #expect(error?.category == .usage && error?.message.contains("the main actor, which this call blocks") == true, "\(error as Any)")
        // The reader got one packet and has not run since.
        #expect(taken == 3 && session.statistics.taken == 3)
        session.invalidate()
        #expect(try await reader.value == 3)
    }

    private actor Film {
        let session: CompressionSession
        init(_ session: CompressionSession) { self.session = session }

        func beginReading(_ channel: PacketChannel) async -> Task<Int, any Error> {
            let reader = Task {
                var count = 0
                for try await _ in session.packets { count += 1 }
                return count
            }
            while !channel.hasWaitingReader { await Task.yield() }
            return reader
        }

        func encodeAll() throws {
            for index in 0..<8 {
                let buffer = try session.makePixelBuffer()
                try Pictures.draw(index, into: buffer)
                try session.encode(buffer, presentation: Pictures.time(index))
                try session.completeFrames()
            }
        }
    }

    private actor Idle {}

    /// The actor is the program's own.
    @Test func readerOnTheCallersActorIsAnError() async throws {
        let session = try CompressionSession(
            configuration: Pictures.immediate(), device: .reference, packetCapacity: 1)
        let film = Film(session)
        let reader = await film.beginReading(try #require(session.channel))
        let error = await #expect(throws: VaencError.self) { try await film.encodeAll() }
        #expect(error?.message.contains("the actor, which this call blocks") == true, "\(error as Any)")
        session.invalidate()
        #expect(try await reader.value == 2)
    }

    /// A task of the blocked actor that has not begun is not visible: after a timeout, that is an error too.
    @Test func readerThatDoesNotBeginIsAnError() throws {
        let channel = fullChannel()
        for blocked in [
            call(isMain: true, patience: 1000), call(on: MainActor.shared, patience: 1000), call(on: Idle(), patience: 1000),
            call(isInTask: true, patience: 1000),
        ] {
            let error = #expect(throws: VaencError.self) { try channel.waitForRoom(blocked) { false } }
            #expect(error?.message.contains("2 packets wait, no reader has begun") == true)
        }
        #expect(channel.waitersForRoom == 0)
    }

    private actor Helped {
        func beginReading(_ channel: PacketChannel) -> Task<Int, any Error> {
            Task {
                // The task runs on the actor because it uses it.
                _ = self
                var count = 0
                for try await _ in PacketSequence(channel: channel) { count += 1 }
                return count
            }
        }

        /// Adds one result for the reader, which cannot run to take it, and one that fills the channel.
        func fillAndBlock(_ channel: PacketChannel, _ call: BlockingCall, _ packet: EncodedPacket) throws {
            for _ in 0..<2 { channel.add(.success(packet)) }
            try blockFromNoActor(channel, call)
        }

        /// Blocks the actor without the compiler's knowledge.
        private nonisolated func blockFromNoActor(_ channel: PacketChannel, _ call: BlockingCall) throws {
            try channel.waitForRoom(call) { false }
        }
    }

    /// A nonisolated function is called on the reader's actor: the reader cannot run, and that is an error.
    @Test func blockingTheReadersActorIsAnError() async throws {
        let channel = PacketChannel(capacity: 1)
        let helped = Helped()
        let reader = await helped.beginReading(channel)
        while !channel.hasWaitingReader { await Task.yield() }
        var blocking = call(isInTask: true, patience: 1000)
        blocking.busyReaderTimeout = 1_000_000
        let (given, blocked) = (channel, blocking)
        let error = await #expect(throws: VaencError.self) {
            try await helped.fillAndBlock(given, blocked, Self.packet)
        }
        #expect(error?.category == .usage && error?.message.contains("the reader's actor ran nothing") == true, "\(error as Any)")
        channel.finish(.success(()))
        #expect(try await reader.value == 2)
    }

    /// A call in a task is recognized, unlike one on a separate thread.
    @Test func callsInTasksAreRecognized() async throws {
        #expect(BlockingCall(on: nil).isInTask)
        #expect(try await SerialThread("test").run { _ in BlockingCall(on: nil).isInTask } == false)
    }

    /// For a reader elsewhere, the call waits however long the reader takes to begin.
    @Test(arguments: [false, true]) func otherReadersAreWaitedFor(_ isMain: Bool) async throws {
        let channel = fullChannel(1)
        // A thread that blocks no actor waits for the first reader without a limit.
        let blocking = call(isMain: isMain, patience: isMain ? 600_000_000_000 : 1000)
        let thread = SerialThread("test")
        async let waited: Void = thread.run { _ in try channel.waitForRoom(blocking) { false } }
        while channel.waitersForRoom == 0 { await Task.yield() }
        var reader = PacketSequence(channel: channel).makeAsyncIterator()
        #expect(try await reader.next() != nil)
        try await waited
    }

    /// scripts/test-dependent.sh tests the main thread itself: here the main actor runs on other threads.
    @Test func otherThreadsAreNotTheMainThread() async throws {
        #expect(try await SerialThread("test").run { _ in BlockingCall(on: nil).isOnMainThread() } == false)
    }
}
