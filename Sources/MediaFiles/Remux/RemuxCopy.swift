import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Copies packets from a file to a container, once. Only one thread may use it at a time.
@safe final class RemuxCopy {
    private let input: InputContext
    private let muxer: Muxer
    private let options: RemuxOptions
    /// Whether the output states when each picture is shown.
    private let storesPresentation: Bool
    private let streams: [MediaTrack?]
    private let trackIndices: [Int?]
    /// The time code of the input's first picture, if the output can store it; nil if there is none.
    private let timeCode: String?
    private var orders: [Int: PresentationOrder] = [:]
    private var shownTimes: [Int: MissingPresentationTimes] = [:]
    private var missingTimes: [Int: MissingDecodeTimes] = [:]
    private var checks: [Int: SampleCheck] = [:]
    /// The converters of tracks with length-prefixed NAL units in the input, and start codes in the output.
    private var byteStreams: [Int: ByteStreamPackets] = [:]
    /// The HEVC tracks with start codes in the input that are written to MPEG-TS.
    private var delimited: Set<Int> = []
    /// The H.264 and HEVC tracks with start codes that are written to bare streams and MPEG-TS.
    private var leadingSets: [Int: LeadingParameterSets] = [:]
    /// The HEVC tracks that get the sample entry `hvc1`.
    private var sampleSets: [Int: SampleParameterSets] = [:]
    /// The MPEG-4 Visual tracks that are written to MPEG-TS.
    private var headers: [Int: LeadingHeaders] = [:]
    // SAFETY: created in `init`, freed in `deinit`, and used only by this object's methods.
    private var scratch: UnsafeMutablePointer<AVPacket>?
    /// The stream at whose key frames the output is cut; nil if there is no stream.
    private let leader: Int?
    /// The input time that becomes zero: the beginning of the input. With `start` it is the leader's first key frame,
    /// or the input's first shown time if that is later.
    private var origin: MediaTime
    /// The beginning of the input, from which `start` and `duration` count.
    private let beginning: MediaTime
    /// The unit of the leader's times, in seconds.
    private let leaderBase: Rational
    /// The last decoding time of each stream with continuous packets, as far as the input was read.
    private var decoded: [Int: MediaTime] = [:]
    /// Whether the input's edit list hides its beginning, which then stays hidden.
    private let hasEdits: Bool
    /// The presentation time of the leader's first copied picture; nil if all pictures are copied.
    private var first: MediaTime?
    private var isOpen: Bool
    /// Whether the header is written. The times of chapters depend on the first packet's time, so the header waits for
    /// it.
    private var hasHeader = false
    private let muxerOptions: [(name: String, value: String)]
    /// The input time of `start`, and the end of the leader's pictures so far.
    private var requestedStart: MediaTime?
    private var reached: MediaTime?
    /// A description of the packet where the copy begins, if that is before `requestedStart`; nil otherwise.
    private var earlyBeginning: String?
    /// The search for the first key frame in an input that cannot seek to it.
    private var search: RemuxStart?
    /// The leader's ticks to which the last seek went; nil if no earlier key frame may be searched.
    private var lastSeekTicks: Int64?
    /// The cut of the input's edit list; nil if the output has an edit list, or the input has none.
    private var cut: EditCut?
    private var end: MediaTime?
    /// The end of the last picture that is shown after `end`.
    private var overhang: MediaTime?
    private var ended: Set<Int> = []
    /// The streams with continuous packets.
    private let timed: Set<Int>
    private var held: [(trackIndex: Int, packet: TrackPacket)] = []
    /// The presentation time of the first packet, but not before the origin, and the end of the last packet.
    private var earliest: MediaTime?
    private var last = MediaTime.zero
    private(set) var report: RemuxReport
    private(set) var packetCount = 0
    /// The number of pictures of each video stream before its first key picture, until that picture is copied.
    private var leading: [Int: Int] = [:]
    /// Whether there are pictures without a presentation time.
    private var isUntimed = false
    /// The number of pictures without a time before the first key frame, if an input begins between key frames.
    private var leftOut = 0
    private(set) var effective: [EffectiveEntry] = []

