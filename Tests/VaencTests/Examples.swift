import MediaFiles
import VAAPI
import Vaenc

// The examples of README.md and docs/LIBRARY.md, for the compiler: DocumentTests compares them line by line.


private func send(_ bytes: [UInt8]) {}
private func send(_ bytes: [UInt8], at time: MediaTime, _ isLast: Bool) {}
private func report(_ error: any Error) {}
private func configureReceiver(_ sets: [[UInt8]]) {}
private func awaitAcknowledgement(_ packet: EncodedPacket) {}
private func allIsOut(_ result: Result<Void, any Error>) {}
private func draw(into planes: PixelPlanes) {}

func readmeExample(_ times: [MediaTime]) async throws {
    final class Files: Sendable {
        func append(_ bytes: [UInt8]) {}
    }
    let file = Files()
    var configuration = EncoderConfiguration(size: VideoSize(width: 1280, height: 720))
    configuration.frameRate = Rational(30)
    configuration.qp = 26
    let session = try CompressionSession(configuration: configuration, device: .auto)
    let writer = Task { for try await packet in session.packets { file.append(packet.bytes) } }

    for time in times {
        let buffer = try await session.makePixelBuffer()
        try unsafe buffer.withUnsafePlanes { planes in draw(into: planes) }
        try await session.encode(buffer, presentation: time)
    }
    try await session.completeFrames()
    session.invalidate()
    try await writer.value
}

func deepExample() -> EncoderConfiguration {
    var configuration = EncoderConfiguration(size: VideoSize(width: 3840, height: 2160))
    configuration.codec = .hevc
    configuration.inputFormat = .p010
    configuration.color = ColorDescription(primaries: 9, transfer: 16, matrix: 9, fullRange: false)
    configuration.masteringDisplay = MasteringDisplay("G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)")
    configuration.contentLight = ContentLight(maxContentLight: 1000, maxFrameAverageLight: 400)
    return configuration
}

func groupExample(_ h264: CompressionSession, _ hevc: CompressionSession, at time: MediaTime) throws {
    let group = try SessionGroup([h264, hevc])
    let buffer = try group.makePixelBuffer()
    try unsafe buffer.withUnsafePlanes { planes in draw(into: planes) }
    try group.encode(buffer, presentation: time)
    try group.completeFrames()
}

func handlerExample(_ configuration: EncoderConfiguration) throws {
    let session = try CompressionSession(configuration: configuration, device: .auto) { result in
        switch result {
        case .success(let packet): send(packet.bytes)
        case .failure(let error): report(error)
        }
    }
    session.invalidate()
}

func unitExample(_ configuration: EncoderConfiguration) throws {
    let session = try CompressionSession(unitsOf: configuration) { result in
        switch result {
        case .success(.parameterSets(let sets)): configureReceiver(sets)
        case .success(.unit(let bytes, let packet, let isLast)): send(bytes, at: packet.presentation, isLast)
        case .failure(let error): report(error)
        }
    }
    session.invalidate()
}

func propertyExample(_ session: CompressionSession) throws {
    for property in try session.supportedProperties where property.changesWhileRunning {
        print(property.name, property.type, property.minimum ?? 0, property.maximum ?? 0)
    }
    try session.set(.rateControl, to: .vbr)
    try session.set(.averageBitRate, to: BitsPerSecond(4_000_000))
    try session.set(["MaxKeyFrameInterval": 250, "AllowFrameReordering": false])
    let stored = session.serializableProperties
    print(stored)
}

func changeExample(_ session: CompressionSession) async throws {
    var change = RunningChange()
    change.bitrate = BitsPerSecond(1_000_000)
    change.frameRate = Rational(15)
    try session.change(change)
    var smaller = session.configuration
    smaller.size = VideoSize(width: 640, height: 360)
    try await session.swap(to: smaller)
}

func lossExample(
    _ session: CompressionSession, _ packet: EncodedPacket, _ buffer: any PixelBuffer, _ time: MediaTime,
    received: [Int], lost: [Int]
) throws {
    if packet.acknowledgementToken != nil { awaitAcknowledgement(packet) }
    session.acknowledge(received)
    var options = FrameOptions()
    options.refreshFromLongTerm = true
    try session.encode(buffer, presentation: time, options: options)
    try session.invalidateReferences(displayIndices: lost)
}

func endExample(_ session: CompressionSession) async throws {
    session.flush { result in allIsOut(result) }
    try await session.refresh()
    let counts = session.statistics
    precondition(counts.taken == counts.delivered + counts.dropped + counts.pending)
    session.invalidate()
}

func muxerExample(
    _ session: CompressionSession, _ packet: EncodedPacket, _ samples: [UInt8], at time: MediaTime
) async throws {
    var configuration = MediaMuxer.Configuration(output: "out.mp4")
    configuration.kinds = [.video, .audio]
    configuration.options.survivesKill = true
    let muxer = MediaMuxer(configuration) { error in report(error) }
    muxer.start()
    muxer.describe(try session.encoderDescription)

    let microphone = try AudioTranscoder(pcm: PCMFormat(sample: .s16, rate: 48_000, channels: 1), settings: .microphone)
    muxer.describe(microphone.track)
    for packet in try microphone.write(samples, at: time) { muxer.append(packet, of: microphone.track) }
    muxer.append(packet)

    for packet in try microphone.finish() { muxer.append(packet, of: microphone.track) }
    try await muxer.stop()
}

func framingExample(_ packet: EncodedPacket, _ bytes: [UInt8], _ receive: () -> [UInt8]?) throws {
    var output: [UInt8] = []
    var sample = packet.bytes
    LengthPrefixed.convert(annexB: &sample)
    try LengthPrefixed.convertToAnnexB(&sample)

    var converter = StreamConverter(from: .annexB, to: .lengthPrefixed(.two))
    while let piece = receive() { try converter.append(piece, to: &output) }
    try converter.finish(to: &output)

    let record = try DecoderConfiguration(record: bytes)
    print(record.codec, record.lengthSize, record.units)
}

func decodingExample(_ samples: [EncodedPacket], hvcC: [UInt8]) throws {
    @Sendable func show(_ buffer: any PixelBuffer, at time: MediaTime) {}
    @Sendable func report(_ picture: SkippedPicture) {}
    @Sendable func report(_ error: any Error) {}
    var decoding = DecompressionConfiguration(codec: .hevc)
    decoding.framing = .lengthPrefixed(4)
    decoding.record = hvcC
    let decompression = try DecompressionSession(configuration: decoding, device: .auto) { result in
        switch result {
        case .success(.frame(let frame)): show(frame.buffer, at: frame.timing.presentation)
        case .success(.skipped(let picture)): report(picture)
        case .failure(let error): report(error)
        }
    }
    for sample in samples { try decompression.decode(sample.bytes, presentation: sample.presentation) }
    try decompression.finish()
}
