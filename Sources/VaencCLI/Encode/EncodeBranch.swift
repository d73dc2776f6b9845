import MediaFiles
import VAAPI
import Vaenc

/// One output of a run: its session, its sink and their results.
final class EncodeBranch {
    let output: EncodeOutput
    let tally: EncodeTally
    let sink: SinkBox
    let session: CompressionSession
    /// The latest description of the session's encoder.
    private(set) var description: EncoderDescription
    /// The error that ended the output early.
    private(set) var failure: (any Error)?
    private(set) var isFinished = false

    /// Prepares the session. Opens no file.
    init(_ output: EncodeOutput, device: DeviceSelector, requireHardware: Bool) throws {
        let tally = EncodeTally()
        let sink = SinkBox()
        self.output = output
        self.tally = tally
        self.sink = sink
        var configuration = output.configuration
        let asksDelimiters = configuration.accessUnitDelimiters
        configuration.accessUnitDelimiters = output.format.wantsDelimiters(of: configuration.wantedCodec, asked: asksDelimiters)
        session = try CompressionSession(
            configuration: configuration, device: device, requireHardware: requireHardware
        ) { result in
            switch result {
            case .success(let packet):
                tally.delivered(packet)
                sink.write(packet)
            case .failure(let error): sink.fail(error)
            }
        }
        do {
            // In HLS the codec determines the segment type, and so whether delimiters are needed.
            let wantsDelimiters = output.format.wantsDelimiters(of: session.choice.codec, asked: asksDelimiters)
            if wantsDelimiters != configuration.accessUnitDelimiters { try session.set(.accessUnitDelimiters, to: wantsDelimiters) }
            description = try session.encoderDescription
        } catch {
            session.invalidate()
            throw error
        }
    }

    var name: String { output.name(description.codec) }

    /// The source's audio streams that the output contains.
    private var feeds: [(stream: Int, feed: SoundFeed)] = []
    /// The index in its file of each of the source's audio streams.
    private var names: [Int] = []

    /// The reasons why audio streams, by their index in `feeds`, were left out after all.
    private var feedsLeftOut: [Int: String] = [:]

    /// The damaged packets of each of the source's audio streams, as far as they were decoded.
    var damagedSounds: [DamagedSound] {
        feeds.filter { $0.feed.damagedPackets > 0 }.map { DamagedSound(stream: names[$0.stream], packets: $0.feed.damagedPackets) }
    }

    /// Opens the sink.
    ///
    /// - Parameters:
    ///   - sounds: The source's audio streams.
    ///   - isCancelled: Whether to stop the encoding of a long silence, or the connection to a server.
    func open(_ sounds: [SourceSound], isCancelled: @escaping @Sendable () -> Bool) throws {
        names = sounds.enumerated().map { $0.element.stream ?? $0.offset }
        feeds = try zip(sounds, output.sound.modes).enumerated().compactMap { index, sound in
            try sound.1.map { (index, try SoundFeed(sound.0, mode: $0, isCancelled: isCancelled)) }
        }
        var options = output.sinkOptions
        if hears { options.timeOrigin = .zero }
        try sink.open(name, options: options, description: description, sounds: feeds.map(\.feed.track), isCancelled: isCancelled)
    }

    /// Takes packets of each of the source's audio streams, and writes those up to the time of the latest picture.
    func appendAudio(_ packets: [[TrackPacket]], until time: MediaTime) {
        appendAudio(packets) { try $0.write($1, until: time, to: $2) }
    }

    /// Takes the last audio packets.
    ///
    /// - Parameter end: The time at which the audio ends with the pictures; nil if it ends by itself.
    func finishAudio(_ packets: [[TrackPacket]], end: MediaTime?) {
        appendAudio(packets) { try $0.finish($1, end: end, to: $2) }
    }

