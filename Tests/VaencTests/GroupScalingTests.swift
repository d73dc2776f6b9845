import MediaFiles
import ReferenceDisplay
import TestOracles
import Testing
import VAAPI
import Vaenc
import VideoBase

/// Sessions of several sizes in one group: the device scales the pictures from one surface.
@Suite struct GroupScalingTests {
    /// A session of a group on the reference driver.
    struct Rung: Sendable {
        var size: VideoSize
        var change: @Sendable (inout EncoderConfiguration) -> Void

        init(_ width: Int, _ height: Int, _ change: @escaping @Sendable (inout EncoderConfiguration) -> Void = { _ in }) {
            (size, self.change) = (VideoSize(width: width, height: height), change)
        }

        var configuration: EncoderConfiguration {
            var configuration = Pictures.configuration(size, codec: .h264)
            // The coding error is far below the difference between two scalers.
            configuration.rate.qp = 4
            configuration.rate.qpI = 4
            configuration.rate.qpB = 4
            change(&configuration)
            return configuration
        }
    }

    static let deep: @Sendable (inout EncoderConfiguration) -> Void = { configuration in
        configuration.codec = .hevc
        configuration.inputFormat = .p010
        configuration.bitDepth = 10
    }

    struct Outcome {
        var packets: [[EncodedPacket]] = []
        var copies = 0
        var scaledOnDevice = 0
        var failures: [Int: any Error] = [:]
        var scaling: [EffectiveEntry?] = []
        var statistics: [EncoderStatistics] = []
        var counts: JSONValue?

        func stream(_ index: Int) -> [UInt8] { packets[index].flatMap(\.bytes) }
        func frames(_ index: Int, _ sourceLocation: SourceLocation = #_sourceLocation) -> [PlanarFrame] {
            Pictures.decode(packets[index], sourceLocation)
        }
        /// Whether the program mapped only the surfaces that it drew. The encoder maps a surface that becomes free for the
        /// next frame, so each frame counts once or twice.
        func isDrawnOnce(_ frames: Int) -> Bool {
            let copies = ["getImage", "putImage", "deriveImage", "import", "export"].map { counts?["copies"]?[$0]?.int }
            return copies.allSatisfy { $0 == 0 } && (1...2 * frames).contains(counts?["maps"]?.int ?? 0)
        }
    }

