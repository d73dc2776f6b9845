import CLibAV
import LibAV
import NALUnits
public import VideoBase

/// A packet of a track, in the form in which its container stores it. It does not change after its creation.
@safe public final class TrackPacket: @unchecked Sendable {
    // SAFETY: the packet is created in `init` and freed in `deinit`. In between it is only read. libav counts the
    // references to its data.
    let packet: UnsafeMutablePointer<AVPacket>
    private let av: UnsafePointer<VaencLibAV>
    /// The unit of the times, in seconds.
    let timeBase: Rational

    /// Whether the packet lacks data that was lost before it was read.
    var lacksData: Bool { unsafe packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    /// Takes ownership of the content of `packet`, which is empty afterwards.
    init(taking packet: UnsafeMutablePointer<AVPacket>, timeBase: Rational, _ av: UnsafePointer<VaencLibAV>) throws {
        guard let allocated = unsafe av.pointee.av_packet_alloc!() else { throw Self.noMemory }
        unsafe self.packet = unsafe allocated
        unsafe self.av = unsafe av
        self.timeBase = timeBase
        unsafe av.pointee.av_packet_move_ref!(allocated, packet)
    }

    /// Creates a packet with a copy of bytes. Times are stored in ticks of `timescale`.
    ///
    /// - Parameters:
    ///   - units: The ranges of NAL units in `bytes`. The packet then contains each unit after its big-endian length in
    ///     four bytes, and nothing else. nil: the packet contains `leading`, and then `bytes` unchanged.
    ///   - leading: The bytes before `bytes`, if `units` is nil.
    /// - Throws: If there is no memory.
    package convenience init(
        _ bytes: [UInt8], lengthPrefixing units: [Range<Int>]? = nil, behind leading: [UInt8] = [], presentation: MediaTime, decode: MediaTime? = nil,
        duration: MediaTime, isKey: Bool = true,
        timescale: Int32
    ) throws {
        let av = unsafe try LibAV.load([.codec])
        var packet = unsafe av.pointee.av_packet_alloc!()
        defer { unsafe av.pointee.av_packet_free!(&packet) }
        let count = units.map { $0.reduce(0) { $0 + 4 + $1.count } } ?? leading.count + bytes.count
        // SAFETY: av_new_packet allocates the bytes and the padding after them.
        guard let filled = unsafe packet, let size = Int32(exactly: count), unsafe av.pointee.av_new_packet!(filled, size) >= 0
        else { throw Self.noMemory }
        let room = unsafe UnsafeMutableRawBufferPointer(start: filled.pointee.data, count: count)
        if let units {
            unsafe LengthPrefixed.write(units, of: bytes.span, to: room)
        } else {
            unsafe room.copyBytes(from: leading)
            unsafe UnsafeMutableRawBufferPointer(rebasing: room[leading.count...]).copyBytes(from: bytes)
        }
        let shown = presentation.converted(to: timescale).value
        unsafe filled.pointee.pts = shown
        unsafe filled.pointee.dts = min(decode.map { $0.converted(to: timescale).value } ?? shown, shown)
        unsafe filled.pointee.duration = duration.converted(to: timescale).value
        unsafe filled.pointee.flags = isKey ? AV_PKT_FLAG_KEY : 0
        unsafe try self.init(taking: filled, timeBase: Rational(1, Int(timescale)), av)
    }

    /// Returns a packet with the same data and other times, in ticks of `timeBase`; nil is an unknown time.
    private func retimed(shown: Int64?, decoded: Int64?, duration: Int64, timeBase: Rational) throws -> TrackPacket {
        var clone = unsafe av.pointee.av_packet_clone!(packet)
        defer { unsafe av.pointee.av_packet_free!(&clone) }
        guard let copy = unsafe clone else { throw Self.noMemory }
        unsafe copy.pointee.pts = shown ?? vaenc_no_pts()
        unsafe copy.pointee.dts = decoded ?? vaenc_no_pts()
        unsafe copy.pointee.duration = duration
        return unsafe try TrackPacket(taking: copy, timeBase: timeBase, av)
    }

    /// Returns a packet with the same data and its times relative to `origin`, rounded to the unit of its times.
    package func relative(to origin: MediaTime) throws -> TrackPacket {
        let offset = MediaTime.rounded(
            Int128(origin.value) * Int128(timeBase.denominator), by: Int128(max(origin.timescale, 1)) * Int128(timeBase.numerator))
        func moved(_ ticks: Int64) -> Int64 { Int64(clamping: Int128(ticks) - Int128(offset)) }
        return try retimed(
            shown: presentationTicks.map(moved), decoded: decodeTicks.map(moved), duration: durationTicks, timeBase: timeBase)
    }

    /// Returns a packet with the same data and the given times.
    func shown(at presentation: MediaTime, decoded: MediaTime, duration: MediaTime, timescale: Int32) throws -> TrackPacket {
        try retimed(
            shown: presentation.converted(to: timescale).value, decoded: decoded.converted(to: timescale).value,
            duration: duration.converted(to: timescale).value, timeBase: Rational(1, Int(timescale)))
    }

    /// Returns a packet with the same data and another presentation time, in ticks of `timeBase`.
    func shown(at ticks: Int64) throws -> TrackPacket {
        try retimed(shown: ticks, decoded: decodeTicks, duration: durationTicks, timeBase: timeBase)
    }

    /// Returns a packet with the same data and another decoding time, in ticks of `timeBase`.
    func decoded(at ticks: Int64) throws -> TrackPacket {
        try retimed(shown: presentationTicks, decoded: ticks, duration: durationTicks, timeBase: timeBase)
    }

    /// Returns a packet with the same data that ends at a time, or the packet itself if it ends before.
    func ending(by end: MediaTime) throws -> TrackPacket {
        guard let shown = presentation ?? decode, shown < end, end < shown + duration else { return self }
        let base = timeBase
        let left = MediaTime.rounded(
            Int128((end - shown).value) * Int128(base.denominator), by: Int128(max((end - shown).timescale, 1)) * Int128(max(base.numerator, 1)))
        return try retimed(shown: presentationTicks, decoded: decodeTicks, duration: max(left, 1), timeBase: base)
    }

    /// Returns a packet with other data and the same times.
    func replaced(by bytes: [UInt8]) throws -> TrackPacket {
        var clone = unsafe av.pointee.av_packet_clone!(packet)
        defer { unsafe av.pointee.av_packet_free!(&clone) }
        let room = max(bytes.count, byteCount)
        guard let copy = unsafe clone, let more = Int32(exactly: room - byteCount), unsafe av.pointee.av_grow_packet!(copy, more) >= 0
        else { throw Self.noMemory }
        // SAFETY: av_grow_packet provides `room` bytes and the padding after them, in memory that only this packet
        // owns.
        let data = unsafe UnsafeMutableRawBufferPointer(start: copy.pointee.data, count: room)
        unsafe data.copyBytes(from: bytes)
        for index in bytes.count..<room { unsafe data[index] = 0 }
        unsafe copy.pointee.size = Int32(bytes.count)
        return unsafe try TrackPacket(taking: copy, timeBase: timeBase, av)
    }

    /// Returns the packet as an HEVC access unit for MPEG-TS. If its TemporalId is not 0, a delimiter is inserted.
    func delimited() throws -> TrackPacket {
        // SAFETY: the bytes are the packet's data, which live as long as the packet.
        let data = unsafe UnsafeBufferPointer(start: packet.pointee.data, count: byteCount)
        guard let delimiter = TransportDelimiter.missing(from: unsafe data.span) else { return self }
        var clone = unsafe av.pointee.av_packet_clone!(packet)
        defer { unsafe av.pointee.av_packet_free!(&clone) }
        guard let copy = unsafe clone, unsafe av.pointee.av_grow_packet!(copy, Int32(delimiter.count)) >= 0 else { throw Self.noMemory }
        // SAFETY: av_grow_packet provides the additional bytes, in memory that only this packet owns. The old bytes are
        // moved inside it.
        let room = unsafe UnsafeMutableRawBufferPointer(start: copy.pointee.data, count: byteCount + delimiter.count)
        unsafe (room.baseAddress! + delimiter.count).copyMemory(from: room.baseAddress!, byteCount: byteCount)
        unsafe room.copyBytes(from: delimiter)
        return unsafe try TrackPacket(taking: copy, timeBase: timeBase, av)
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av.pointee.av_packet_free!(&packet)
    }

    /// The time at which the packet is shown or heard; nil if its file does not state it.
    public var presentation: MediaTime? { presentationTicks.map(time) }
    /// The time at which the packet is decoded; nil if its file does not state it.
    public var decode: MediaTime? { decodeTicks.map(time) }
    /// The duration of the packet; 0 if its file does not state it.
    public var duration: MediaTime {
        time(max(durationTicks, 0))
    }
    /// The presentation time in ticks of `timeBase`; nil if the file does not state it.
    var presentationTicks: Int64? { Self.known(unsafe packet.pointee.pts) }
    var decodeTicks: Int64? { Self.known(unsafe packet.pointee.dts) }
    var durationTicks: Int64 { unsafe packet.pointee.duration }
    private static func known(_ ticks: Int64) -> Int64? { ticks == vaenc_no_pts() ? nil : ticks }
    /// Whether decoding can begin at this packet.
    public var isKey: Bool { unsafe packet.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// Whether an edit list cuts the packet off. It is then needed only for the decoding of later packets.
    var isCutOff: Bool { unsafe packet.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    /// Whether the packet contains nothing for a decoder.
    var isEmpty: Bool { unsafe packet.pointee.size == 0 && packet.pointee.side_data_elems == 0 }
    /// Whether decoding the packet may legitimately return nothing: an edit list or its side data require it, or it has
    /// no duration.
    var mayDecodeToNothing: Bool { unsafe isCutOff || packet.pointee.side_data_elems > 0 || durationTicks <= 0 }
    /// The number of bytes in the packet.
    public var byteCount: Int { Int(unsafe packet.pointee.size) }
    /// A copy of the packet's bytes.
    public var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: byteCount)) }

    /// Returns the first byte of the packet's first slice, in Annex B form; nil if it has no slice.
    func firstSliceHeader(_ codec: VideoCodec) -> UInt8? {
        // SAFETY: the bytes are the packet's data, which live as long as the packet.
        let data = unsafe UnsafeBufferPointer(start: packet.pointee.data, count: byteCount)
        var offset = 2
        while offset + 1 < data.count {
            // A start code ends with a one after two zeros.
            if unsafe data[offset] > 1 { offset += 3; continue }
            if unsafe data[offset] == 1 && data[offset - 1] == 0 && data[offset - 2] == 0 {
                let header = unsafe data[offset + 1]
                if NALUnitKind(header: header, codec) == .slice { return header }
            }
            offset += 1
        }
        return nil
    }

    private func time(_ ticks: Int64) -> MediaTime {
        let value = Int64(clamping: Int128(ticks) * Int128(timeBase.numerator))
        return MediaTime(value: value, timescale: Int32(clamping: timeBase.denominator))
    }

    static let noMemory = VaencError.noMemory("for a packet")
}