    private func appendAudio(
        _ packets: [[TrackPacket]], _ body: (SoundFeed, [TrackPacket], (TrackPacket) throws -> Void) throws -> Void
    ) {
        for (index, (stream, feed)) in feeds.enumerated() where packets.indices.contains(stream) {
            do {
                try body(feed, packets[stream]) { sink.write([$0], sound: index) }
                if output.configuration.strict, feed.damagedPackets > 0 { return sink.fail(DamagedSound.refusal(names[stream])) }
            } catch let error as VaencError where error.category == .interrupted {
                // The pictures end too: the output is finished with the frames encoded so far.
            } catch { return sink.fail(error) }
        }
    }

    var hears: Bool { !feeds.isEmpty }

    /// Ends the output after an error. Removes its files, except the playable part of a recording.
    func cancel(_ error: any Error) {
        session.invalidate()
        let told = sink.abandon(after: sink.failure ?? error)
        if failure == nil { failure = told }
    }

    /// Completes the file after the session's last packet.
    func finish(interrupted: Bool) throws {
        description = try session.encoderDescription
        guard tally.snapshot.frames.encoded > 0 else {
            if interrupted { throw VaencError(.interrupted, "interrupted before the first frame: nothing was written") }
            let taken = session.statistics.taken
            if taken > 0 {
                throw VaencError(
                    .deviceFailed, "the device failed on all of the \(counted(taken, "frame")) and delivered no packet",
                    remedy: "check `dmesg`, or use --device software")
            }
            throw VaencError(
                .badInput, "the input has no frames to encode", remedy: "check --start, --duration and the input")
        }
        feedsLeftOut = sink.soundsLeftOut
        if output.configuration.strict, !interrupted, let error = soundEntries.strictError { throw error }
        try sink.finish()
        isFinished = true
    }

    var bitrate: Int {
        let counts = tally.snapshot
        let media = counts.mediaSeconds(frameRate: description.frameRate)
        return media > 0 ? Int((Double(counts.packetBytes) * 8 / media).rounded()) : 0
    }

    var frames: EncodeReport.Frames {
        var frames = tally.snapshot.frames
        frames.dropped = frames.input - frames.encoded
        return frames
    }

    var statistics: EncodeReport.Statistics {
        let counts = session.statistics
        return .init(
            taken: counts.taken, delivered: counts.delivered, dropped: counts.dropped, retried: counts.retried,
            rebuilds: counts.rebuilds, limitsBroken: counts.limitsBroken, broken: counts.broken,
            driverRates: counts.driverRates)
    }

    // MARK: Requested and effective settings

    private var soundEntries: [EffectiveEntry] {
        var entries = output.sound.entries
        for (place, why) in feedsLeftOut where feeds.indices.contains(place) {
            // If any audio stream is kept, there is an entry for each of the source's audio streams.
            let stream = feeds[place].stream
            guard entries.indices.contains(stream) else { continue }
            let entry = entries[stream]
            entries[stream] = EffectiveEntry(
                option: entry.option, asked: entry.asked ?? (entry.used == AudioMode.copy.rawValue ? "copied" : entry.used), used: "left out",
                why: why)
        }
        return entries
    }

    /// The entries for settings that the container decides, and for audio.
    private var contained: [EffectiveEntry] {
        var entries: [EffectiveEntry] = []
        if let entry = output.sampleEntry {
            let (used, why) =
                switch description.codec {
                case .h264: ("avc1", "H.264 has no other sample entry")
                case .hevc: (entry.rawValue, "as asked")
                }
            entries.append(EffectiveEntry(option: "sampleEntry", asked: entry.rawValue, used: used, why: why))
        }
        entries += soundEntries
        let asksDelimiters = output.configuration.accessUnitDelimiters
        let hasDelimiters = output.format.wantsDelimiters(of: description.codec, asked: asksDelimiters)
        if hasDelimiters != asksDelimiters {
            let container = output.format == .hls ? "hls of \(description.codec.rawValue)" : output.format.rawValue
            entries.append(
                EffectiveEntry(
                    option: "accessUnitDelimiters", asked: asksDelimiters ? "on" : nil, used: hasDelimiters ? "on" : "off",
                    why: hasDelimiters ? "\(container) always has them" : "\(container) cannot hold them"))
        }
        return entries
    }

