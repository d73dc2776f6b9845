import TestOracles
import Testing
import VAAPI
import Vaenc

/// Sessions that share their frames.
@Suite struct SessionGroupTests {
    private static func session(
        _ codec: VideoCodec, _ list: PacketList, on device: DeviceSelector = .software,
        _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) throws -> CompressionSession {
        var configuration = Pictures.configuration()
        configuration.codec = codec
        change(&configuration)
        return try CompressionSession(configuration: configuration, device: device) { list.add($0) }
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

    /// Each session encodes every frame, in order, in its own codec.
    @Test func everySessionGetsEveryFrame() throws {
        let lists = [PacketList(), PacketList()]
        let group = try SessionGroup([Self.session(.h264, lists[0]), Self.session(.hevc, lists[1])])
        defer { group.invalidate() }
        try Self.encode(group, 8)
        #expect(group.failures.isEmpty)
        #expect(try group.sessions.map { try $0.encoderDescription.codec } == [.h264, .hevc])
        for list in lists {
            #expect(try list.values().map(\.presentation) == (0..<8).map(Pictures.time))
        }
        let first = try lists.map { try #require($0.values().first) }
        // The first unit is a parameter set of the codec.
        #expect(first[0].bytes[4] & 31 == 7 && first[1].bytes[4] >> 1 & 63 == 32)
    }

    /// A caller's own buffer, whose planes have no memory.
    private final class EmptyBuffer: PixelBuffer {
        let format = PixelFormat.nv12
        let size = Pictures.size
        func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
            try unsafe body(PixelPlanes(format: format, size: size, allocatedSize: size, bases: (nil, nil, nil), pitches: (1024, 1024, 0)))
        }
    }

    @Test func planesWithoutMemoryAreRefused() throws {
        let group = try SessionGroup([Self.session(.h264, PacketList()), Self.session(.hevc, PacketList())])
        defer { group.invalidate() }
        let error = #expect(throws: VaencError.self) { try group.encode(EmptyBuffer(), presentation: Pictures.time(0)) }
        #expect(error?.category == .usage && error?.message.contains("the planes do not match") == true, "\(error as Any)")
        #expect(throws: VaencError.self) { try EmptyBuffer().withRows { _, _, _ in } }
        // No session was affected.
        try Self.encode(group, 3)
        #expect(group.failures.isEmpty)
    }

    /// Each stream equals that of a single session with the same frames, byte for byte.
    @Test(arguments: [DeviceSelector.software, .reference]) func groupStreamsEqualThoseOfSingleSessions(_ device: DeviceSelector) throws {
        func bytes(_ codecs: [VideoCodec], _ encode: (SessionGroup) throws -> Void) throws -> [[UInt8]] {
            let lists = codecs.map { _ in PacketList() }
            let group = try SessionGroup(zip(codecs, lists).map { try Self.session($0, $1, on: device) })
            defer { group.invalidate() }
            try encode(group)
            return try lists.map { try $0.values().flatMap(\.bytes) }
        }
        let together = try bytes([.h264, .hevc]) { try Self.encode($0, 8) }
        for (codec, stream) in zip([VideoCodec.h264, .hevc], together) {
            let alone = try bytes([codec]) { group in
                for index in 0..<8 {
                    let buffer = try SystemPixelBuffer(format: .nv12, size: Pictures.size)
                    try Pictures.draw(index, into: buffer)
                    try group.encode(buffer, presentation: Pictures.time(index))
                }
                try group.completeFrames()
            }[0]
            let difference = zip(alone, stream).enumerated().first { $1.0 != $1.1 }?.offset
            #expect(alone.count == stream.count && difference == nil, "\(codec): \(alone.count) bytes, \(stream.count)")
        }
    }

    /// Encodes frames on the reference driver in sessions that share its surfaces. Returns the streams and the copies.
    private static func shared(
        _ changes: [@Sendable (inout EncoderConfiguration) -> Void], frames: Int = 24, before: (Int, SessionGroup) -> Void = { _, _ in }
    ) throws -> (streams: [[UInt8]], copies: Int, group: SessionGroup) {
        let lists = changes.map { _ in PacketList() }
        var sessions: [CompressionSession] = []
        for (change, list) in zip(changes, lists) {
            var configuration = Pictures.configuration(codec: .h264)
            change(&configuration)
            sessions.append(
                try CompressionSession(configuration: configuration, device: .reference, sharingDeviceOf: sessions.first) { list.add($0) })
        }
        let group = try SessionGroup(sessions)
        defer { group.invalidate() }
        try encode(group, frames) { before($0, group) }
        return (try lists.map { try $0.values().flatMap(\.bytes) }, group.copies, group)
    }

    /// Sessions of one connection read each picture from one surface, whatever the order and number of surfaces that
    /// each needs. The streams are those of sessions that have copies.
    @Test(
        arguments: [
            [{ _ in }, { $0.codec = .hevc }], [{ _ in }, { $0.structure.bFrames = 3 }], [{ $0.structure.bFrames = 3 }, { $0.codec = .hevc }],
            [{ $0.codec = .hevc }, { $0.structure.bFrames = 2 }, { $0.rate.qp = 40 }, { $0.pipeline.lowLatency = true }],
        ] as [[@Sendable (inout EncoderConfiguration) -> Void]])
    func sessionsOfADeviceShareSurfaces(_ changes: [@Sendable (inout EncoderConfiguration) -> Void]) throws {
        let (streams, copies, group) = try Self.shared(changes)
        #expect(copies == 0 && group.failures.isEmpty)
        for (change, stream) in zip(changes, streams) {
            let alone = try Self.shared([change]).streams[0]
            #expect(alone == stream, "\(alone.count) bytes, \(stream.count)")
        }
    }

    /// The session whose surfaces are read fails in the middle, and so does a session that reads them.
    @Test(arguments: [0, 1, 2]) func lenderOfSurfacesCanFail(_ index: Int) throws {
        struct Broken: Error {}
        let changes: [@Sendable (inout EncoderConfiguration) -> Void] = [{ $0.structure.bFrames = 3 }, { _ in }, { $0.codec = .hevc }]
        let (streams, copies, group) = try Self.shared(changes) { if $0 == 11 { $1.fail(index, Broken()) } }
        #expect(copies == 0 && group.failures.keys.sorted() == [index])
        for other in 0..<3 where other != index {
            let alone = try Self.shared([changes[other]]).streams[0]
            #expect(alone == streams[other], "\(other): \(alone.count) bytes, \(streams[other].count)")
        }
    }

    /// A session in software needs a copy. The sessions of the device share another one.
    @Test func onlySessionsOfTheDeviceShareSurfaces() throws {
        let lists = [PacketList(), PacketList(), PacketList()]
        var sessions = [try Self.session(.h264, lists[0])]
        for (codec, list) in zip([VideoCodec.h264, .hevc], lists.dropFirst()) {
            sessions.append(
                try CompressionSession(
                    configuration: Pictures.configuration(codec: codec), device: .reference, sharingDeviceOf: sessions.last
                ) { list.add($0) })
        }
        let group = try SessionGroup(sessions)
        defer { group.invalidate() }
        try Self.encode(group, 8)
        #expect(group.failures.isEmpty && group.copies == 16)
        for list in lists { #expect(try list.values().map(\.presentation) == (0..<8).map(Pictures.time)) }
        for (change, list) in zip([VideoCodec.h264, .hevc], lists.dropFirst()) {
            let alone = try Self.shared([{ $0.codec = change }], frames: 8).streams[0]
            #expect(try list.values().flatMap(\.bytes) == alone)
        }
    }

    /// A failed session is left out and named, and the other's stream is complete. If all fail, it is an error.
    @Test func failedSessionDoesNotAffectOthers() throws {
        struct Broken: Error {}
        let lists = [PacketList(), PacketList()]
        let group = try SessionGroup([Self.session(.h264, lists[0]), Self.session(.h264, lists[1])])
        defer { group.invalidate() }
        try Self.encode(group, 6) { if $0 == 3 { group.fail(0, Broken()) } }
        #expect(group.failures.keys.sorted() == [0] && group.failures[0] is Broken)
        #expect(try lists[1].values().count == 6)
        // The session ends by itself.
        group.sessions[1].invalidate()
        let buffer = try group.makePixelBuffer()
        #expect(category { try group.encode(buffer, presentation: Pictures.time(6)) } != nil)
        #expect(group.failures.keys.sorted() == [0, 1])
    }

    @Test func groupNeedsSessions() { #expect(category { _ = try SessionGroup([]) } == .usage) }

    /// A wrong frame or change is the caller's error: no session gets it, and every stream continues completely.
    @Test(arguments: [DeviceSelector.software, .reference]) func refusedFrameAffectsNoSession(_ device: DeviceSelector) throws {
        let lists = [PacketList(), PacketList()]
        let group = try SessionGroup([
            Self.session(.h264, lists[0], on: device), Self.session(.hevc, lists[1], on: device),
        ])
        defer { group.invalidate() }
        try Self.encode(group, 3)
        var region = FrameOptions()
        region.regionsOfInterest = [RegionOfInterest(x: -1, y: 0, width: 16, height: 16, qpDelta: -4)]
        let mistakes: [(MediaTime, MediaTime?, FrameOptions)] = [
            (Pictures.time(2), nil, FrameOptions()), (Pictures.time(1), nil, FrameOptions()),
            (MediaTime(value: 1, timescale: 0), nil, FrameOptions()),
            (Pictures.time(3), MediaTime(value: -1, timescale: 25), FrameOptions()), (Pictures.time(3), nil, region),
        ]
        for (time, duration, options) in mistakes {
            let buffer = try group.makePixelBuffer()
            let wrong = category { try group.encode(buffer, presentation: time, duration: duration, options: options) }
            #expect(wrong == .usage && group.failures.isEmpty, "\(time) \(String(describing: duration)): \(group.failures)")
        }
        let small = try SystemPixelBuffer(format: .nv12, size: VideoSize(width: 32, height: 32))
        #expect(category { try group.encode(small, presentation: Pictures.time(3)) } == .usage)
        // There is no rate to change.
        var change = RunningChange()
        change.bitrate = BitsPerSecond(100_000)
        #expect(category { try group.change(change) } != nil)
        #expect(group.failures.isEmpty)
        for index in 3..<6 {
            let buffer = try group.makePixelBuffer()
            try Pictures.draw(index, into: buffer)
            try group.encode(buffer, presentation: Pictures.time(index))
        }
        try group.completeFrames()
        for list in lists { #expect(try list.values().map(\.presentation) == (0..<6).map(Pictures.time)) }
    }

    /// The caller is a task.
    @Test func refusedFrameOfATaskAffectsNoSession() async throws {
        let lists = [PacketList(), PacketList()]
        let group = try SessionGroup([Self.session(.h264, lists[0]), Self.session(.h264, lists[1])])
        for (index, time) in [0, 0, 1].enumerated() {
            let buffer = try await group.makePixelBuffer()
            try Pictures.draw(time, into: buffer)
            do {
                try await group.encode(buffer, presentation: Pictures.time(time))
                #expect(index != 1)
            } catch let error as VaencError {
                #expect(index == 1 && error.category == .usage, "\(error)")
            }
            #expect(group.failures.isEmpty)
        }
        try await group.completeFrames()
        group.invalidate()
        for list in lists { #expect(try list.values().map(\.presentation) == [Pictures.time(0), Pictures.time(1)]) }
    }

    /// A frame cannot be read, a session occurs twice, and an index has no session.
    @Test func otherCallerErrorsAffectNoSession() throws {
        let lists = [PacketList(), PacketList()]
        let sessions = try [Self.session(.h264, lists[0]), Self.session(.h264, lists[1], on: .reference)]
        #expect(category { _ = try SessionGroup([sessions[0], sessions[0]]) } == .usage)
        let group = try SessionGroup(sessions)
        defer { group.invalidate() }
        try Self.encode(group, 2)
        let used = try sessions[1].makePixelBuffer()
        try Pictures.draw(2, into: used)
        try sessions[1].encode(used, presentation: Pictures.time(2))
        #expect(category { try group.encode(used, presentation: Pictures.time(3)) } != nil && group.failures.isEmpty)
        struct Broken: Error {}
        group.fail(9, Broken())
        group.fail(-1, Broken())
        let buffer = try group.makePixelBuffer()
        try Pictures.draw(4, into: buffer)
        try group.encode(buffer, presentation: Pictures.time(4))
        try group.completeFrames()
        #expect(group.failures.isEmpty)
        #expect(try lists.map { try $0.values().count } == [3, 4])
    }
}
