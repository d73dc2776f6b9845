import TestOracles
import Testing
import Vaenc

/// Sessions that share their frames.
@Suite struct SessionGroupTests {
    private static func session(
        _ codec: VideoCodec, _ list: PacketList, _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) throws -> CompressionSession {
        var configuration = Pictures.configuration()
        configuration.codec = codec
        change(&configuration)
        return try CompressionSession(configuration: configuration, device: .software) { list.add($0) }
    }

    private static func encode(_ group: SessionGroup, _ count: Int, before: (Int) -> Void = { _ in }) throws {
        for index in 0..<count {
            before(index)
            let buffer = try group.makePixelBuffer()
            try Pictures.draw(index, into: buffer)
            try group.encode(buffer, presentation: Pictures.time(index))
        }
        try group.completeFrames()
    }

    private static func bytes(_ list: PacketList) throws -> [UInt8] { try list.values().flatMap(\.bytes) }

    /// Each stream is what its session makes alone.
    @Test func streamsAreThoseOfSessionsAlone() throws {
        var alone: [[UInt8]] = []
        for codec in [VideoCodec.h264, .hevc] {
            let list = PacketList()
            let session = try Self.session(codec, list)
            defer { session.invalidate() }
            for index in 0..<8 {
                let buffer = SystemPixelBuffer(format: .nv12, size: Pictures.size)
                try Pictures.draw(index, into: buffer)
                try session.encode(buffer, presentation: Pictures.time(index))
            }
            try session.completeFrames()
            alone.append(try Self.bytes(list))
        }
        let lists = [PacketList(), PacketList()]
        let group = try SessionGroup([Self.session(.h264, lists[0]), Self.session(.hevc, lists[1])])
        defer { group.invalidate() }
        try Self.encode(group, 8)
        #expect(group.failures.isEmpty)
        for (list, stream) in zip(lists, alone) {
            let isSame = try Self.bytes(list) == stream
            #expect(isSame)
            #expect(try list.values().count == 8)
        }
    }

    /// One that fails is left out, and named; the other's stream is whole. Where all fail, it is an error.
    @Test func failuresDoNotSpoilOthers() throws {
        struct Broken: Error {}
        let lists = [PacketList(), PacketList()]
        let group = try SessionGroup([Self.session(.h264, lists[0]), Self.session(.h264, lists[1])])
        defer { group.invalidate() }
        try Self.encode(group, 6) { if $0 == 3 { group.fail(0, Broken()) } }
        #expect(group.failures.keys.sorted() == [0] && group.failures[0] is Broken)
        #expect(try lists[1].values().count == 6)
        // A session that ends by itself.
        group.sessions[1].invalidate()
        let buffer = try group.makePixelBuffer()
        #expect(category { try group.encode(buffer, presentation: Pictures.time(6)) } != nil)
        #expect(group.failures.keys.sorted() == [0, 1])
    }

    @Test func groupsHaveSessionsOfOneSize() throws {
        #expect(category { _ = try SessionGroup([]) } == .usage)
        let lists = [PacketList(), PacketList()]
        let first = try Self.session(.h264, lists[0])
        let second = try Self.session(.h264, lists[1]) { $0.size = VideoSize(width: 64, height: 64) }
        defer {
            first.invalidate()
            second.invalidate()
        }
        #expect(category { _ = try SessionGroup([first, second]) } == .usage)
    }
}
