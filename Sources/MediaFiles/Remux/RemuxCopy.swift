import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Copies packets from a file to a container, once. Only one thread may use it at a time.
@safe final class RemuxCopy {
    let input: InputContext
    private let options: RemuxOptions
    private var output: RemuxOutput
    /// The stream at whose key frames the output is cut; nil if there is no stream.
    let leader: Int?
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods.
    private var scratch: UnsafeMutablePointer<AVPacket>?
    /// The tracks that are copied, by the index of their stream in the input; nil for streams that are left out.
    var tracks: [CopiedTrack?]
    var range: RemuxRange
    var beginning = RemuxBeginning()
    /// The cut of the input's edit list; nil if the output has an edit list, or the input has none.
    private var cut: EditCut?
    private var span = CopiedSpan()
    private var untimedPictures = UntimedPictures()
    private var record: RemuxRecord
    var report: RemuxReport { record.report }
    var packetCount: Int { record.packetCount }

    init(
        _ input: InputContext, _ plan: RemuxPlan, to destination: any SinkDestination, format: OutputFormat,
        options: RemuxOptions
    ) throws {
        self.input = input
        self.options = options
        let av = unsafe input.av
        let codec = VideoCodec(ofPicturesIn: plan.tracks)
        output = try RemuxOutput(format, plan, to: destination, codec: codec)
        record = RemuxRecord(plan, isStrict: options.strict)
        let streams: [MediaTrack?] = plan.trackIndices.map { $0.map { plan.tracks[$0] } }
        for (index, track) in streams.enumerated() where track == nil {
            unsafe input.context.pointee.streams[index]!.pointee.discard = AVDISCARD_ALL
        }
        leader = streams.firstIndex { $0?.kind == .video && $0?.isAttachedPicture == false } ?? streams.firstIndex { $0 != nil }
        tracks = streams.map { _ in nil }
        range = try RemuxRange(input, tracks: streams, leader: leader, options: options)
        cut = format.hasSampleEntries || !range.hasEdits ? nil : EditCut()
        unsafe scratch = av.pointee.av_packet_alloc!()
        if unsafe scratch == nil { throw TrackPacket.noMemory }
        for (index, track) in streams.enumerated() {
            guard let track else { continue }
            try add(track, at: index, outputIndex: plan.trackIndices[index] ?? 0, format: format, codec: codec)
        }
        if let rate = options.frameRate, !tracks.contains(where: { $0?.isBare == true }) {
            let why: SettingReason =
                InputContext.holdsImages(input.container)
                ? "images are copied at 25 images a second" : "only streams without a container use this rate"
            try record.add(EffectiveEntry(option: "frameRate", asked: rate.description, used: "the input's times", why: why))
        } else if InputContext.holdsImages(input.container), input.container != "mjpeg" {
            record.addNotice("images have no frame rate: 25 images per second are assumed, and `Transcoder` can set another rate")
        }
        if let start = options.start?.seconds, !range.isOpen { try seek(to: start) }
        if options.start == .zero { try record.add(EffectiveEntry(option: "start", asked: "0.0", used: "0.0", why: .requested)) }
    }

    deinit { unsafe input.av.pointee.av_packet_free!(&scratch) }

    /// Adds a track of the output.
    private func add(_ track: MediaTrack, at index: Int, outputIndex: Int, format: OutputFormat, codec: VideoCodec)
        throws
    {
        if output.storesPresentation, let damage = ParameterSetCheck.damage(of: track) {
            throw InputContext.unreadable(input.name, "its parameter sets are damaged: \(damage)")
        }
        let rate = frameRate(of: index)
        let order = input.isBare ? try PresentationOrder(track, rate: rate) : nil
        if order != nil {
            record.note(
                EffectiveEntry(
                    option: "frameRate", asked: options.frameRate?.description, used: rate.description,
                    why: options.frameRate == nil ? "from the stream, or else 25" : .requested))
        }
        let copied = CopiedTrack(
            track, outputIndex: outputIndex, order: order, beginsEarly: input.hasEarlyTimes,
            form: try PacketForm(track, from: input.container, to: format, codec: codec))
        tracks[index] = copied
        let scale = order == nil ? track.timeBase.denominator : rate.reduced.numerator
        _ = output.muxer.add(copied.form.track ?? track, timescale: track.timeBase.numerator == 1 ? Int32(clamping: scale) : nil)
    }

