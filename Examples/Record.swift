import Vaenc

/// Encodes the pictures and sound of a source into a file. Blocks until the source ends, or until `source.cancel()` in
/// another thread. The file is then finished with the pictures so far, and the error `interrupted` is thrown.
func record(
    _ source: any FrameSource, to output: String, codec: VideoCodec? = nil, device: DeviceSelector = .auto
) throws {
    defer { source.close() }
    var configuration = EncoderConfiguration(encoding: source.info)  // The default quality, as in `vaenc encode`.
    configuration.codec = codec

    let format = try MediaOutput.format(of: output).format
    let sound = try source.sound.map { try SoundFeed($0, mode: format.holds($0.track) ? .copy : .aac) }
    var target = MediaMuxer.Configuration(output: output)
    target.options = SinkOptions(writing: source.info)
    if sound != nil {
        target.options.timeOrigin = .zero
        target.kinds.insert(.audio)
    }
    let muxer = MediaMuxer(target) { _ in source.cancel() }  // Stop reading after an error: a camera never ends.
    defer { muxer.cancel() }  // After an error, no file remains. No effect after `stop`.

    let session = try CompressionSession(configuration: configuration, device: device) { result in
        if case .success(let packet) = result { muxer.append(packet) }
    }
    defer { session.invalidate() }
    let group = try SessionGroup([session])
    let input = try InputDecoding(source, for: group)  // Decodes on the encoding device if possible.
    muxer.start()
    muxer.describe(try session.encoderDescription)
    if let sound { muxer.describe(sound.track) }
    var (pictures, end) = (0, MediaTime.zero)
    var interruption: (any Error)?
    do {
        while let (buffer, timing) = try input.nextFrame(makeBuffer: group.makePixelBuffer) {
            try group.encode(buffer, presentation: timing.presentation, duration: timing.duration)
            pictures += 1
            end = timing.presentation + (timing.duration ?? source.info.frameRate.frameDuration)
            if let sound {
                for packet in try sound.write(source.takeSound(), until: timing.presentation) {
                    muxer.append(packet, of: sound.track)
                }
            }
        }
    } catch let error as any DescribedError where error.category == .interrupted {
        interruption = error  // By `source.cancel()`. The file is finished with the pictures so far.
    }
    if pictures == 0 {
        if interruption != nil { try muxer.stop() }  // If the muxer has failed, this call throws its error.
        throw interruption ?? VaencError(.badInput, "the source has no pictures", remedy: "check where it begins")
    }
    if let sound {
        // If the pictures were cut or interrupted, the sound ends with them.
        let end = interruption == nil ? source.info.endOfSound(pictures: pictures, end: end) : end
        let rest = try interruption == nil ? source.readSound(until: end) : source.takeSound()
        for packet in try sound.finish(rest, end: end) { muxer.append(packet, of: sound.track) }
        if sound.damagedPackets > 0 { print("\(sound.damagedPackets) packets of sound are damaged") }
    }
    try group.completeFrames()
    try muxer.stop()
    if let interruption { throw interruption }
}
