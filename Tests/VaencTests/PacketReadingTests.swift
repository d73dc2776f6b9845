import Testing
import VAAPI
@testable import Vaenc

/// One reader at a time, a bounded queue, and no loss, with readers that are slow, leave, are cancelled or come twice.
@Suite(.timeLimit(.minutes(60))) struct PacketReadingTests {
    private func session(capacity: Int) throws -> CompressionSession {
        try CompressionSession(configuration: Pictures.immediate(), device: .reference, packetCapacity: capacity)
    }

    private func frame(_ index: Int, _ session: CompressionSession) async throws -> any PixelBuffer {
        let buffer = try await session.makePixelBuffer()
        try Pictures.draw(index, into: buffer)
        return buffer
    }

    /// A capacity below one is refused, and so is an invalid time.
    @Test(arguments: [0, -1, Int.min]) func wrongCapacityAndTimeAreRefused(_ number: Int) throws {
        #expect(category { _ = try self.session(capacity: number) } == .usage)
        #expect(
            category { _ = try DecompressionSession(configuration: DecompressionConfiguration(codec: .h264), device: .software, capacity: number) }
                == .usage)
        let session = try session(capacity: 3)
        try Pictures.encode(0..<1, on: session)
        let time = MediaTime(value: 1, timescale: Int32(clamping: number))
        #expect(category { try session.completeFrames(until: time) } == .usage)
        try session.completeFrames(until: MediaTime(value: 1, timescale: 1))
        session.invalidate()
    }

    /// `encode` waits while the queue is full, and continues when a packet was read.
    @Test func encodeWaitsForItsReader() async throws {
        let session = try session(capacity: 3)
        let channel = try #require(session.channel)
        try Pictures.encode(0..<3, on: session)
        #expect(session.unreadPacketCount == 3)
        let fourth = Task { try await session.encode(try await frame(3, session), presentation: Pictures.time(3)) }
        await until { channel.waitersForRoom == 1 }
        #expect(session.statistics.taken == 3)
        var packets = try await read(1, of: session)
        try await fourth.value
        #expect(session.statistics.taken == 4 && session.unreadPacketCount == 3)
        session.invalidate()
        for try await packet in session.packets { packets.append(packet) }
        #expect(packets.map(\.displayIndex) == [0, 1, 2, 3])
        _ = Pictures.decode(packets)
    }

    /// Other calls proceed while an `encode` waits for a reader, and apply to the earlier frames.
    @Test(arguments: [DeviceSelector.reference, .software])
    func otherCallsProceedDuringAWaitingEncode(_ device: DeviceSelector) async throws {
        let session = try CompressionSession(
            configuration: Pictures.immediate(), device: device, packetCapacity: 2)
        let channel = try #require(session.channel)
        try Pictures.encode(0..<2, on: session)
        let buffers = [try await frame(2, session), try await frame(3, session)]
        let first = Task { try await session.encode(buffers[0], presentation: Pictures.time(2)) }
        await until { channel.waitersForRoom == 1 }
        try await session.prepare()
        try await session.completeFrames()
        try await session.completeFrames(until: Pictures.time(2))
        try await session.flush()
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            session.flush { done.resume(with: $0) }
        }
        try await session.refresh()
        try await session.swap(to: session.configuration)
        #expect(channel.waitersForRoom == 1)
        var counts = session.statistics
        #expect(counts.taken == 2 && counts.delivered == 2 && counts.pending == 0 && counts.dropped == 0)
        // The order of frames is kept.
        let second = Task { try await session.encode(buffers[1], presentation: Pictures.time(3)) }
        var packets = try await read(2, of: session)
        try await first.value
        try await second.value
        try await session.completeFrames()
        counts = session.statistics
        #expect(counts.taken == 4 && counts.delivered == 4 && counts.pending == 0 && counts.dropped == 0)
        session.invalidate()
        for try await packet in session.packets { packets.append(packet) }
        #expect(packets.map(\.displayIndex) == [0, 1, 2, 3])
        #expect(packets.map(\.formatIndex) == [0, 0, 1, 1])
    }

    /// With a slow reader, no more packets than the capacity wait, and all arrive.
    @Test(arguments: [1, 2, 7]) func slowReaderLimitsQueuedPackets(_ capacity: Int) async throws {
        let session = try session(capacity: capacity)
        let producer = Task {
            for index in 0..<40 {
                try await session.encode(try await frame(index, session), presentation: Pictures.time(index))
            }
            session.invalidate()
        }
        var packets: [EncodedPacket] = []
        for try await packet in session.packets {
            packets.append(packet)
            // The reader waits until the queue is full again, or the encoder has ended.
            await until { session.unreadPacketCount >= capacity || session.statistics.delivered == 40 }
            #expect(session.unreadPacketCount <= capacity)
        }
        try await producer.value
        #expect(packets.map(\.displayIndex) == Array(0..<40))
    }

    @Test func cancelledEncodeAcceptsNoFrame() async throws {
        let session = try session(capacity: 2)
        let channel = try #require(session.channel)
        try Pictures.encode(0..<2, on: session)
        let third = Task { try await session.encode(try await frame(2, session), presentation: Pictures.time(2)) }
        await until { channel.waitersForRoom == 1 }
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        #expect(session.statistics.taken == 2)
        var packets = try await read(2, of: session)
        // The same time is used again, as the frame was not accepted. All buffers are available.
        try Pictures.encode(2..<3, on: session)
        packets += try await read(1, of: session)
        session.invalidate()
        _ = Pictures.decode(packets)
        #expect(packets.map(\.displayIndex) == [0, 1, 2])
    }

    /// A call that is cancelled in the queue is not made, and the call before it continues.
    @Test func callCancelledInTheQueueIsNotMade() async throws {
        let session = try session(capacity: 1)
        let channel = try #require(session.channel)
        try Pictures.encode(0..<1, on: session)
        let buffers = [try await frame(1, session), try await frame(2, session)]
        let waiting = Task { try await session.encode(buffers[0], presentation: Pictures.time(1)) }
        await until { channel.waitersForRoom == 1 }
        let queued = Task { try await session.encode(buffers[1], presentation: Pictures.time(2)) }
        queued.cancel()
        await #expect(throws: CancellationError.self) { try await queued.value }
        #expect(try await read(1, of: session).count == 1)
        try await waiting.value
        #expect(session.statistics.taken == 2)
        session.invalidate()
    }

    @Test func readerThatLeavesKeepsTheRest() async throws {
        let session = try session(capacity: 16)
        try Pictures.encode(0..<6, on: session)
        session.invalidate()
        var packets = try await read(2, of: session)
        packets += try await read(3, of: session)
        var rest = session.packets.makeAsyncIterator()
        packets.append(try #require(try await rest.next()))
        #expect(try await rest.next() == nil)
        #expect(try await rest.next() == nil)
        #expect(packets.map(\.displayIndex) == Array(0..<6))
    }

    /// If the reader has left, `encode` throws instead of waiting forever. With a new reader it works again.
    @Test func encodeReportsAMissingReader() async throws {
        let session = try session(capacity: 2)
        try Pictures.encode(0..<2, on: session)
        #expect(try await read(1, of: session).count == 1)
        try Pictures.encode(2..<3, on: session)
        let error = #expect(throws: VaencError.self) { try Pictures.encode(3..<4, on: session) }
        #expect(error?.category == .usage && error?.message.contains("2 packets wait") == true)
        #expect(session.statistics.taken == 3)
        #expect(try await read(2, of: session).map(\.displayIndex) == [1, 2])
        try Pictures.encode(3..<4, on: session)
        session.invalidate()
    }

    @Test func secondReaderIsRefused() async throws {
        let session = try session(capacity: 4)
        let channel = try #require(session.channel)
        let first = Task { try await read(1, of: session) }
        await until { channel.hasWaitingReader }
        let error = await #expect(throws: VaencError.self) { try await read(1, of: session) }
        #expect(error?.category == .usage)
        try Pictures.encode(0..<1, on: session)
        #expect(try await first.value.map(\.displayIndex) == [0])
        session.invalidate()
    }

    @Test func cancelledReaderLosesNoPacket() async throws {
        let session = try session(capacity: 4)
        let channel = try #require(session.channel)
        let reader = Task { try await read(1, of: session) }
        await until { channel.hasWaitingReader }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try Pictures.encode(0..<3, on: session)
        session.invalidate()
        #expect(try await read(9, of: session).map(\.displayIndex) == [0, 1, 2])
    }

    /// An error ends the sequence: once, after the earlier packets.
    @Test func errorEndsThePacketSequence() async throws {
        let channel = PacketChannel(capacity: 4)
        let packet = EncodedPacket(
            codec: .h264, bytes: [0], type: .idr, presentation: .zero, decode: .zero, displayIndex: 0, codingIndex: 0)
        channel.add(.success(packet))
        channel.add(.failure(VaencError(.deviceFailed, "broken")))
        channel.add(.success(packet))
        var iterator = PacketSequence(channel: channel).makeAsyncIterator()
        #expect(try await iterator.next()?.displayIndex == 0)
        await #expect(throws: VaencError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }
}