    /// Copies an I420 picture into a buffer of NV12 or P010.
    static func fill(_ buffer: any PixelBuffer, with frame: PlanarFrame) throws {
        try buffer.withUnsafePlanes { planes in
            let shift = planes.format == .p010 ? (frame.bitDepth > 8 ? 6 : 8) : 0
            func sample(_ index: Int) -> Int {
                frame.bitDepth > 8 ? Int(frame.bytes[2 * index]) | Int(frame.bytes[2 * index + 1]) << 8 : Int(frame.bytes[index])
            }
            func store(_ value: Int, _ plane: Int, _ x: Int, _ y: Int) {
                if planes.format == .p010 {
                    planes.base(plane).storeBytes(of: UInt16(value << shift), toByteOffset: y * planes.pitch(plane) + 2 * x, as: UInt16.self)
                } else {
                    planes.base(plane).storeBytes(of: UInt8(value), toByteOffset: y * planes.pitch(plane) + x, as: UInt8.self)
                }
            }
            let (width, height) = (frame.width, frame.height)
            for y in 0..<height { for x in 0..<width { store(sample(y * width + x), 0, x, y) } }
            let (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
            for y in 0..<rows {
                for x in 0..<columns {
                    store(sample(width * height + y * columns + x), 1, 2 * x, y)
                    store(sample(width * height + columns * rows + y * columns + x), 1, 2 * x + 1, y)
                }
            }
        }
    }

    /// Encodes frames in sessions of one display.
    static func run(
        _ rungs: [Rung], _ frames: [PlanarFrame], format: PixelFormat = .nv12, frameSize: VideoSize? = nil,
        variables: [String: String] = [:], faults: [String: String] = [:], ownMemory: Bool = false,
        separate: Set<Int> = [], before: (Int, SessionGroup) -> Void = { _, _ in }
    ) throws -> Outcome {
        try Files.withTemporaryFolder { folder in
            var outcome = Outcome()
            let lists = rungs.map { _ in PacketList() }
            do {
                let display = try ReferenceDisplay.open(
                    variables.merging(["VAENC_REFERENCE_COUNTS": folder + "/counts", "VAENC_REFERENCE_STRICT": "1"]) { $1 }, faults: faults)
                let sessions = try rungs.indices.map { index in
                    let configuration = rungs[index].configuration
                    if separate.contains(index) {
                        return try CompressionSession(configuration: configuration, device: .software) { lists[index].add($0) }
                    }
                    return try CompressionSession(configuration: configuration, device: .reference, on: display) { lists[index].add($0) }
                }
                let group = try SessionGroup(sessions, format: format, frameSize: frameSize)
                defer { group.invalidate() }
                for (index, frame) in frames.enumerated() {
                    before(index, group)
                    let buffer: any PixelBuffer =
                        try ownMemory ? SystemPixelBuffer(format: format, size: group.frameSize) : group.makePixelBuffer()
                    try fill(buffer, with: frame)
                    try group.encode(buffer, presentation: Pictures.time(index))
                }
                try group.completeFrames()
                (outcome.copies, outcome.scaledOnDevice, outcome.failures) = (group.copies, group.scaledOnDevice, group.failures)
                outcome.scaling = sessions.map { session in (try? session.encoderDescription)?.effective.first { $0.option == "scaling" } }
                outcome.statistics = sessions.map(\.statistics)
            }
            outcome.packets = try lists.map { try $0.values() }
            Polling.wait { Files.exists(folder + "/counts") }
            let lines = String(decoding: try Files.read(folder + "/counts"), as: UTF8.self).split(separator: "\n")
            outcome.counts = lines.last.flatMap { JSONValue(String($0)) }
            return outcome
        }
    }

    /// Returns the frames as ffmpeg's libswscale scales them. A side that is odd is extended to the next even number, as
    /// the encoder codes it.
    static func expected(_ frames: [PlanarFrame], _ size: VideoSize, deep: Bool = false, filters: String? = nil) throws -> [PlanarFrame] {
        let first = try #require(frames.first)
        let even = size.aligned(to: 2)
        return try Files.withTemporaryFolder { folder in
            try Files.write(frames.flatMap(\.bytes), to: folder + "/in.yuv")
            let (from, to) = (first.bitDepth > 8 ? "yuv420p10le" : "yuv420p", deep ? "yuv420p10le" : "yuv420p")
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", from, "-s", "\(first.width)x\(first.height)", "-i", "in.yuv", "-vf",
                    filters ?? "scale=\(even.width):\(even.height):flags=bicubic+accurate_rnd+full_chroma_int", "-pix_fmt", to, "-vsync", "0", "-f",
                    "rawvideo",
                    "out.yuv",
                ], directory: folder)
            try #require(result.status == 0, "\(result.errors)")
            return try #require(
                PlanarFrame.split(try Files.read(folder + "/out.yuv"), width: even.width, height: even.height, bitDepth: deep ? 10 : 8))
        }
    }

    static func expectEqual(
        _ frames: [PlanarFrame], _ expected: [PlanarFrame], above limit: Double, _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(frames.count == expected.count, "\(what)", sourceLocation: sourceLocation)
        for (index, (frame, other)) in zip(frames, expected).enumerated() {
            guard frame.width == other.width, frame.height == other.height, frame.bitDepth == other.bitDepth else {
                Issue.record("\(what): \(frame.width)x\(frame.height) of \(frame.bitDepth) bits", sourceLocation: sourceLocation)
                return
            }
            let likeness = PSNR.all(frame, other)
            #expect(likeness > limit, "\(what), picture \(index)", sourceLocation: sourceLocation)
        }
    }

    static let count = 6

    /// Five sessions of three sizes. The device scales each picture once for each size, and no sample leaves it. The
    /// program maps only the surfaces that it draws.
    @Test func deviceScalesOnceForEachSize() throws {
        let frames = try Fixture.carphone.frames(Self.count)
        let rungs = [
            Rung(96, 80), Rung(176, 144), Rung(88, 72) { $0.codec = .hevc }, Rung(96, 80) { $0.codec = .hevc },
            Rung(176, 144) { $0.structure.bFrames = 2 },
        ]
        let done = try Self.run(rungs, frames)
        #expect(done.failures.isEmpty && done.copies == 0 && done.scaledOnDevice == 2 * Self.count, "\(done.failures)")
        #expect(done.counts?["processed"]?.int == 2 * Self.count && done.counts?["encoded"]?.int == 5 * Self.count, "\(done.counts as Any)")
        #expect(done.isDrawnOnce(Self.count), "\(done.counts as Any)")
        for index in [0, 2, 3] {
            #expect(done.scaling[index]?.used == "device" && done.scaling[index]?.why.description.contains("176×144") == true, "\(done.scaling)")
            Self.expectEqual(done.frames(index), try Self.expected(frames, rungs[index].size), above: 42, "session \(index)")
        }
        // Sessions of the frames' size code what they code alone.
        for index in [1, 4] {
            #expect(done.scaling[index] == nil)
            #expect(try done.stream(index) == Self.run([rungs[index]], frames).stream(0), "session \(index)")
        }
    }

    /// Larger pictures, another shape, and odd sides.
    @Test(arguments: [Rung(256, 200), Rung(200, 64), Rung(95, 79), Rung(351, 241)])
    func otherShapesAndOddSides(_ rung: Rung) throws {
        let frames = try Fixture.carphone.frames(3)
        let rungs = [Rung(176, 144), rung]
        let size = VideoSize(width: 176, height: 144)
        let done = try Self.run(rungs, frames, frameSize: size)
        #expect(done.failures.isEmpty && done.copies == 0 && done.scaledOnDevice == 3)
        Self.expectEqual(done.frames(1), try Self.expected(frames, rung.size), above: 42, "\(rung.size)")
        // In software, the last column and row are repeated instead.
        let software = try Self.run(rungs, frames, frameSize: size, variables: ["VAENC_REFERENCE_PROCESSING": "0"])
        #expect(software.failures.isEmpty && software.scaledOnDevice == 0)
        let area = VideoSize(width: rung.size.width & ~1, height: rung.size.height & ~1)
        let scaled = try Self.expected(
            frames, area, filters: "scale=\(rung.size.width):\(rung.size.height):flags=bicubic+accurate_rnd,crop=\(area.width):\(area.height):0:0")
        let coded = software.frames(1).map { $0.cropped(x: 0, y: 0, width: area.width, height: area.height) }
        Self.expectEqual(coded, scaled, above: 42, "\(rung.size) in software")
    }

    /// Frames of 10 bits for sessions of 8 and 10 bits, and frames of 8 bits for both.
    @Test(arguments: [true, false]) func depths(_ isDeep: Bool) throws {
        let frames = try Fixture.carphone.frames(3).map { isDeep ? $0.widenedTo10Bits : $0 }
        let rungs = [isDeep ? Rung(176, 144, Self.deep) : Rung(176, 144), Rung(128, 96, Self.deep), Rung(128, 96), Rung(64, 64, Self.deep)]
        let done = try Self.run(rungs, frames, format: isDeep ? .p010 : .nv12)
        #expect(done.failures.isEmpty && done.copies == 0 && done.scaledOnDevice == 9, "\(done.failures) \(done.copies) \(done.scaling)")
        #expect(done.isDrawnOnce(3), "\(done.counts as Any)")
        for index in 1..<4 {
            let expected = try Self.expected(frames, rungs[index].size, deep: index != 2)
            Self.expectEqual(done.frames(index), expected, above: 42, "session \(index)")
        }
    }

    /// A driver of which two encoders cannot read one surface: each session gets a scaled picture of its own.
    @Test func surfacesThatCannotBeShared() throws {
        let frames = try Fixture.bikes.frames(3, width: 320, height: 256)
        let rungs = [Rung(320, 256), Rung(256, 144), Rung(256, 144), Rung(288, 160)]
        let done = try Self.run(rungs, frames, variables: ["VAENC_REFERENCE_PERSONALITY": "radeonsi-navi21"])
        #expect(done.failures.isEmpty && done.copies == 0 && done.scaledOnDevice == 9, "\(done.failures) \(done.copies)")
        #expect(done.counts?["processed"]?.int == 9)
        for index in 1...3 { Self.expectEqual(done.frames(index), try Self.expected(frames, rungs[index].size), above: 38, "session \(index)") }
    }

    /// Full-range samples keep their range.
    @Test func rangeIsKept() throws {
        let frames = try Fixture.carphone.frames(2)
        let full: @Sendable (inout EncoderConfiguration) -> Void = { $0.display.color.fullRange = true }
        let done = try Self.run([Rung(176, 144, full), Rung(96, 80, full)], frames)
        #expect(done.failures.isEmpty && done.copies == 0)
        Self.expectEqual(done.frames(1), try Self.expected(frames, VideoSize(width: 96, height: 80)), above: 42, "full range")
    }

    /// A device without a video processor: the CPU scales, and the report has the reason.
    @Test func deviceWithoutProcessor() throws {
        let frames = try Fixture.carphone.frames(Self.count)
        let rungs = [Rung(176, 144), Rung(96, 80), Rung(88, 72)]
        let done = try Self.run(rungs, frames, variables: ["VAENC_REFERENCE_PROCESSING": "0"])
        #expect(done.failures.isEmpty && done.scaledOnDevice == 0 && done.copies == 3 * Self.count)
        #expect(done.counts?["processed"]?.int == 0)
        for index in 1...2 {
            #expect(done.scaling[index]?.used == "software" && done.scaling[index]?.why.description.contains("no video processor") == true)
            Self.expectEqual(done.frames(index), try Self.expected(frames, rungs[index].size), above: 42, "session \(index)")
        }
        #expect(try done.stream(0) == Self.run([rungs[0]], frames).stream(0))
    }

    /// Frames in the program's memory are copied once, for all sessions of the device. A software session scales itself.
    @Test func framesInMemoryAndSoftwareSession() throws {
        let frames = try Fixture.carphone.frames(Self.count)
        let rungs = [Rung(96, 80), Rung(176, 144), Rung(88, 72), Rung(64, 48)]
        let done = try Self.run(rungs, frames, ownMemory: true, separate: [3])
        #expect(done.failures.isEmpty && done.copies == 2 * Self.count && done.scaledOnDevice == 2 * Self.count, "\(done.copies)")
        #expect(done.scaling[3]?.used == "software" && done.scaling[3]?.why.description.contains("in software") == true)
        for index in [0, 2, 3] {
            Self.expectEqual(done.frames(index), try Self.expected(frames, rungs[index].size), above: index == 3 ? 40 : 42, "session \(index)")
        }
    }

    /// No session has the frames' size.
    @Test func framesOfAnotherSizeThanAllSessions() throws {
        let frames = try Fixture.carphone.frames(3)
        let rungs = [Rung(96, 80), Rung(88, 72)]
        let done = try Self.run(rungs, frames, frameSize: VideoSize(width: 176, height: 144))
        #expect(done.failures.isEmpty && done.packets.allSatisfy { $0.count == 3 })
        for index in 0...1 {
            #expect(done.scaling[index] != nil)
            Self.expectEqual(done.frames(index), try Self.expected(frames, rungs[index].size), above: 42, "session \(index)")
        }
    }

    /// A session of another size, and the session whose surfaces are read, fail in the middle.
    @Test(arguments: [0, 1]) func sessionsCanFail(_ failing: Int) throws {
        struct Broken: Error {}
        let frames = try Fixture.carphone.frames(Self.count)
        let rungs = [Rung(176, 144), Rung(96, 80) { $0.structure.bFrames = 2 }, Rung(88, 72)]
        let done = try Self.run(rungs, frames) { if $0 == 3 { $1.fail(failing, Broken()) } }
        #expect(done.failures.keys.sorted() == [failing])
        for index in 0...2 where index != failing {
            #expect(done.packets[index].count == Self.count)
            let expected = index == 0 ? frames : try Self.expected(frames, rungs[index].size)
            Self.expectEqual(done.frames(index), expected, above: index == 0 ? 38 : 42, "session \(index)")
        }
    }

    /// The video processor fails once or always: the CPU scales these pictures, and every picture is coded.
    @Test(arguments: [
        ("vaSyncSurface2@2=status:1", "device"), ("vaSyncSurface2@*/2=status:1", "device"), ("vaSyncSurface2@1+=status:1", "software"),
    ])
    func failingProcessorLosesNoPicture(_ faults: String, _ used: String) throws {
        let frames = try Fixture.carphone.frames(Self.count)
        let rungs = [Rung(176, 144), Rung(96, 80)]
        let done = try Self.run(rungs, frames, faults: ["VAENC_FAULT": "# group scaling; \(faults)"])
        #expect(done.failures.isEmpty && done.copies > 0)
        #expect(done.scaling[1]?.used == used && done.scaling[1]?.why.description.contains("vaSyncSurface2") == true, "\(done.scaling)")
        #expect(done.statistics.allSatisfy { $0.delivered == Self.count && $0.dropped == 0 })
        Self.expectEqual(done.frames(1), try Self.expected(frames, rungs[1].size), above: 42, faults)
    }

    /// The device is lost, or an encoder fails: each frame is delivered or counted as dropped, in each session.
    @Test(arguments: [
        "vaEndPicture@9=lost", "vaSyncSurface2@3=lost", "vaEndPicture@10=status:24", "vaBeginPicture@8=status:1", "vaMapBuffer@4=status:1",
    ])
    func lostDeviceLosesOnlyCountedFrames(_ faults: String) throws {
        let frames = try Fixture.carphone.frames(12)
        let rungs = [Rung(176, 144), Rung(96, 80), Rung(88, 72) { $0.structure.bFrames = 2 }]
        let done = try Self.run(rungs, frames, faults: ["VAENC_FAULT": "# group loss; \(faults)"])
        #expect(done.failures.isEmpty, "\(done.failures)")
        for (index, statistics) in done.statistics.enumerated() {
            #expect(
                statistics.taken == 12 && statistics.delivered + statistics.dropped == 12 && statistics.pending == 0,
                "session \(index): \(statistics)")
            #expect(done.packets[index].count == statistics.delivered && statistics.delivered >= 3)
            let expected = index == 0 ? frames : try Self.expected(frames, rungs[index].size)
            for packet in done.packets[index] { #expect(packet.presentation.seconds < 12) }
            for frame in done.frames(index) { #expect(expected.contains { PSNR.all(frame, $0) > 36 }, "session \(index)") }
        }
    }

    /// A task encodes, and a region of interest is valid in all sizes.
    @Test func taskAndRegions() async throws {
        let display = try ReferenceDisplay.open()
        let rungs = [Rung(176, 144), Rung(96, 80), Rung(88, 72)]
        let lists = rungs.map { _ in PacketList() }
        let sessions = try zip(rungs, lists).map { rung, list in
            try CompressionSession(configuration: rung.configuration, device: .reference, on: display) { list.add($0) }
        }
        let group = try SessionGroup(sessions)
        let frames = try Fixture.carphone.frames(Self.count)
        var options = FrameOptions()
        options.regionsOfInterest = [RegionOfInterest(x: 160, y: 130, width: 16, height: 14, qpDelta: -2)]
        for (index, frame) in frames.enumerated() {
            let buffer = try await group.makePixelBuffer()
            try Self.fill(buffer, with: frame)
            try await group.encode(buffer, presentation: Pictures.time(index), options: options)
        }
        try await group.completeFrames()
        group.invalidate()
        #expect(group.failures.isEmpty && group.copies == 0 && group.scaledOnDevice == 2 * Self.count, "\(group.failures)")
        for (rung, list) in zip(rungs.dropFirst(), lists.dropFirst()) {
            Self.expectEqual(Pictures.decode(try list.values()), try Self.expected(frames, rung.size), above: 42, "\(rung.size)")
        }
    }

    /// The size of the frames is checked.
    @Test func invalidFrameSizes() throws {
        let list = PacketList()
        let session = try CompressionSession(configuration: Rung(96, 80).configuration, device: .software) { list.add($0) }
        defer { session.invalidate() }
        for size in [VideoSize(width: 0, height: 80), VideoSize(width: 96, height: -1), VideoSize(width: 1 << 40, height: 80)] {
            #expect(category { _ = try SessionGroup([session], frameSize: size) } == .usage)
        }
        let group = try SessionGroup([session], frameSize: VideoSize(width: 192, height: 160))
        let own = try SystemPixelBuffer(format: .nv12, size: VideoSize(width: 96, height: 80))
        #expect(category { try group.encode(own, presentation: Pictures.time(0)) } == .usage)
        try Pictures.draw(0, into: try group.makePixelBuffer())
        try group.encode(try group.makePixelBuffer(), presentation: Pictures.time(0))
        try group.completeFrames()
        #expect(try list.values().count == 1 && group.copies == 1)
    }
}