    init(
        _ input: InputContext, _ plan: RemuxPlan, to destination: any SinkDestination, format: OutputFormat,
        options: RemuxOptions
    ) throws {
        self.input = input
        self.options = options
        let av = unsafe input.av
        let first = plan.tracks.first.flatMap { VideoCodec(rawValue: $0.codecName) }
        let name = format.holdsTracks ? format.muxerName : first?.rawValue ?? format.muxerName
        muxer = try Muxer(format: name, destination)
        report = RemuxReport(streams: plan.report, effective: plan.effective)
        timeCode = MetadataSupport(format, codec: first).holdsTimeCode ? plan.timeCode : nil
        trackIndices = plan.trackIndices
        let codec = VideoCodec(ofPicturesIn: plan.tracks)
        storesPresentation = format.holdsTracks && format.isLengthPrefixed(codec)
        muxerOptions = format.muxerOptions(
            codec,
            isFragmented: format == .fmp4 || format.hasSampleEntries && !destination.isSeekable,
            isSeekable: destination.isSeekable, survivesKill: false,
            segments: destination as? SegmentFolder)
        let streams: [MediaTrack?] = plan.trackIndices.map { $0.map { plan.tracks[$0] } }
        self.streams = streams
        for (index, track) in streams.enumerated() where track == nil {
            unsafe input.context.pointee.streams[index]!.pointee.discard = AVDISCARD_ALL
        }
        timed = Set(streams.indices.filter { index in
            streams[index].map { [.video, .audio].contains($0.kind) && !$0.isAttachedPicture } ?? false
        })
        leader = streams.firstIndex { $0?.kind == .video && $0?.isAttachedPicture == false } ?? streams.firstIndex { $0 != nil }
        // Transport streams may have several programs, each with its own clock.
        let begin = unsafe input.context.pointee.start_time
        let startsAnywhere = ["mpegts", "mpeg", "hls"].contains(input.container) && begin != vaenc_no_pts()
        origin = startsAnywhere ? MediaTime(value: begin, timescale: Int32(vaenc_time_base())) : .zero
        // The times of bare streams are computed here, from 0 on.
        let isBare = input.container == "h264" || input.container == "hevc"
        let base = leader.flatMap { streams[$0]?.timeBase } ?? Rational(1, 90_000)
        leaderBase = base
        let firstTicks = isBare ? 0 : leader.flatMap { input.beginning(for: $0) } ?? 0
        func moment(_ ticks: Int64) -> MediaTime { RemuxCopy.time(ticks, base) }
        let begun = moment(firstTicks)
        beginning = begun
        // A start of 0 copies the whole input.
        isOpen = (options.start ?? 0) == 0
        if let start = options.start, !isOpen {
            requestedStart = moment(InputContext.ticks(start, after: firstTicks, base))
        }
        // Other containers have no edit list that hides the part before 0, so that part begins the output.
        let hasEdits = input.container == "mov" || input.container == "hls"
        self.hasEdits = hasEdits
        // Subtitles may come first. The part before the origin would be hidden.
        var firstStart = begun
        for (index, track) in streams.enumerated() {
            guard let track, track.kind == .subtitle, let ticks = input.firstTime(of: index) else { continue }
            firstStart = min(firstStart, Self.time(ticks, track.timeBase))
        }
        let isLate = isOpen && !startsAnywhere && MediaTime.zero < firstStart
        // libavformat may state the time of the first picture in decoding order. The part that an edit list cuts off
        // stays before the beginning.
        for (index, track) in streams.enumerated() where isLate && !hasEdits {
            guard let track, track.kind == .video, track.isReordered, let ticks = try input.earliestShown(of: index) else { continue }
            firstStart = min(firstStart, Self.time(ticks, track.timeBase))
        }
        // The samples that a decoder skips at the beginning of sound are before the beginning.
        if isLate, MediaTime.zero < firstStart { origin = firstStart }
        let showsEarly = leader.map { streams[$0]?.kind == .video && (input.firstTime(of: $0) ?? 0) < 0 } ?? false
        if isOpen, !hasEdits, !startsAnywhere, showsEarly || SourceSound.isCut(before: .zero, at: begun) { origin = begun }
        cut = format.hasSampleEntries || !hasEdits ? nil : EditCut()
        if let duration = options.duration {
            end = Self.end(of: duration, after: options.start ?? 0, from: begun, base)
        }
        unsafe scratch = av.pointee.av_packet_alloc!()
        if unsafe scratch == nil { throw TrackPacket.noMemory }
        if input.container == "h264" || input.container == "hevc" { unsafe try addOrders(av) }
        if orders.isEmpty, let asked = options.frameRate {
            let why: SettingReason =
                InputContext.holdsImages(input.container)
                ? "images are copied at 25 images a second" : "only streams without a container use this rate"
            try addEntry("frameRate", asked: asked.description, used: "the input's times", why)
        }
        for (index, track) in streams.enumerated() {
            guard let track else { continue }
            if storesPresentation, let damage = ParameterSetCheck.damage(of: track) {
                throw InputContext.unreadable(input.name, "its parameter sets are damaged: \(damage)")
            }
            checks[index] = SampleCheck(track)
            // The lengths of `avcc` are computed from start codes.
            let isDelimited = format == .ts && track.codecName == "hevc"
            if format == .avcc || !format.isLengthPrefixed(codec) {
                byteStreams[index] = ByteStreamPackets(track, isDelimited: isDelimited)
            }
            if isDelimited, byteStreams[index] == nil { delimited.insert(index) }
            if !LeadingParameterSets.areRepeated(in: input.container), format == .avcc || !format.isLengthPrefixed(codec) { leadingSets[index] = LeadingParameterSets(track) }
            if format == .ts || format == .hls { headers[index] = LeadingHeaders(track) }
            let isTimed = orders[index] == nil
            if isTimed {
                shownTimes[index] = MissingPresentationTimes(track)
                missingTimes[index] = MissingDecodeTimes(track, beginsEarly: input.hasEarlyTimes)
            }
            let scale = unsafe isTimed ? track.timeBase.denominator : rate(index, av).reduced.numerator
            if format.hasSampleEntries || format == .hls { sampleSets[index] = try SampleParameterSets(track) }
            _ = muxer.add(sampleSets[index]?.track ?? track, timescale: track.timeBase.numerator == 1 ? Int32(clamping: scale) : nil)
        }
        if let start = options.start, let requestedStart { try seek(to: start, requestedStart) }
        if isOpen, options.start != nil { try addEntry("start", asked: "0.0", used: "0.0", .requested) }
    }

