import MediaFiles
import VAAPI
import Vaenc

/// One output of a run: its session, its sink, and what came of them.
final class EncodeBranch {
    let output: EncodeOutput
    let tally: EncodeTally
    let sink: SinkBox
    let session: CompressionSession
    /// What the session turned out to be, the latest known.
    private(set) var description: EncoderDescription
    /// What ended the output before its end.
    private(set) var failure: (any Error)?
    private(set) var isFinished = false

    /// Prepares the session; opens nothing.
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
            // Of HLS the codec says what the segments are.
            let wantsDelimiters = output.format.wantsDelimiters(of: session.choice.codec, asked: asksDelimiters)
            if wantsDelimiters != configuration.accessUnitDelimiters { try session.set(.accessUnitDelimiters, to: wantsDelimiters) }
            description = try session.encoderDescription
        } catch {
            session.invalidate()
            throw error
        }
    }

    var name: String { output.name(description.codec) }

    /// Of the source's streams of sound, those that come into the output.
    private var feeds: [(stream: Int, feed: SoundFeed)] = []
    /// The index in its file of each of the source's streams of sound.
    private var names: [Int] = []

    /// Why streams of sound, by their places in `feeds`, are not in the output after all.
    private var feedsLeftOut: [Int: String] = [:]

    /// What of each of the source's streams of sound was damaged, as far as it was decoded.
    var damagedSounds: [DamagedSound] {
        feeds.filter { $0.feed.damagedPackets > 0 }.map { DamagedSound(stream: names[$0.stream], packets: $0.feed.damagedPackets) }
    }

    /// - Parameters:
    ///   - sounds: the source's.
    ///   - isCancelled: of a long silence that is encoded: whether to stop.
    func open(_ sounds: [SourceSound], isCancelled: @escaping @Sendable () -> Bool) throws {
        names = sounds.enumerated().map { $0.element.stream ?? $0.offset }
        feeds = try zip(sounds, output.sound.modes).enumerated().compactMap { index, sound in
            try sound.1.map { (index, try SoundFeed(sound.0, mode: $0, isCancelled: isCancelled)) }
        }
        var options = output.sinkOptions
        if hears { options.timeOrigin = .zero }
        try sink.open(name, options: options, description: description, sounds: feeds.map(\.feed.track), isCancelled: isCancelled)
    }

    /// Takes packets of each of the source's streams of sound, and writes what the pictures have reached.
    func appendAudio(_ packets: [[TrackPacket]], until time: MediaTime) {
        appendAudio(packets) { try $0.write($1, until: time, to: $2) }
    }

    /// Takes the last packets of sound.
    /// - Parameter end: of the pictures, where the sound is to end with them.
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
                // The pictures end, too: what was encoded is finished.
            } catch { return sink.fail(error) }
        }
    }

    var hears: Bool { !feeds.isEmpty }

    /// Nothing of the output stays, but what plays of a recording.
    func cancel(_ error: any Error) {
        session.invalidate()
        let told = sink.abandon(after: sink.failure ?? error)
        if failure == nil { failure = told }
    }

    /// Completes the file, after the session's last packet.
    func finish(interrupted: Bool) throws {
        description = try session.encoderDescription
        guard tally.snapshot.frames.encoded > 0 else {
            if interrupted { throw VaencError(.interrupted, "interrupted before the first frame: nothing was written") }
            let taken = session.statistics.taken
            if taken > 0 {
                throw VaencError(
                    .deviceFailed, "no packet came from the device, which failed with all of the \(counted(taken, "frame"))",
                    remedy: "see `dmesg`, or use --device software")
            }
            throw VaencError(.badInput, "the input has no frames to encode", remedy: "look at --start, --duration and the input")
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

    // MARK: What became of wishes

    private var soundEntries: [EffectiveEntry] {
        var entries = output.sound.entries
        for (place, why) in feedsLeftOut where feeds.indices.contains(place) {
            // There is an entry for each of the source's streams where any of them is kept.
            let stream = feeds[place].stream
            guard entries.indices.contains(stream) else { continue }
            let entry = entries[stream]
            entries[stream] = EffectiveEntry(
                option: entry.option, asked: entry.asked ?? (entry.used == AudioMode.copy.rawValue ? "copied" : entry.used), used: "left out",
                why: why)
        }
        return entries
    }

    /// What the container makes of wishes, and what of the sound is in it.
    private var contained: [EffectiveEntry] {
        var entries: [EffectiveEntry] = []
        if let entry = output.sampleEntry {
            let (used, why) =
                switch description.codec {
                case .h264: ("avc1", "H.264 has no other")
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
                    why: hasDelimiters ? "\(container) has them in any case" : "\(container) holds none"))
        }
        return entries
    }

    /// What the session does not know of: what of the input does not come out as it went in, and what the container makes of
    /// wishes.
    func changes(_ info: SourceInfo) -> [EffectiveEntry] {
        var changes = info.changes + contained + output.missing(description.codec)
        if !info.displayMatrix.isEmpty {
            let turn = Rotation.name(info.displayMatrix)
            let isKept = output.format.hasSampleEntries
            changes.append(
                EffectiveEntry(
                    option: "rotation", asked: turn, used: isKept ? turn : "as stored",
                    why: isKept ? "said in the file, the pictures are as they were" : "\(output.format.rawValue) has no place for it"))
        }
        let depth = description.profile.bitDepth
        let used = depth > 8 ? PixelFormat.p010.rawValue : PixelFormat.nv12.rawValue
        let name = info.nativeFormat?.rawValue ?? info.nativeFormatName ?? ""
        if name.isEmpty { return changes }
        let same: [PixelFormat] = [.nv12, .i420, .yv12, .p010, .i420p10]
        if !(info.nativeFormat.map(same.contains) ?? name.hasPrefix("yuv420p")) {
            changes.append(
                // A camera gives what it has: nobody asked for it.
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

    /// The session's report in the command line's words.
    ///
    /// - Parameter unasked: options that have a value always, and were not asked for on the command line.
    func effective(_ info: SourceInfo, unasked: Set<String>) -> [EffectiveEntry] {
        var codec = EffectiveEntry(
            option: "codec", asked: nil, used: description.codec.rawValue,
            why: output.codecWhy ?? session.choice.codecWhy)
        if codec.why == CodecChoice.asked { codec.asked = codec.used }
        let contained = contained
        let ownRate = info.frameRateIsAssumed ? "assumed: \(info.kindWithoutRate) do not say it" : "the input's"
        let others = description.effective.filter { entry in
            entry.option != "codec" && !contained.contains { $0.option == entry.option }
        }
        let entries = others.map { entry in
            if entry.option == "size", let told = size(entry, info, unasked) { return told }
            guard unasked.contains(entry.option), !entry.differs else { return entry }
            var entry = entry
            entry.asked = nil
            if entry.why == "as asked" {
                entry.why = entry.option == "rateControl" ? "a QP is asked for" : entry.option == "frameRate" ? ownRate : "the input's"
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

    /// A size asked for of pictures that players turn is the one in which they are seen.
    private func size(_ entry: EffectiveEntry, _ info: SourceInfo, _ unasked: Set<String>) -> EffectiveEntry? {
        guard info.isTurnedOnItsSide, !unasked.contains("size"), info.size == output.configuration.size else { return nil }
        let seen = VideoSize(width: info.size.height, height: info.size.width)
        let isKept = output.format.hasSampleEntries
        return EffectiveEntry(
            option: entry.option, asked: "\(seen)", used: isKept && !entry.differs ? "\(seen)" : entry.used,
            why: isKept ? "as it is seen: stored as \(entry.used), and the file turns it" : "\(seen) turned: the pictures are as they were stored")
    }
}