    /// Returns the entries that the session does not know: changes of the input, and settings that the container
    /// decides.
    func changes(_ info: SourceInfo) -> [EffectiveEntry] {
        var changes = info.changes + contained + output.missing(description.codec)
        if !info.displayMatrix.isEmpty {
            let turn = Rotation.name(info.displayMatrix)
            let isKept = output.format.hasSampleEntries
            changes.append(
                EffectiveEntry(
                    option: "rotation", asked: turn, used: isKept ? turn : "as stored",
                    why: isKept
                        ? "stored as metadata, the pictures are unchanged" : "\(output.format.rawValue) cannot store it"))
        }
        let depth = description.profile.bitDepth
        let used = depth > 8 ? PixelFormat.p010.rawValue : PixelFormat.nv12.rawValue
        let name = info.nativeFormat?.rawValue ?? info.nativeFormatName ?? ""
        if name.isEmpty { return changes }
        let same: [PixelFormat] = [.nv12, .i420, .yv12, .p010, .i420p10]
        if !(info.nativeFormat.map(same.contains) ?? name.hasPrefix("yuv420p")) {
            changes.append(
                // A camera delivers what it supports: the user did not request this format.
                EffectiveEntry(
                    option: "inputFormat", asked: info.isLive ? nil : name, used: used,
                    why: info.isLive ? "\(name), encoded as \(depth)-bit 4:2:0" : "encoded as \(depth)-bit 4:2:0"))
        } else if !description.effective.contains(where: { $0.option == "pixelFormat" }),
            let entry = EffectiveEntry.pixelFormat(
                name, depth: info.bitDepth, used: depth > 8 ? .p010 : .nv12, codec: description.codec)
        {
            changes.append(entry)
        }
        return changes
    }

    /// Returns the session's effective settings in the terms of the command line.
    ///
    /// - Parameter unasked: Options that always have a value and were not given on the command line.
    func effective(_ info: SourceInfo, unasked: Set<String>) -> [EffectiveEntry] {
        let used = description.codec.rawValue
        let reason = output.codecReason ?? session.choice.codecReason
        let codec = EffectiveEntry(option: "codec", asked: reason == .requested ? used : nil, used: used, why: "\(reason)")
        let contained = contained
        let ownRate = info.frameRateIsAssumed ? "assumed: \(info.kindWithoutRate) have no frame rate" : "the input's"
        let others = description.effective.filter { entry in
            entry.option != "codec" && !contained.contains { $0.option == entry.option }
        }
        let entries = others.map { entry in
            if entry.option == "size", let told = size(entry, info, unasked) { return told }
            guard unasked.contains(entry.option), !entry.differs else { return entry }
            var entry = entry
            entry.asked = nil
            if entry.why == "as asked" {
                entry.why = entry.option == "rateControl" ? "a QP is requested" : entry.option == "frameRate" ? ownRate : "the input's"
            }
            return entry
        }
        var rate = EffectiveEntry(
            option: "frameRate", asked: nil, used: description.frameRate.description, why: ownRate)
        if !unasked.contains("frameRate") {
            rate.asked = output.configuration.frameRate.description
            rate.why = "as asked"
        }
        return [codec] + entries + (entries.contains { $0.option == "frameRate" } ? [] : [rate]) + changes(info)
    }

    /// Returns the size entry with the displayed size, if the user requested a size and players rotate the pictures by
    /// 90° or 270°.
    private func size(_ entry: EffectiveEntry, _ info: SourceInfo, _ unasked: Set<String>) -> EffectiveEntry? {
        guard info.isTurnedOnItsSide, !unasked.contains("size"), info.size == output.configuration.size else { return nil }
        let seen = VideoSize(width: info.size.height, height: info.size.width)
        let isKept = output.format.hasSampleEntries
        return EffectiveEntry(
            option: entry.option, asked: "\(seen)", used: isKept && !entry.differs ? "\(seen)" : entry.used,
            why: isKept
                ? "the displayed size: stored as \(entry.used), and players rotate the pictures"
                : "\(seen) is the displayed size: the pictures are stored without rotation")
    }
}