    deinit { unsafe input.av.pointee.av_packet_free!(&scratch) }

    private static func time(_ ticks: Int64, _ base: Rational) -> MediaTime {
        MediaTime(value: Int64(clamping: Int128(ticks) * Int128(base.numerator)), timescale: Int32(clamping: base.denominator))
    }

    /// Returns the input time at which a copy ends that begins at `start` and lasts `duration` seconds, rounded to the
    /// leader's ticks.
    private static func end(of duration: Double, after start: Double, from beginning: MediaTime, _ base: Rational) -> MediaTime {
        let first = MediaTime.rounded(
            Int128(beginning.value) * Int128(base.denominator), by: Int128(max(beginning.timescale, 1)) * Int128(base.numerator))
        return time(InputContext.ticks(start + duration, after: first, base), base)
    }

    private func rate(_ index: Int, _ av: UnsafePointer<VaencLibAV>) -> Rational {
        if let rate = options.frameRate { return rate }
        let stream = unsafe input.context.pointee.streams[index]!
        let guess = unsafe av.pointee.av_guess_frame_rate!(input.context, stream, nil)
        return guess.num > 0 && guess.den > 0 ? Rational(Int(guess.num), Int(guess.den)) : Rational(25, 1)
    }

    private func addOrders(_ av: UnsafePointer<VaencLibAV>) throws {
        for (index, track) in streams.enumerated() {
            guard let track, let order = unsafe try PresentationOrder(track, rate: rate(index, av)) else { continue }
            orders[index] = order
            effective.append(
                EffectiveEntry(
                    option: "frameRate", asked: options.frameRate?.description, used: unsafe rate(index, av).description,
                    why: options.frameRate == nil ? "from the stream, or else 25" : .requested))
        }
    }

