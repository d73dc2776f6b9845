import Glibc
import Testing
import Threads
import VAAPI
import VideoBase
@testable import Vaenc

/// A call that blocks and a reader on the same actor: an error in place of a wait without end.
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
        call.patience = patience
        return call
    }

    /// A blocking `encode` on the main thread, with a reader that is a task of the main actor.
    @Test @MainActor func aReaderOnTheMainActorIsAnError() async throws {
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
        // One packet was handed to the reader, which has not run since.
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

    /// The same on an actor of the program's.
    @Test func aReaderOnTheCallersActorIsAnError() async throws {
        let session = try CompressionSession(
            configuration: Pictures.immediate(), device: .reference, packetCapacity: 1)
        let film = Film(session)
        let reader = await film.beginReading(try #require(session.channel))
        let error = await #expect(throws: VaencError.self) { try await film.encodeAll() }
        #expect(error?.message.contains("the actor, which this call blocks") == true, "\(error as Any)")
        session.invalidate()
        #expect(try await reader.value == 2)
    }

    /// A task of the blocked actor that has not begun cannot be seen: after a while, that is an error too.
    @Test func aReaderThatDoesNotBeginIsAnError() throws {
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
                var count = 0
                for try await _ in PacketSequence(channel: channel) { count += 1 }
                return count
            }
        }

        /// One result for the reader, which cannot run to take it, and one that fills the channel.
        func fillAndBlock(_ channel: PacketChannel, _ call: BlockingCall, _ packet: EncodedPacket) throws {
            for _ in 0..<2 { channel.add(.success(packet)) }
            try blockFromNoActor(channel, call)
        }

        /// The compiler does not know here that it blocks the actor.
        private nonisolated func blockFromNoActor(_ channel: PacketChannel, _ call: BlockingCall) throws {
            try channel.waitForRoom(call) { false }
        }
    }

    /// A function of no actor, called on the reader's: nothing runs where the reader runs, and that is an error.
    @Test func aHelperOnTheReadersActorIsAnError() async throws {
        let channel = PacketChannel(capacity: 1)
        let helped = Helped()
        let reader = await helped.beginReading(channel)
        while !channel.hasWaitingReader { await Task.yield() }
        var blocking = call(isInTask: true, patience: 1000)
        blocking.readerPatience = 1_000_000
        let (given, blocked) = (channel, blocking)
        let error = await #expect(throws: VaencError.self) {
            try await helped.fillAndBlock(given, blocked, Self.packet)
        }
        #expect(error?.category == .usage && error?.message.contains("nothing ran where it runs") == true, "\(error as Any)")
        channel.finish(.success(()))
        #expect(try await reader.value == 2)
    }

    /// A call in a task is known as one, and one on a thread of its own is not.
    @Test func callsOfTasksAreKnown() async throws {
        #expect(BlockingCall(on: nil).isInTask)
        #expect(try await SerialThread("test").run { _ in BlockingCall(on: nil).isInTask } == false)
    }

    /// Readers elsewhere are waited for, however long they take to begin.
    @Test(arguments: [false, true]) func otherReadersAreWaitedFor(_ isMain: Bool) async throws {
        let channel = fullChannel(1)
        // A thread that keeps no actor from running waits for the first reader without a limit.
        let blocking = call(isMain: isMain, patience: isMain ? 600_000_000_000 : 1000)
        let thread = SerialThread("test")
        async let waited: Void = thread.run { _ in try channel.waitForRoom(blocking) { false } }
        while channel.waitersForRoom == 0 { await Task.yield() }
        var reader = PacketSequence(channel: channel).makeAsyncIterator()
        #expect(try await reader.next() != nil)
        try await waited
    }

    /// The main thread itself is known in scripts/test-dependent.sh: here the main actor runs on other threads.
    @Test func otherThreadsAreNotTheMainThread() async throws {
        #expect(try await SerialThread("test").run { _ in BlockingCall(on: nil).isOnMainThread() } == false)
    }
}
