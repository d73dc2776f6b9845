import MediaFiles
import VAAPI
import VideoBase

/// One output of a run: its session, its sink and their results.
final class OutputBranch {
    let output: Transcoder.Output
    let format: OutputFormat
    let sound: SoundPlan
    let tally: FrameTally
    let sink: OutputSink
    let session: CompressionSession
    /// The latest description of the session's encoder.
    private(set) var description: EncoderDescription
    /// The error that ended the output early. It names the part of a recording that remains.
    private(set) var failure: (any Error)?
    /// The error that ended the output early, without the part of a recording that remains.
    private(set) var cause: (any Error)?
    /// The path of the part of a recording that remains.
    private(set) var keptPart: String?
    private(set) var isFinished = false

    /// Prepares the session. Opens no file.
    ///
    /// - Parameters:
    ///   - isAlone: Whether the run has no other output.
    ///   - other: The session of another output, whose connection to the device is shared; nil for the first output.
    init(
        _ output: Transcoder.Output, _ sound: SoundPlan, options: Transcoder.Options, isAlone: Bool,
        sharing other: CompressionSession?
    ) throws {
        let tally = FrameTally()
        let sink = OutputSink(isQueued: !isAlone && output.name?.contains("://") == true)
        self.output = output
        self.sound = sound
        format = try output.format()
        self.tally = tally
        self.sink = sink
        var configuration = output.configuration
        if format == .hls, configuration.structure.intraRefresh {
            throw VaencError(
                .usage, "the segments of \(output.name ?? "the playlist") begin at key frames, which `intraRefresh` replaces",
                remedy: "leave out `intraRefresh`, or use another format")
        }
        let asksDelimiters = configuration.headers.accessUnitDelimiters
        configuration.headers.accessUnitDelimiters = format.wantsDelimiters(of: configuration.codec, asked: asksDelimiters)
        session = try CompressionSession(
            configuration: configuration, device: options.device, requireHardware: options.requireHardware,
            sharingDeviceOf: other
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
            let wantsDelimiters = format.wantsDelimiters(of: session.choice.codec, asked: asksDelimiters)
            if wantsDelimiters != configuration.headers.accessUnitDelimiters { try session.set(.accessUnitDelimiters, to: wantsDelimiters) }
            description = try session.encoderDescription
        } catch {
            session.invalidate()
            throw error
        }
    }

    var name: String { output.name(description.codec) }

    /// The source's audio streams that the output contains.
    private(set) var feeds: [(stream: Int, feed: SoundFeed)] = []
    /// The index in its file of each of the source's audio streams.
    private var names: [Int] = []

    /// The reasons why audio streams, by their index in `feeds`, were left out after all.
    private(set) var feedsLeftOut: [Int: String] = [:]

    /// The damaged packets of each of the source's audio streams, as far as they were decoded.
    var damagedSounds: [DamagedSound] {
        feeds.filter { $0.feed.damagedPackets > 0 }.map { damaged($0.feed, $0.stream) }
    }

    private func damaged(_ feed: SoundFeed, _ stream: Int) -> DamagedSound {
        DamagedSound(stream: names[stream], packets: feed.damagedPackets, isCopied: feed.isCopying)
    }

    /// Opens the sink.
    ///
    /// - Parameters:
    ///   - sounds: The source's audio streams.
    ///   - options: The options of the container, including those that the source adds.
    ///   - isCancelled: Whether to stop the encoding of a long silence, or the connection to a server.
    func open(_ sounds: [SourceSound], options: SinkOptions, isCancelled: @escaping @Sendable () -> Bool) throws {
        var options = options
        names = sounds.enumerated().map { $0.element.stream ?? $0.offset }
        feeds = try zip(sounds, sound.modes).enumerated().compactMap { index, sound in
            try sound.1.map { (index, try SoundFeed(sound.0, mode: $0, isCancelled: isCancelled)) }
        }
        if hasSound { options.timeOrigin = .zero }
        try sink.open(name, options: options, description: description, sounds: feeds.map(\.feed.track), isCancelled: isCancelled)
    }

    /// Takes packets of each of the source's audio streams, and writes those up to the time of the latest picture.
    func appendAudio(_ packets: [[TrackPacket]], until time: MediaTime) {
        appendAudio(packets) { try $0.write($1, until: time, to: $2) }
    }

    /// Takes the last audio packets.
    ///
    /// - Parameter end: The time at which the audio must end; nil if it ends with the input.
    func finishAudio(_ packets: [[TrackPacket]], end: MediaTime?) {
        appendAudio(packets) { try $0.finish($1, end: end, to: $2) }
    }

    private func appendAudio(
        _ packets: [[TrackPacket]], _ body: (SoundFeed, [TrackPacket], (TrackPacket) throws -> Void) throws -> Void
    ) {
        for (index, (stream, feed)) in feeds.enumerated() where packets.indices.contains(stream) {
            do {
                try body(feed, packets[stream]) { sink.write([$0], sound: index) }
                if output.configuration.strict, feed.damagedPackets > 0 {
                    return sink.fail(damaged(feed, stream).strictError)
                }
            } catch let error as VaencError where error.category == .interrupted {
                // The pictures end too: the output is finished with the frames encoded so far.
            } catch { return sink.fail(error) }
        }
    }

    var hasSound: Bool { !feeds.isEmpty }

    /// Ends the output after an error. Removes its files, except the playable part of a recording.
    func cancel(_ error: any Error) {
        session.invalidate()
        let error = sink.failure ?? error
        let part = sink.abandon(after: error)
        if failure != nil { return }
        (failure, cause, keptPart) = (KeptRecording.error(error, parts: [part].compactMap { $0 }), error, part)
    }

    /// Completes the file after the session's last packet.
    func finish(interrupted: Bool) throws {
        description = try session.encoderDescription
        guard tally.snapshot.encoded > 0 else {
            if interrupted { throw VaencError(.interrupted, "interrupted before the first frame: nothing was written") }
            let taken = session.statistics.taken
            if taken > 0 {
                throw VaencError(
                    .deviceFailed, "the device failed on all of the \(counted(taken, "frame")) and delivered no packet",
                    remedy: "check `dmesg`" + VaencError.orSoftware)
            }
            throw VaencError(
                .badInput, "the input has no frames to encode",
                remedy: "check the input, `start` and `duration`: only pictures that begin in this part are encoded")
        }
        feedsLeftOut = sink.soundsLeftOut
        if output.configuration.strict, !interrupted, let error = soundEntries.strictError { throw error }
        try sink.finish()
        isFinished = true
    }
}