    /// The requested frame rate of a stream without times, or else the rate that the stream states, or 25.
    private func frameRate(of index: Int) -> Rational {
        if let rate = options.frameRate { return rate }
        let stream = unsafe input.context.pointee.streams[index]!
        let guess = unsafe input.av.pointee.av_guess_frame_rate!(input.context, stream, nil)
        return guess.num > 0 && guess.den > 0 ? Rational(Int(guess.num), Int(guess.den)) : Rational(25, 1)
    }

    /// Copies the next packet. Returns false at the end.
    func step() throws -> Bool {
        let packet = unsafe scratch!
        switch try unsafe input.read(packet) {
        case .end: return false
        case .broken(let words): throw broken(words)
        case .packet: break
        }
        if options.strict, let error = [input.timesEntry].compactMap({ $0 }).strictError { throw error }
        let index = unsafe Int(packet.pointee.stream_index)
        guard tracks.indices.contains(index), let track = tracks[index] else {
            unsafe input.av.pointee.av_packet_unref!(packet)
            return true
        }
        let one = unsafe try TrackPacket(taking: packet, timeBase: track.track.timeBase, input.av)
        if index == leader, seeksBack(from: one) { return true }
        do { try track.validate(one) } catch { throw damaged(one, index, error.message) }
        for packet in try tracks[index]?.add(one) ?? [] { try pass(packet, index) }
        if range.end == nil { return true }
        // Streams may lag behind each other, so the copy ends only when all of them have ended.
        let isOver = tracks.contains { $0?.hasEnded == true }
        return !isOver || tracks.contains { $0.map { $0.isTimed && !$0.hasEnded } ?? false }
    }

    /// Passes on a packet whose times are known.
    private func pass(_ packet: TrackPacket, _ index: Int) throws {
        guard let track = tracks[index] else { return }
        let time = packet.presentation ?? packet.decode
        if index == leader { range.note(packet) }
        tracks[index]?.note(packet)
        if let end = range.end, let decode = packet.decode ?? time, !(decode < end), !track.track.isAttachedPicture {
            tracks[index]?.hasEnded = true
            // A stream that is silent for so long has no more packets before the end.
            if index == leader, (decode - end).seconds > 10 { for index in tracks.indices { tracks[index]?.hasEnded = true } }
            return
        }
        if let end = range.end, let time, !(time < end) {
            if index != leader { return }
            range.exceed(with: packet, at: time, end)
        }
        if !range.isOpen, try waits(packet, index) { return }
        if let first = range.first, let time {
            // Pictures that are shown before the key frame refer to pictures before it.
            if index == leader ? time < first : time + packet.duration < range.origin { return }
        }
        let isLeftOut = try cut?.leavesOut(packet, of: index, track.track.kind, origin: range.origin) { try record.add($0) }
        if isLeftOut == true { return }
        // A picture or subtitle may be displayed beyond the end.
        let isShown = track.track.kind == .video || track.track.kind == .subtitle
        try write(isShown ? range.end.map { try packet.ending(by: $0) } ?? packet : packet, index)
    }

    /// Begins the copy at a key frame of the leader.
    func begin(at time: MediaTime) throws {
        try record.add(range.begin(at: time))
        if range.usedStart > 0, let entry = output.omitTimeCode() { try record.add(entry) }
    }

    func write(_ packet: TrackPacket, _ index: Int) throws {
        try output.begin(copying: input, range)
        guard let track = tracks[index] else { return }
        // Attachments are written in the header.
        if track.track.kind != .attachment {
            switch untimedPictures.take(packet, of: track.track, isFirst: record.isAtStart(of: index)) {
            case .hasTime: break
            case .leaveOut: return
            // Muxers would use the decoding time instead.
            case .copy(let isReordered): if output.storesPresentation, isReordered { throw untimed }
            }
            if record.isAtStart(of: index), RepeatedParameterSets.areMissing(track.track, first: packet) {
                throw InputContext.unreadable(input.name, "its \(track.track.codecName) has no parameter sets")
            }
            do {
                let piece = try tracks[index]?.form.piece(packet) ?? packet
                try output.muxer.write(piece, track: track.outputIndex, origin: range.origin, copies: true)
            } catch let error as VaencError where error.category == .badInput {
                throw untimedPictures.areCopied ? untimed : damaged(packet, index, error.message)
            }
        }
        if track.isVideo { noteLeading(packet, of: track.track, index) }
        record.count(packet, of: index)
        span.add(packet, origin: range.origin)
    }