    private func seek(to seconds: Double, _ time: MediaTime) throws {
        guard let leader, let track = streams[leader] else { return }
        // The index of AVI lists decoding times, and AVI may have no other times.
        let isUnknown = input.container == "avi" && shownTimes[leader] != nil
        if !input.isSeekable || !orders.isEmpty || !Demuxer.indexed.contains(input.container) || input.hasEarlyTimes || isUnknown {
            search = RemuxStart(time)
            return
        }
        let base = track.timeBase
        let ticks = MediaTime.rounded(
            Int128(time.value) * Int128(base.denominator), by: Int128(time.timescale) * Int128(base.numerator))
        let code = input.seek(leader, to: ticks)
        if code < 0 {
            throw VaencError(
                .badInput, "\(input.name) cannot start at \(seconds) s (\(unsafe LibAV.message(code, input.av)))",
                remedy: "leave out `start`, or copy the input into mp4 or mkv first")
        }
        lastSeekTicks = ticks
    }

    /// Seeks to an earlier key frame than the leader's packet if necessary, and returns whether it did. The indexes of
    /// some containers list decoding times, so the key frame that they return may be shown after the requested time.
    private func seeksBack(from packet: TrackPacket) -> Bool {
        guard let leader, let before = lastSeekTicks, let requestedStart, !isOpen, packet.isKey,
            let shown = packet.presentation ?? packet.decode, let ticks = packet.decodeTicks ?? packet.presentationTicks
        else { return false }
        // A key frame after the searched time is the file's first one.
        guard requestedStart < shown, ticks <= before, ticks > .min else {
            lastSeekTicks = nil
            return false
        }
        lastSeekTicks = ticks - 1
        if input.seek(leader, to: ticks - 1) < 0 {
            // No earlier key frame exists, so this one is read again.
            lastSeekTicks = nil
            _ = input.seek(leader, to: before)
        }
        held = []
        for index in Array(shownTimes.keys) { shownTimes[index] = streams[index].flatMap { MissingPresentationTimes($0) } }
        for index in Array(missingTimes.keys) {
            missingTimes[index] = streams[index].flatMap { MissingDecodeTimes($0, beginsEarly: false) }
        }
        return true
    }

    /// Copies the next packet. Returns false at the end.
    func step() throws -> Bool {
        let packet = unsafe scratch!
        switch try unsafe input.read(packet) {
        case .end: return false
        case .broken(let words):
            if LibAV.isNoMemory(words) { throw VaencError.noMemory("to read \(input.name)") }
            if let growth = input.growth {
                throw VaencError(
                    .badInput, "\(input.name) ends after packet \(packetCount): \(growth)",
                    remedy: ByteReader.growthRemedy)
            }
            if packetCount == 0, let remedy = input.pipeRemedy { throw InputContext.unreadable(input.name, words, remedy: remedy) }
            throw VaencError(
                .badInput, "\(input.name) is damaged or cut short after packet \(packetCount)\(printed(reached)) (\(words))",
                remedy: input.pipeRemedy
                    ?? (packetCount == 0
                        ? "use a complete file, or encode it: decoding begins at the next key frame" : goodPartRemedy))
        case .packet: break
        }
        if options.strict, let error = [input.timesEntry].compactMap({ $0 }).strictError { throw error }
        let index = unsafe Int(packet.pointee.stream_index)
        guard streams.indices.contains(index), let track = streams[index] else {
            unsafe input.av.pointee.av_packet_unref!(packet)
            return true
        }
        let one = unsafe try TrackPacket(taking: packet, timeBase: track.timeBase, input.av)
        if index == leader, seeksBack(from: one) { return true }
        do { try checks[index]?.check(one) } catch { throw damaged(one, index, error.message) }
        for packet in try withTimes(one, index) { try pass(packet, index) }
        // Streams may lag behind each other, so the copy ends only when all of them have ended.
        return ended.isEmpty || !ended.isSuperset(of: timed)
    }

    /// Adds a stream's next packet. Returns the packets whose times are known, in decoding order.
    private func withTimes(_ packet: TrackPacket, _ index: Int) throws -> [TrackPacket] {
        if let order = orders[index] { return try order.add(packet) }
        var timed: [TrackPacket] = []
        for one in try shownTimes[index]?.add(packet) ?? [packet] { timed += try missingTimes[index]?.add(one) ?? [one] }
        return timed
    }

