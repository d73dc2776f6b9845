import TestOracles
import Testing
import VAAPI
@testable import Vaenc

/// A change of size, codec or device in mid-stream: both parts decode, and no frame is lost between them.
@Suite(.timeLimit(.minutes(60))) struct SwapTests {
    private static let other = VideoSize(width: 128, height: 64)

    /// Splits a stream into its parts by the packets alone, as a reader does.
    private func parts(_ packets: [EncodedPacket]) -> [[EncodedPacket]] {
        var parts: [[EncodedPacket]] = [[]]
        for packet in packets {
            if packet.changesFormat { parts.append([]) }
            parts[parts.count - 1].append(packet)
        }
        return parts
    }

    private func expectOneLine(_ packets: [EncodedPacket], count: Int, _ sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(packets.map(\.displayIndex).sorted() == Array(0..<count), sourceLocation: sourceLocation)
        #expect(packets.map(\.codingIndex) == Array(0..<count), sourceLocation: sourceLocation)
        for packet in packets {
            #expect(packet.presentation == Pictures.time(packet.displayIndex), sourceLocation: sourceLocation)
            #expect(packet.decode <= packet.presentation, sourceLocation: sourceLocation)
        }
        for (a, b) in zip(packets, packets.dropFirst()) {
            #expect(a.decode < b.decode, "\(a.decode) \(b.decode)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [DeviceSelector.reference, .software], VideoCodec.allCases)
    func sizeChangesInMidStream(_ device: DeviceSelector, _ codec: VideoCodec) async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(codec: codec), device: device)
        try Pictures.encode(0..<5, on: session)
        let before = try session.encoderDescription.parameterSets
        try await session.swap(to: Pictures.configuration(Self.other, codec: codec))
        #expect(session.unreadPacketCount == 5)
        #expect(try session.encoderDescription.parameterSets != before)
        #expect(try await session.makePixelBuffer().size == Self.other)
        try Pictures.encode(5..<9, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(9, of: session)
        expectOneLine(packets, count: 9)
        let parts = parts(packets)
        #expect(parts.map(\.count) == [5, 4])
        #expect(parts[1][0].isKey && parts[1].allSatisfy { $0.formatIndex == 1 })
        // Each part decodes by itself, to pictures of its size.
        let frames = parts.map { Pictures.decode($0) }
        #expect(frames[0].allSatisfy { $0.width == Pictures.size.width && $0.height == Pictures.size.height })
        #expect(frames[1].allSatisfy { $0.width == Self.other.width && $0.height == Self.other.height })
        let statistics = session.statistics
        #expect(statistics.taken == 9 && statistics.delivered == 9 && statistics.dropped == 0)
        // The whole stream decodes too.
        let whole = ForeignDecoder.libavcodec.decode(packets.flatMap(\.bytes), codec: Pictures.codec(packets))
        #expect(whole.frames.map(\.width) == frames.flatMap { $0.map(\.width) }, "\(whole.messages)")
    }

    /// The codec changes on one device and to software, with frames held back for B frames in both parts.
    @Test(arguments: VideoCodec.allCases, [DeviceSelector.reference, .software])
    func codecChangesInMidStream(_ codec: VideoCodec, _ device: DeviceSelector) async throws {
        var first = Pictures.configuration(codec: codec)
        first.structure.bFrames = 2
        var second = Pictures.configuration(codec: codec == .h264 ? .hevc : .h264)
        second.structure.bFrames = 2
        let session = try CompressionSession(configuration: first, device: .reference)
        try Pictures.encode(0..<6, on: session)
        try await session.swap(to: second, device: device)
        #expect(session.choice.kind.rawValue == "\(device)")
        #expect(session.choice.codec == second.codec)
        try Pictures.encode(6..<12, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(12, of: session)
        expectOneLine(packets, count: 12)
        let parts = parts(packets)
        #expect(parts.map(\.count) == [6, 6])
        #expect(parts.map { Pictures.codec($0).rawValue } == [first.codec?.rawValue, second.codec?.rawValue])
        #expect(parts.map { Pictures.decode($0).count } == [6, 6])
    }

    /// The new format reorders more, less or equally.
    @Test(arguments: [0, 1, 3], [0, 2, 7]) func decodingTimesIncreaseOverReordering(_ before: Int, _ after: Int) async throws {
        for codec in VideoCodec.allCases { try await timesGoOn(codec, before, after) }
    }

    private func timesGoOn(_ codec: VideoCodec, _ before: Int, _ after: Int) async throws {
        var first = Pictures.configuration(codec: codec)
        first.structure.bFrames = before
        var second = Pictures.configuration(codec: codec)
        second.structure.bFrames = after
        second.structure.bPyramid = after > 2
        let session = try CompressionSession(configuration: first, device: .reference)
        try Pictures.encode(0..<9, on: session)
        try await session.swap(to: second)
        try Pictures.encode(9..<20, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(20, of: session)
        expectOneLine(packets, count: 20)
        #expect(packets.filter(\.changesFormat).map(\.displayIndex) == [9])
        #expect(parts(packets).map { Pictures.decode($0).count } == [9, 11])
    }

    @Test func failedSwapChangesNothing() async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: .reference)
        try Pictures.encode(0..<3, on: session)
        var impossible = Pictures.configuration(VideoSize(width: 16384, height: 16384))
        await #expect(throws: (any Error).self) { try await session.swap(to: impossible) }
        impossible = Pictures.configuration()
        impossible.rate.qp = 99
        await #expect(throws: (any Error).self) { try await session.swap(to: impossible) }
        #expect(session.configuration == Pictures.configuration())
        try Pictures.encode(3..<6, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(6, of: session)
        #expect(packets.map(\.isKey) == [true, false, false, false, false, false])
        #expect(!packets.contains { $0.changesFormat })
    }

    /// The indices of forced key frames count over the whole session.
    @Test func forcedKeyFrameIndicesContinueOverASwap() async throws {
        var configuration = Pictures.configuration()
        configuration.structure.forcedKeyFrames = [2, 8]
        let session = try CompressionSession(configuration: configuration, device: .reference)
        try Pictures.encode(0..<5, on: session)
        try await session.swap(to: configuration)
        try Pictures.encode(5..<10, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(10, of: session)
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0, 2, 5, 8])
    }

    /// Presentation order is required over swaps too, also over two swaps without frames between them.
    @Test(arguments: [DeviceSelector.reference, .software], 1...2)
    func decreasingTimesAreRefusedOverASwap(_ device: DeviceSelector, _ swaps: Int) async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: device)
        try Pictures.encode(0..<4, on: session)
        for _ in 0..<swaps { try await session.swap(to: session.configuration) }
        for index in [-5, 0, 2, 3] {
            let error = #expect(throws: VaencError.self) { try Pictures.encode(index..<index + 1, on: session) }
            #expect(error?.category == .usage && error?.remedy != nil)
        }
        try Pictures.encode(4..<6, on: session)
        #expect(throws: VaencError.self) { try Pictures.encode(4..<5, on: session) }
        try await session.completeFrames()
        session.invalidate()
        expectOneLine(try await read(6, of: session), count: 6)
        let counts = session.statistics
        #expect(counts.taken == 6 && counts.delivered == 6 && counts.dropped == 0 && counts.pending == 0)
    }

    @Test func swapBeforeTheFirstFrameIsNoFormatChange() async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: .reference)
        try await session.prepare()
        try await session.swap(to: Pictures.configuration(Self.other))
        try Pictures.encode(0..<2, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(2, of: session)
        #expect(packets.map(\.formatIndex) == [0, 0] && !packets.contains { $0.changesFormat })
        #expect(Pictures.decode(packets).first?.width == Self.other.width)
    }

    /// Swaps while another task encodes lose no frame. Frames of the old size are refused.
    @Test func swapsDuringEncodeLoseNoFrame() async throws {
        let session = try CompressionSession(configuration: Pictures.configuration(), device: .reference)
        let producer = Task {
            for index in 0..<30 {
                while true {
                    let buffer = try await session.makePixelBuffer()
                    try Pictures.draw(index, into: buffer)
                    do {
                        try await session.encode(buffer, presentation: Pictures.time(index))
                        break
                    } catch let error as VaencError where error.message.contains("but the encoder expects") {}
                }
            }
        }
        for step in 0..<6 {
            let goal = step * 4 + 2
            await until { session.statistics.taken >= goal }
            try await session.swap(to: Pictures.configuration(step % 2 == 0 ? Self.other : Pictures.size))
        }
        try await producer.value
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(30, of: session)
        expectOneLine(packets, count: 30)
        let parts = parts(packets)
        #expect(parts.count == 7 || parts.count > 2)
        for part in parts { #expect(Pictures.decode(part).count == part.count) }
        #expect(session.statistics.taken == 30 && session.statistics.delivered == 30)
    }

    /// A refused frame does not consume an acknowledgement.
    @Test func acknowledgementsWaitForAnAcceptedFrame() async throws {
        var configuration = Pictures.configuration()
        configuration.structure.longTermReferences = 1
        let session = try CompressionSession(configuration: configuration, device: .reference)
        try Pictures.encode(0..<2, on: session)
        try await session.completeFrames()
        let first = try await read(2, of: session)
        session.acknowledge([try #require(first.compactMap(\.acknowledgementToken).first)])
        // The time is not after the previous one.
        #expect(throws: VaencError.self) { try Pictures.encode(0..<1, on: session) }
        var refresh = FrameOptions()
        refresh.refreshFromLongTerm = true
        try Pictures.encode(2..<3, on: session, options: refresh)
        try await session.completeFrames()
        session.invalidate()
        #expect(try await read(1, of: session).map(\.isKey) == [false])
    }

    /// A frame that was acknowledged in another format is no reference.
    @Test func tokensEndWithTheirFormat() async throws {
        var configuration = Pictures.configuration()
        configuration.structure.longTermReferences = 1
        let session = try CompressionSession(configuration: configuration, device: .reference)
        var refresh = FrameOptions()
        refresh.refreshFromLongTerm = true
        try Pictures.encode(0..<2, on: session)
        try await session.completeFrames()
        let first = try await read(2, of: session)
        let token = try #require(first.compactMap(\.acknowledgementToken).first)
        session.acknowledge([token])
        try Pictures.encode(2..<3, on: session, options: refresh)
        try await session.swap(to: configuration)
        try Pictures.encode(3..<4, on: session)
        session.acknowledge([token])
        try Pictures.encode(4..<5, on: session, options: refresh)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await first + read(3, of: session)
        // With an acknowledgement, a P frame is sufficient. A token of the earlier format has no effect.
        #expect(packets.map(\.isKey) == [true, false, false, true, true])
        let mixed = Set(packets.compactMap(\.acknowledgementToken))
        #expect(mixed.count == packets.compactMap(\.acknowledgementToken).count)
    }
}
