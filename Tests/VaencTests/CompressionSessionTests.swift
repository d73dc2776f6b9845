import Synchronization
import TestOracles
import Testing
import VAAPI
import Vaenc

/// The library's public API, on the reference driver and in software, judged by foreign decoders.
@Suite struct CompressionSessionTests {
    private static let size = VideoSize(width: 96, height: 80)

    private func configuration(_ codec: VideoCodec? = nil) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: Self.size)
        configuration.codec = codec
        configuration.frameRate = Rational(25)
        configuration.rate.qp = 28
        configuration.rate.qpI = 28
        configuration.structure.gopFrames = 4
        configuration.structure.bFrames = 0
        return configuration
    }

    private func source() throws -> [PlanarFrame] {
        try Fixture.carphone.frames(10, width: Self.size.width, height: Self.size.height)
    }

    /// Copies an I420 picture into a buffer of the session, which is NV12, or I420 for libx265.
    private func fill(_ buffer: any PixelBuffer, with frame: PlanarFrame) throws {
        try buffer.withUnsafePlanes { planes in
            try #require((planes.format == .nv12 || planes.format == .i420) && planes.size == Self.size)
            let (width, height) = (Self.size.width, Self.size.height)
            for y in 0..<height {
                for x in 0..<width {
                    planes.base(0).storeBytes(of: frame.bytes[y * width + x], toByteOffset: y * planes.pitch(0) + x, as: UInt8.self)
                }
            }
            let chroma = width * height
            for y in 0..<height / 2 {
                for x in 0..<width / 2 {
                    let u = frame.bytes[chroma + y * width / 2 + x]
                    let v = frame.bytes[chroma + chroma / 4 + y * width / 2 + x]
                    if planes.format == .i420 {
                        planes.base(1).storeBytes(of: u, toByteOffset: y * planes.pitch(1) + x, as: UInt8.self)
                        planes.base(2).storeBytes(of: v, toByteOffset: y * planes.pitch(2) + x, as: UInt8.self)
                        continue
                    }
                    planes.base(1).storeBytes(of: u, toByteOffset: y * planes.pitch(1) + 2 * x, as: UInt8.self)
                    planes.base(1).storeBytes(of: v, toByteOffset: y * planes.pitch(1) + 2 * x + 1, as: UInt8.self)
                }
            }
        }
    }

    /// A codec, the requested bit depth, and the format of the frames.
    struct Conversion: Sendable, CustomTestStringConvertible {
        var codec: VideoCodec
        var depth: Int?
        var format: PixelFormat

        init(_ codec: VideoCodec, _ depth: Int?, _ format: PixelFormat) {
            (self.codec, self.depth, self.format) = (codec, depth, format)
        }

        var testDescription: String { "\(codec) \(depth ?? 0) \(format)" }
    }

    /// Returns a buffer of the caller's own with the picture, which has the format's bit depth.
    private func own(_ frame: PlanarFrame, as format: PixelFormat) throws -> SystemPixelBuffer {
        let buffer = try SystemPixelBuffer(format: format, size: Self.size)
        let (width, height) = (Self.size.width, Self.size.height)
        func sample(_ index: Int) -> UInt16 {
            if frame.bitDepth == 8 { return UInt16(frame.bytes[index]) }
            return UInt16(frame.bytes[2 * index]) | UInt16(frame.bytes[2 * index + 1]) << 8
        }
        try buffer.withUnsafePlanes { planes in
            func store(_ value: UInt16, _ plane: Int, row: Int, at column: Int) {
                let line = planes.base(plane) + row * planes.pitch(plane)
                if format.bitDepth > 8 {
                    line.storeBytes(of: format == .p010 ? value << 6 : value, toByteOffset: 2 * column, as: UInt16.self)
                } else {
                    line.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: column, as: UInt8.self)
                }
            }
            for y in 0..<height {
                for x in 0..<width { store(sample(y * width + x), 0, row: y, at: x) }
            }
            let (columns, rows) = (width / 2, height / 2)
            for component in 1...2 {
                for y in 0..<rows {
                    for x in 0..<columns {
                        let value = sample(width * height + ((component - 1) * rows + y) * columns + x)
                        if format.planeCount == 2 {
                            store(value, 1, row: y, at: 2 * x + component - 1)
                        } else {
                            store(value, component, row: y, at: x)
                        }
                    }
                }
            }
        }
        return buffer
    }

    /// Returns the picture in another bit depth: scaled by 4, or rounded (H.273, limited range).
    private func converted(_ frame: PlanarFrame, to depth: Int) throws -> PlanarFrame {
        if depth == frame.bitDepth { return frame }
        var bytes: [UInt8] = []
        if depth == 10 {
            for byte in frame.bytes {
                bytes.append(byte << 2)
                bytes.append(byte >> 6)
            }
        } else {
            for index in stride(from: 0, to: frame.bytes.count, by: 2) {
                let value = Int(frame.bytes[index]) + Int(frame.bytes[index + 1]) << 8
                bytes.append(UInt8(min((value + 2) / 4, 255)))
            }
        }
        return try #require(PlanarFrame(width: frame.width, height: frame.height, bitDepth: depth, bytes: bytes))
    }

    /// A caller's frames of another bit depth or layout are converted, which is reported. libavcodec decodes the stream
    /// to the pictures that were passed in.
    @Test(
        arguments: [DeviceSelector.reference, .software],
        [
            Conversion(.h264, nil, .p010), Conversion(.h264, nil, .i420p10), Conversion(.h264, nil, .i420),
            Conversion(.hevc, 8, .p010), Conversion(.hevc, 10, .nv12), Conversion(.hevc, 10, .i420), Conversion(.hevc, nil, .p010),
        ])
    func framesOfAnotherDepthAreConverted(_ device: DeviceSelector, _ conversion: Conversion) throws {
        var configuration = configuration(conversion.codec)
        configuration.bitDepth = conversion.depth
        configuration.inputFormat = conversion.format
        (configuration.rate.qp, configuration.rate.qpI) = (10, 10)
        let depth = conversion.codec == .h264 ? 8 : conversion.depth ?? conversion.format.bitDepth
        let list = PacketList()
        let session = try CompressionSession(configuration: configuration, device: device) { list.add($0) }
        defer { session.invalidate() }
        let frames = try source().prefix(3).map { conversion.format.bitDepth > 8 ? $0.widenedTo10Bits : $0 }
        for (index, frame) in frames.enumerated() {
            try session.encode(own(frame, as: conversion.format), presentation: Pictures.time(index))
        }
        try session.completeFrames()
        let entry = try session.encoderDescription.effective.first { $0.option == "pixelFormat" }
        #expect((entry?.differs == true) == (depth != conversion.format.bitDepth), "\(entry as Any)")
        let stream = try list.values().flatMap(\.bytes)
        let video = ForeignDecoder.libavcodec.decode(stream, codec: conversion.codec == .h264 ? .h264 : .hevc)
        #expect(video.messages.isEmpty && video.frames.count == frames.count, "\(video.messages)")
        for (decoded, frame) in zip(video.frames, frames) {
            let expected = try converted(frame, to: depth)
            try #require(decoded.bitDepth == depth)
            let (luma, chroma) = (PSNR.luma(decoded, expected), PSNR.chroma(decoded, expected))
            #expect(luma > 42 && chroma > 42, "\(luma), \(chroma)")
        }
    }

    /// A strict session takes frames of the depth that it codes alone.
    @Test(arguments: VideoCodec.allCases, [DeviceSelector.reference, .software]) func strictSessionsRefuseOtherDepths(
        _ codec: VideoCodec, _ device: DeviceSelector
    ) throws {
        var strict = configuration(codec)
        (strict.strict, strict.inputFormat) = (true, .nv12)
        let session = try CompressionSession(configuration: strict, device: device) { _ in }
        defer { session.invalidate() }
        let frame = try #require(source().first)
        let error = #expect(throws: VaencError.self) {
            try session.encode(own(frame.widenedTo10Bits, as: .p010), presentation: Pictures.time(0))
        }
        #expect(error?.category == .usage && error?.message.contains("10 bits") == true, "\(error as Any)")
        try session.encode(own(frame, as: .nv12), presentation: Pictures.time(0))
        try session.completeFrames()
    }

    /// Gray in RGB is luma 126 and chroma 128 in limited range.
    @Test(arguments: [DeviceSelector.reference, .software]) func framesInRGBAreConverted(_ device: DeviceSelector) throws {
        let list = PacketList()
        let session = try CompressionSession(configuration: configuration(.h264), device: device) { list.add($0) }
        defer { session.invalidate() }
        let buffer = try SystemPixelBuffer(format: .bgra, size: Self.size)
        try buffer.withUnsafePlanes { planes in
            for row in 0..<Self.size.height {
                (planes.base(0) + row * planes.pitch(0)).initializeMemory(as: UInt8.self, repeating: 128, count: Self.size.width * 4)
            }
        }
        try session.encode(buffer, presentation: Pictures.time(0))
        try session.completeFrames()
        let stream = try list.values().flatMap(\.bytes)
        let frame = try #require(ForeignDecoder.libavcodec.decode(stream).frames.first)
        #expect(frame.luma.allSatisfy { abs(Int($0) - 126) <= 2 } && frame.chroma.allSatisfy { abs(Int($0) - 128) <= 2 })
    }

    /// Gray samples are coded unchanged. If the input format is gray, the stream signals full range.
    @Test(arguments: [DeviceSelector.reference, .software], [PixelFormat.gray, .nv12])
    func grayFramesKeepTheirSamples(_ device: DeviceSelector, _ input: PixelFormat) throws {
        let list = PacketList()
        var configuration = configuration(.h264)
        configuration.inputFormat = input
        let session = try CompressionSession(configuration: configuration, device: device) { list.add($0) }
        defer { session.invalidate() }
        let buffer = try SystemPixelBuffer(format: .gray, size: Self.size)
        try buffer.withUnsafePlanes { planes in
            for row in 0..<Self.size.height {
                (planes.base(0) + row * planes.pitch(0)).initializeMemory(as: UInt8.self, repeating: 200, count: Self.size.width)
            }
        }
        try session.encode(buffer, presentation: Pictures.time(0))
        try session.completeFrames()
        let stream = try list.values().flatMap(\.bytes)
        let frame = try #require(ForeignDecoder.libavcodec.decode(stream).frames.first)
        #expect(frame.luma.allSatisfy { abs(Int($0) - 200) <= 2 } && frame.chroma.allSatisfy { abs(Int($0) - 128) <= 2 })
        let trace = try TraceHeaders(stream: stream, codec: "h264")
        #expect(trace["video_full_range_flag"].contains(1) == (input == .gray))
    }

    /// If the input format is RGB, the stream signals the range and the matrix of the conversion. A requested matrix stays.
    @Test(arguments: [DeviceSelector.reference, .software], VideoCodec.allCases)
    func conversionOfRGBIsSignaled(_ device: DeviceSelector, _ codec: VideoCodec) throws {
        for (rows, matrix, expected) in [(64, UInt8(2), "smpte170m"), (720, 2, "bt709"), (720, 9, "bt2020nc")] {
            for format in [PixelFormat.bgra, .rgba, .nv12] {
                let list = PacketList()
                var configuration = configuration(codec)
                configuration.size = VideoSize(width: 64, height: rows)
                configuration.inputFormat = format
                configuration.display.color.matrix = matrix
                let session = try CompressionSession(configuration: configuration, device: device) { list.add($0) }
                defer { session.invalidate() }
                try session.encode(try SystemPixelBuffer(format: format, size: configuration.size), presentation: Pictures.time(0))
                try session.completeFrames()
                let stream = try list.values().flatMap(\.bytes)
                let found = try ProcessRunner.run(
                    "ffprobe",
                    ["-v", "error", "-f", codec.rawValue, "-show_entries", "stream=color_range,color_space", "-of", "csv=p=0", "-"], input: stream)
                let isTagged = format != .nv12 || matrix != 2
                #expect(
                    isTagged ? found.output.contains(expected) : !found.output.contains("bt709") && !found.output.contains("smpte170m"),
                    "\(rows) \(format): \(found.output)")
                if format != .nv12 { #expect(found.output.contains("tv"), "\(rows) \(format): \(found.output)") }
            }
        }
    }

    private func judge(_ packets: [EncodedPacket], against source: [PlanarFrame]) {
        let stream = packets.flatMap(\.bytes)
        let codec = Pictures.codec(packets)
        for decoder in ForeignDecoder.all(for: codec) {
            let video = decoder.decode(stream, codec: codec)
            #expect(video.messages.isEmpty, "\(decoder): \(video.messages)")
            #expect(video.frames.count == source.count, "\(decoder)")
            for (decoded, original) in zip(video.frames, source) {
                #expect(PSNR.luma(decoded, original) > 28, "\(decoder)")
            }
        }
    }

    /// The flow of the documentation: one task draws and encodes, another reads packets.
    @Test(arguments: [DeviceSelector.reference, .software], VideoCodec.allCases)
    func tasksEncodeAndReadConcurrently(_ device: DeviceSelector, _ codec: VideoCodec) async throws {
        let source = try source()
        let session = try CompressionSession(configuration: configuration(codec), device: device)
        let reader = Task {
            var packets: [EncodedPacket] = []
            for try await packet in session.packets { packets.append(packet) }
            return packets
        }
        try await session.prepare()
        for (index, frame) in source.enumerated() {
            let buffer = try await session.makePixelBuffer()
            try fill(buffer, with: frame)
            try await session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 25))
        }
        try await session.completeFrames()
        #expect(session.pendingFrameCount == 0)
        session.invalidate()
        let packets = try await reader.value
        #expect(packets.count == source.count)
        #expect(packets.map(\.presentation) == (0..<source.count).map { MediaTime(value: Int64($0), timescale: 25) })
        #expect(packets.map(\.codingIndex) == Array(0..<source.count))
        #expect(packets.map(\.isKey) == (0..<source.count).map { $0 % 4 == 0 })
        #expect(Pictures.codec(packets).rawValue == codec.rawValue)
        judge(packets, against: source)
    }

    /// The caller's own buffer is I420, which is copied and converted.
    @Test(arguments: VideoCodec.allCases) func foreignBuffersAreAccepted(_ codec: VideoCodec) throws {
        let source = try source()
        let packets = PacketList()
        let session = try CompressionSession(configuration: configuration(codec), device: .reference) { packets.add($0) }
        for (index, frame) in source.enumerated() {
            let buffer = try SystemPixelBuffer(format: .i420, size: Self.size)
            try buffer.withUnsafePlanes { planes in
                var offset = 0
                for plane in 0..<3 {
                    let width = Self.size.width >> (plane == 0 ? 0 : 1)
                    for y in 0..<Self.size.height >> (plane == 0 ? 0 : 1) {
                        for x in 0..<width {
                            planes.base(plane).storeBytes(
                                of: frame.bytes[offset + x], toByteOffset: y * planes.pitch(plane) + x, as: UInt8.self)
                        }
                        offset += width
                    }
                }
            }
            try session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 25))
        }
        try session.completeFrames()
        session.invalidate()
        judge(try packets.values(), against: source)
    }

    @Test(arguments: VideoCodec.allCases) func forcedKeyFramesAreAtTheRequestedFrames(_ codec: VideoCodec) throws {
        let source = try source()
        let packets = PacketList()
        var configuration = configuration(codec)
        configuration.structure.gopFrames = 100
        let session = try CompressionSession(configuration: configuration, device: .reference) { packets.add($0) }
        for (index, frame) in source.enumerated() {
            let buffer = try session.makePixelBuffer()
            try fill(buffer, with: frame)
            try session.encode(
                buffer, presentation: MediaTime(value: Int64(index), timescale: 25),
                options: FrameOptions(forceKeyFrame: index == 3 || index == 7))
        }
        try session.completeFrames()
        session.invalidate()
        #expect(try packets.values().map(\.isKey) == (0..<source.count).map { [0, 3, 7].contains($0) })
        judge(try packets.values(), against: source)
    }

    @Test func completeFramesUntilATimeDeliversThoseFrames() throws {
        let source = try source()
        let packets = PacketList()
        let session = try CompressionSession(configuration: configuration(), device: .reference) { packets.add($0) }
        for (index, frame) in source.enumerated() {
            let buffer = try session.makePixelBuffer()
            try fill(buffer, with: frame)
            try session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 25))
            if index == 5 {
                try session.completeFrames(until: MediaTime(value: 4, timescale: 25))
                #expect(try packets.values().count >= 5)
            }
        }
        try session.completeFrames()
        #expect(try packets.values().count == source.count)
        session.invalidate()
    }

    @Test func invalidatedSessionRefusesCalls() throws {
        let session = try CompressionSession(configuration: configuration(), device: .reference) { _ in }
        let buffer = try session.makePixelBuffer()
        session.invalidate()
        session.invalidate()
        #expect(throws: (any Error).self) { try session.encode(buffer, presentation: .zero) }
        #expect(throws: (any Error).self) { try session.makePixelBuffer() }
    }

    @Test func timesMustIncrease() throws {
        let session = try CompressionSession(configuration: configuration(), device: .reference) { _ in }
        try session.encode(try session.makePixelBuffer(), presentation: MediaTime(value: 2, timescale: 25))
        #expect(throws: (any Error).self) {
            try session.encode(try session.makePixelBuffer(), presentation: MediaTime(value: 2, timescale: 25))
        }
        session.invalidate()
    }

    /// Several sessions of both codecs run at once.
    @Test func concurrentSessionsMakeEqualStreams() async throws {
        let source = try source()
        try await withThrowingTaskGroup(of: [EncodedPacket].self) { group in
            for index in 0..<6 {
                let codec = VideoCodec.allCases[index % 2]
                group.addTask {
                    let session = try CompressionSession(configuration: self.configuration(codec), device: .reference)
                    for (index, frame) in source.enumerated() {
                        let buffer = try await session.makePixelBuffer()
                        try self.fill(buffer, with: frame)
                        try await session.encode(buffer, presentation: MediaTime(value: Int64(index), timescale: 25))
                    }
                    try await session.completeFrames()
                    session.invalidate()
                    var packets: [EncodedPacket] = []
                    for try await packet in session.packets { packets.append(packet) }
                    return packets
                }
            }
            var first: [StreamCodec: [UInt8]] = [:]
            for try await packets in group {
                let bytes = packets.flatMap(\.bytes)
                let codec = Pictures.codec(packets)
                #expect(packets.count == source.count)
                #expect(first[codec] == nil || first[codec] == bytes)
                first[codec] = bytes
            }
            #expect(first.count == 2)
        }
    }

    /// The stream is the same if it is delivered NAL unit by NAL unit.
    @Test(.timeLimit(.minutes(60)), arguments: VideoCodec.allCases) func unitsMakeUpThePackets(_ codec: VideoCodec) throws {
        let packets = PacketList()
        let configuration = Pictures.configuration(codec: codec)
        let whole = try CompressionSession(configuration: configuration, device: .reference) { packets.add($0) }
        try Pictures.encode(0..<4, on: whole)
        try whole.completeFrames()
        whole.invalidate()
        let units = Mutex<[EncodedUnit]>([])
        let apart = try CompressionSession(unitsOf: configuration, device: .reference) { result in
            if case .success(let unit) = result { units.withLock { $0.append(unit) } }
        }
        try Pictures.encode(0..<4, on: apart)
        try apart.completeFrames()
        apart.invalidate()
        var rebuilt: [[UInt8]] = []
        var ends = 0
        for unit in units.withLock({ $0 }) {
            switch unit {
            case .parameterSets(let sets):
                #expect(sets.map { Pictures.type($0, codec) } == (codec == .h264 ? [7, 8] : [32, 33, 34]))
                rebuilt += sets
            case .unit(let bytes, let packet, let isLast):
                #expect(packet.bytes.isEmpty && packet.displayIndex == ends)
                rebuilt.append(bytes)
                if isLast { ends += 1 }
            }
        }
        #expect(ends == 4)
        // An access unit may begin with a delimiter or message before its parameter sets.
        #expect(Set(rebuilt) == Set(try packets.values().flatMap(\.units)))
        #expect(rebuilt.count == (try packets.values().flatMap(\.units).count))
    }
}