    private func pass(_ packet: TrackPacket, _ index: Int) throws {
        guard let trackIndex = trackIndices[index] else { return }
        let time = packet.presentation ?? packet.decode
        if index == leader, let time {
            // Some containers do not state the duration of a picture.
            let over = time + (packet.duration.value > 0 ? packet.duration : MediaTime(value: 1, timescale: 25))
            reached = reached.map { max($0, over) } ?? over
        }
        if timed.contains(index), let decode = packet.decode ?? time { decoded[index] = decoded[index].map { max($0, decode) } ?? decode }
        if let end, let decode = packet.decode ?? time, !(decode < end), streams[index]?.isAttachedPicture == false {
            ended.insert(index)
            // A stream that is silent for so long has no more packets before the end.
            if index == leader, (decode - end).seconds > 10 { ended.formUnion(timed) }
            return
        }
        if let end, let time, !(time < end) {
            if index != leader { return }
            // Pictures that are shown before the end need this one for decoding.
            overhang = max(overhang ?? end, time + packet.duration)
        }
        if !isOpen {
            guard index == leader else { return held.append((trackIndex, packet)) }
            if search != nil {
                if let first = search?.add(packet) { try begin(with: first, trackIndex) }
                // The copy begins no earlier than here, or there is no such key frame before.
                if packet.isKey, let time, let requestedStart, !(requestedStart < time) { dropHeld(before: time) }
                return
            }
            // Nothing can be decoded before the first key frame.
            guard packet.isKey, let time else { return }
            try begin(at: time)
            try writeHeld()
        }
        if let first, let time {
            // Pictures that are shown before the key frame refer to pictures before it.
            if index == leader ? time < first : time + packet.duration < origin { return }
        }
        let isLeftOut = try cut?.leavesOut(packet, of: index, streams[index]?.kind, origin: origin) { entry in
            effective.append(entry)
            if options.strict, let error = effective.strictError { throw error }
        }
        if isLeftOut != true { try write(packet, trackIndex) }
    }

    private func begin(with group: [TrackPacket], _ trackIndex: Int) throws {
        guard let first = group.first, let time = first.presentation ?? first.decode else { return }
        try begin(at: time)
        for packet in group where !((packet.presentation ?? time) < time) { try write(packet, trackIndex) }
        try writeHeld()
    }

    private func dropHeld(before time: MediaTime) {
        held.removeAll { _, packet in packet.presentation.map { $0 + packet.duration < time } ?? false }
    }

    private func writeHeld() throws {
        dropHeld(before: origin)
        for (trackIndex, packet) in held { try write(packet, trackIndex) }
        held = []
    }

    private func damaged(_ packet: TrackPacket, _ index: Int, _ words: String) -> VaencError {
        let time = printed(packet.presentation ?? packet.decode)
        return VaencError(
            .badInput, "\(input.name) is damaged: packet \(packetCount) (stream \(index)\(time)): \(words)", remedy: goodPartRemedy)
    }

    /// Returns a time of the input as text for messages, relative to the beginning, as `start` and `duration` are.
    private func printed(_ time: MediaTime?) -> String {
        time.map { " at \((($0 - beginning).seconds * 1000).rounded() / 1000) s" } ?? ""
    }

    /// The remedy for damage in the middle of the input, with the longest duration that ends before it.
    private var goodPartRemedy: String {
        goodDuration.map { "use a complete file, or copy only the good part with `duration` \($0)" } ?? "use a complete file"
    }

    /// The longest duration, in hundredths of a second, with which the copy ends before the next packet is read; nil if
    /// there is none.
    private var goodDuration: Double? {
        // `pass` ends the copy when the packets of all streams are past the end, or the leader's by more than 10 s.
        let ends = timed.compactMap { decoded[$0] }
        let common = ends.count == timed.count ? ends.min() : nil
        let margin = MediaTime(value: 10_010, timescale: 1000)
        let leaderLimit = leader.flatMap { timed.contains($0) ? decoded[$0] : nil }.map { $0 - margin }
        guard let limit = [common, leaderLimit].compactMap({ $0 }).max() else { return nil }
        let start = options.start ?? 0
        let longest = (((limit - beginning).seconds - start) * 100).rounded(.down)
        // The end is rounded to the leader's ticks, which may be long.
        for hundredths in stride(from: longest, to: max(longest - 100, 0), by: -1)
        where !(limit < Self.end(of: hundredths / 100, after: start, from: beginning, leaderBase)) {
            return hundredths / 100
        }
        return nil
    }

