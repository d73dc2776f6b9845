import NALUnits
import VideoBase

/// One stream of the input that is copied: its track, its times and the form of its packets.
struct CopiedTrack {
    let track: MediaTrack
    /// The index of the track in the output.
    let outputIndex: Int
    /// Computes the times of a bare stream; nil for other inputs.
    private var order: PresentationOrder?
    private var shownTimes: MissingPresentationTimes?
    private var missingTimes: MissingDecodeTimes?
    private let check: SampleCheck?
    var form: PacketForm
    /// The last decoding time of a stream with continuous packets, as far as the input was read.
    private(set) var decoded: MediaTime?
    /// Whether the packets are past the end of the copy.
    var hasEnded = false
    /// The number of pictures before the first key picture; nil once that is copied.
    var leadingCount: Int?

    /// - Parameters:
    ///   - order: The order of the pictures of a bare stream; nil for other inputs.
    ///   - beginsEarly: Whether presentation times may be before 0.
    init(_ track: MediaTrack, outputIndex: Int, order: PresentationOrder?, beginsEarly: Bool, form: PacketForm) {
        self.track = track
        self.outputIndex = outputIndex
        self.order = order
        self.form = form
        check = SampleCheck(track)
        if order == nil { startTimes(beginsEarly: beginsEarly) }
    }

    private mutating func startTimes(beginsEarly: Bool) {
        shownTimes = MissingPresentationTimes(track)
        missingTimes = MissingDecodeTimes(track, beginsEarly: beginsEarly)
    }

    /// Forgets the packets that wait for their times, after a seek.
    mutating func restart() {
        if order == nil { startTimes(beginsEarly: false) }
    }

    /// Whether the input has no times. They are computed from the stream.
    var isBare: Bool { order != nil }
    /// Whether the input may state no presentation times.
    var mayLackPresentation: Bool { shownTimes != nil }
    /// Whether packets are continuous: video or sound.
    var isTimed: Bool { [.video, .audio].contains(track.kind) && !track.isAttachedPicture }
    /// Whether the track is a video, not a cover.
    var isVideo: Bool { track.kind == .video && !track.isAttachedPicture }

    /// Checks a packet of the input.
    /// - Throws: `MalformedStream`.
    func validate(_ packet: TrackPacket) throws(MalformedStream) { try check?.check(packet) }

    /// Adds the stream's next packet. Returns the packets whose times are known, in decoding order.
    mutating func add(_ packet: TrackPacket) throws -> [TrackPacket] {
        if order != nil { return try order?.add(packet) ?? [] }
        var timed: [TrackPacket] = []
        for one in try shownTimes?.add(packet) ?? [packet] { timed += try missingTimes?.add(one) ?? [one] }
        return timed
    }

    /// Returns the packets that wait for their times at the end of the stream.
    mutating func finish() throws -> [TrackPacket] {
        if order != nil { return try order?.finish() ?? [] }
        var timed: [TrackPacket] = []
        for one in try shownTimes?.finish() ?? [] { timed += try missingTimes?.add(one) ?? [one] }
        return try timed + (missingTimes?.finish() ?? [])
    }

    /// Records the decoding time of a packet.
    mutating func note(_ packet: TrackPacket) {
        guard isTimed, let time = packet.decode ?? packet.presentation else { return }
        decoded = decoded.map { max($0, time) } ?? time
    }
}
