import Vaenc

/// Encodes H.264 and HEVC at once, and reads each frame once. Halfway, both continue with a quarter of the bit rate.
func twoCodecs(_ input: String, _ h264: String, _ hevc: String, device: DeviceSelector) throws {
    let source = try MediaInput.open(input)
    defer { source.close() }
    var muxers: [MediaMuxer] = []
    var sessions: [CompressionSession] = []
    defer { for session in sessions { session.invalidate() } }
    defer { for muxer in muxers { muxer.cancel() } }
    for (codec, output) in [(VideoCodec.h264, h264), (.hevc, hevc)] {
        var configuration = EncoderConfiguration(size: source.info.size)
        configuration.codec = codec
        configuration.frameRate = source.info.frameRate
        configuration.rate.rateControl = .vbr
        configuration.rate.bitrate = BitsPerSecond(800_000)
        configuration.structure.bFrames = 0
        configuration.structure.gopDuration = .seconds(1)
        let muxer = MediaMuxer(MediaMuxer.Configuration(output: output))
        muxers.append(muxer)
        sessions.append(
            try CompressionSession(configuration: configuration, device: device, sharingDeviceOf: sessions.first) { result in
                if case .success(let packet) = result { muxer.append(packet) }
            })
        muxer.start()
        muxer.describe(try sessions[sessions.count - 1].encoderDescription)
    }
    let group = try SessionGroup(sessions)
    var count = 0
    while true {
        if count * 2 == source.info.frameCount {
            var change = RunningChange()
            change.bitrate = BitsPerSecond(200_000)
            try group.change(change)
        }
        let buffer = try group.makePixelBuffer()
        guard let timing = try unsafe buffer.withUnsafePlanes({ unsafe try source.readFrame(into: $0) }) else { break }
        try group.encode(buffer, presentation: timing.presentation)
        count += 1
    }
    try group.completeFrames()
    for (index, muxer) in muxers.enumerated() {
        if let failure = group.failures[index] { throw failure }
        try muxer.stop()
    }
}