    /// The error for pictures without a presentation time. AVI and MPEG program streams may have decoding times only,
    /// and with most codecs the presentation times are known only after decoding.
    private var untimed: VaencError {
        // The stream itself contains the order of the pictures, and a reader of the bare stream computes the times.
        let bare = streams.lazy.compactMap { $0 }.first { $0.kind == .video && !$0.isAttachedPicture }
            .flatMap { VideoCodec(rawValue: $0.codecName)?.fileExtension }
        return VaencError(
            .badInput, "\(input.name) lacks presentation times, which a container needs",
            remedy: bare.map {
                "use vaenc encode, or copy the video into a .\($0) file, and then that file into the container"
            } ?? "use vaenc encode")
    }

    private func begin(at time: MediaTime) throws {
        isOpen = true
        let asked = options.start ?? 0
        first = time
        // The part that an edit list cuts off stays cut off, by the output's edit list if it has one.
        origin = hasEdits ? max(beginning, time) : time
        let early = requestedStart.map { ($0 - origin).seconds } ?? 0
        if early > 0 { earlyBeginning = origin == time ? "the previous key frame" : "the first picture of the input" }
        try addEntry(
            "start", asked: "\(asked)", used: "\(((asked - early) * 1000).rounded() / 1000)",
            early == 0 ? .requested : .explained(earlyBeginning ?? "the first key frame"))
        if let timeCode, asked - early > 0 {
            muxer.omitsTimeCode = true
            try addEntry("time code", asked: timeCode, used: "none", MediaMetadata.timeCodeReason)
        }
    }

    private func addEntry(_ option: String, asked: String, used: String, _ why: SettingReason) throws {
        effective.append(EffectiveEntry(option: option, asked: asked, used: used, why: why))
        if options.strict, let error = effective.strictError { throw error }
    }

    private func write(_ packet: TrackPacket, _ trackIndex: Int) throws {
        if !hasHeader {
            try muxer.copyFile(from: input, origin: origin, end: end)
            try muxer.writeHeader(options: muxerOptions, copies: true)
            hasHeader = true
        }
        guard let index = trackIndices.firstIndex(of: trackIndex) else { return }
        // Attachments are written in the header.
        if streams[index]?.kind != .attachment {
            if let track = streams[index], track.kind == .video, packet.presentation == nil {
                let isReordered = !track.isAttachedPicture && track.isReordered
                // Nothing can be decoded before the first key frame.
                if isReordered, !packet.isKey, report.streams[index].packets == 0 {
                    leftOut += 1
                    return
                }
                isUntimed = true
                // Muxers would use the decoding time instead.
                if storesPresentation, isReordered { throw untimed }
            }
            if report.streams[index].packets == 0, let track = streams[index], LeadingParameterSets.areMissing(track, first: packet) {
                throw InputContext.unreadable(input.name, "its \(track.codecName) has no parameter sets")
            }
            do {
                let packet = try leadingSets[index]?.piece(packet) ?? sampleSets[index]?.piece(packet) ?? packet
                let piece =
                    try byteStreams[index]?.piece(packet) ?? headers[index]?.piece(packet)
                    ?? (delimited.contains(index) ? packet.delimited() : packet)
                try muxer.write(piece, track: trackIndex, origin: origin, copies: true)
            } catch let error as VaencError where error.category == .badInput {
                throw isUntimed ? untimed : damaged(packet, index, error.message)
            }
        }
        if let track = streams[index], track.kind == .video, !track.isAttachedPicture { noteLeading(packet, of: track, index) }
        packetCount += 1
        report.streams[index].packets += 1
        report.streams[index].bytes += packet.byteCount
        if let shown = packet.presentation ?? packet.decode {
            let over = shown + packet.duration - origin
            if last < over { last = over }
            earliest = max(min(earliest ?? (shown - origin), shown - origin), .zero)
        }
    }