    /// Counts the pictures before the first key picture of a stream. Players cannot decode them.
    private func noteLeading(_ packet: TrackPacket, of track: MediaTrack, _ index: Int) {
        let isFirst = record.isAtStart(of: index)
        guard let count = isFirst ? 0 : tracks[index]?.leadingCount else { return }
        guard packet.isKey else {
            tracks[index]?.leadingCount = count + 1
            return
        }
        tracks[index]?.leadingCount = nil
        if count == 0 { return }
        record.addNotice(
            "\(track.name(of: index)) begins with \(count) picture\(count == 1 ? "" : "s") that cannot be decoded, because no key picture "
                + "comes before \(count == 1 ? "it" : "them"): \(count == 1 ? "it is" : "they are") copied")
    }

    /// Writes the packets that are held back.
    /// - Parameter isWhole: Whether the whole input was read.
    /// - Throws: `badInput` if `start` is after the input's end.
    func finishPackets(isWhole: Bool) throws {
        for index in tracks.indices { for packet in try tracks[index]?.finish() ?? [] { try pass(packet, index) } }
        if isWhole, let start = options.start?.seconds, !range.reachesStart {
            throw VaencError(
                .badInput, "`start` \(start) is after the end of \(input.name)", remedy: "use a time before the end")
        }
        if let leader, tracks[leader] != nil, let group = beginning.search?.finish() { try begin(with: group, leader) }
    }

    /// Writes the trailer of the container.
    func finish() throws {
        if let entry = range.durationEntry { try record.add(entry) }
        for notice in input.lossNotices(of: Set(tracks.indices.filter { tracks[$0] != nil })) { record.addNotice(notice) }
        for (index, track) in tracks.enumerated() {
            guard let track, let count = track.leadingCount else { continue }
            record.addNotice(
                "\(track.track.name(of: index)) has no key picture: its \(count) picture\(count == 1 ? "" : "s") may not be decodable")
        }
        if let entry = input.timesEntry { record.note(entry) }
        if let entry = untimedPictures.entry { try record.add(entry) }
        let muxer = output.muxer
        if muxer.movedCount > 0 {
            try record.add(
                EffectiveEntry(
                    option: "times", asked: "as in the input", used: "\(muxer.movedCount) packet\(muxer.movedCount == 1 ? "" : "s") a little later",
                    why: "the input has two packets of one stream at the same time"))
        }
        for (outputIndex, why) in muxer.leftOut {
            guard let index = tracks.firstIndex(where: { $0?.outputIndex == outputIndex }), let track = tracks[index] else { continue }
            record.leaveOut(index, why: why)
            try record.add(EffectiveEntry(option: track.track.name(of: index), asked: EffectiveEntry.copied, used: "left out", why: .explained(why)))
        }
        for (index, track) in tracks.enumerated() {
            guard let track, track.form.hasChangedSound else { continue }
            try record.add(
                EffectiveEntry(
                    option: track.track.name(of: index), asked: "as in the input", used: "with the sampling rate and channels of its beginning",
                    why: "they change in the input, and this container describes them once; `Transcoder` can encode the sound"))
        }
        let hasChangedSets = tracks.contains { $0?.form.hasChangedSets == true }
        if hasChangedSets, muxer.isFragmented {
            // The sample entry is written already.
            try record.add(
                EffectiveEntry(
                    option: "parameter sets", asked: "in the header only", used: "also in samples",
                    why: "they change in the input; some players read only those of the header"))
        }
        do { try muxer.writeTrailer() } catch let error as VaencError
            where untimedPictures.areCopied && error.category == .badInput
        { throw untimed }
        if hasChangedSets, !muxer.isFragmented, let file = (muxer.destination as? WriteContext)?.file {
            try MovieBox.edit(file, MovieBox.withParameterSetsInSamples)
            record.note(EffectiveEntry(option: "sampleEntry", asked: nil, used: "hev1", why: "the parameter sets change in the input"))
        }
        record.finish(seconds: span.seconds)
    }
}