    /// Counts the pictures before the first key picture of a stream. Players cannot decode them.
    private func noteLeading(_ packet: TrackPacket, of track: MediaTrack, _ index: Int) {
        let isFirst = report.streams[index].packets == 0
        guard let count = isFirst ? 0 : leading[index] else { return }
        guard packet.isKey else {
            leading[index] = count + 1
            return
        }
        leading[index] = nil
        if count == 0 { return }
        report.notices.append(
            "\(track.name(of: index)) begins with \(count) picture\(count == 1 ? "" : "s") that cannot be decoded, because no key picture "
                + "comes before \(count == 1 ? "it" : "them"): \(count == 1 ? "it is" : "they are") copied")
    }

    /// Writes the packets that are held back.
    /// - Parameter isWhole: Whether the whole input was read.
    /// - Throws: `badInput` if `start` is after the input's end.
    func finishPackets(isWhole: Bool) throws {
        for (index, order) in orders { for packet in try order.finish() { try pass(packet, index) } }
        for index in streams.indices {
            for one in try shownTimes[index]?.finish() ?? [] {
                for packet in try missingTimes[index]?.add(one) ?? [one] { try pass(packet, index) }
            }
            for packet in try missingTimes[index]?.finish() ?? [] { try pass(packet, index) }
        }
        if isWhole, let requestedStart, let start = options.start, !(reached.map { requestedStart < $0 } ?? false) {
            throw VaencError(
                .badInput, "`start` \(start) is after the end of \(input.name)", remedy: "use a time before the end")
        }
        if let leader, let trackIndex = trackIndices[leader], let group = search?.finish() {
            try begin(with: group, trackIndex)
        }
    }

    /// Writes the trailer of the container.
    func finish() throws {
        // If the input ends before `end`, nothing more could be copied, and no difference is reported.
        if let asked = options.duration, let end, let reached, !(reached < end), overhang != nil || earlyBeginning != nil {
            let used = ((overhang ?? end) - (first == nil ? beginning : origin)).seconds
            let words = [
                earlyBeginning.map { "from \($0)" },
                overhang == nil ? nil : "pictures before the end need later ones for decoding",
            ]
            try addEntry(
                "duration", asked: "\(asked)", used: "\((used * 1000).rounded() / 1000)",
                .explained(words.compactMap { $0 }.joined(separator: "; ")))
        }
        let copied = streams.indices.filter { streams[$0] != nil }
        report.notices += input.lossNotices(of: Set(copied))
        for (index, count) in leading.sorted(by: { $0.key < $1.key }) {
            guard let track = streams[index] else { continue }
            report.notices.append("\(track.name(of: index)) has no key picture: its \(count) picture\(count == 1 ? "" : "s") may not be decodable")
        }
        effective += [input.timesEntry].compactMap { $0 }
        if leftOut > 0 {
            try addEntry(
                "times", asked: "as in the input", used: "\(leftOut) picture\(leftOut == 1 ? "" : "s") left out",
                "no key frame comes before them, and the input has no presentation times for undecodable pictures")
        }
        if muxer.movedCount > 0 {
            try addEntry(
                "times", asked: "as in the input", used: "\(muxer.movedCount) packet\(muxer.movedCount == 1 ? "" : "s") a little later",
                "the input has two packets of one stream at the same time")
        }
        for (trackIndex, why) in muxer.leftOut {
            guard let index = trackIndices.firstIndex(of: trackIndex), let track = streams[index] else { continue }
            (report.streams[index].leftOut, report.streams[index].packets, report.streams[index].bytes) = (why, 0, 0)
            try addEntry(track.name(of: index), asked: "copied", used: "left out", .explained(why))
        }
        let hasChangedSets = sampleSets.values.contains { $0.haveChanged }
        if hasChangedSets, muxer.isFragmented {
            // The sample entry is written already.
            try addEntry(
                "parameter sets", asked: "in the header only", used: "also in samples",
                "they change in the input; some players read only those of the header")
        }
        do { try muxer.writeTrailer() } catch let error as VaencError where isUntimed && error.category == .badInput { throw untimed }
        if hasChangedSets, !muxer.isFragmented, let file = (muxer.destination as? WriteContext)?.file {
            try MovieBox.edit(file, MovieBox.withParameterSetsInSamples)
            effective.append(EffectiveEntry(option: "sampleEntry", asked: nil, used: "hev1", why: "the parameter sets change in the input"))
        }
        report.effective += effective
        report.seconds = max(last - (earliest ?? .zero), .zero).seconds
    }
}
