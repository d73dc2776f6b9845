import CLibAV
import LibAV
public import VideoBase

/// A piece of a track, in the form in which its container holds it. It does not change once it is made.
@safe public final class TrackPacket: @unchecked Sendable {
    // SAFETY: the packet is made in init and freed in deinit; in between it is only read, and its data are shared by counting.
    let packet: UnsafeMutablePointer<AVPacket>
    private let av: UnsafePointer<VaencLibAV>
    /// The unit of the times, in seconds.
    let timeBase: Rational

    /// Takes over what is in `packet`, which is empty afterwards.
    init(taking packet: UnsafeMutablePointer<AVPacket>, timeBase: Rational, _ av: UnsafePointer<VaencLibAV>) throws {
        guard let own = unsafe av.pointee.av_packet_alloc!() else { throw Self.noMemory }
        unsafe self.packet = unsafe own
        unsafe self.av = unsafe av
        self.timeBase = timeBase
        unsafe av.pointee.av_packet_move_ref!(own, packet)
    }

    /// A copy of bytes. Times are kept in ticks of `timescale`.
    package convenience init(
        _ bytes: [UInt8], presentation: MediaTime, decode: MediaTime? = nil, duration: MediaTime, isKey: Bool = true,
        timescale: Int32
    ) throws {
        let av = unsafe try LibAV.load([.codec])
        var packet = unsafe av.pointee.av_packet_alloc!()
        defer { unsafe av.pointee.av_packet_free!(&packet) }
        // SAFETY: av_new_packet makes room for the bytes and the padding behind them.
        guard let filled = unsafe packet, unsafe av.pointee.av_new_packet!(filled, Int32(clamping: bytes.count)) >= 0 else {
            throw Self.noMemory
        }
        unsafe UnsafeMutableRawBufferPointer(start: filled.pointee.data, count: bytes.count).copyBytes(from: bytes)
        let shown = presentation.converted(to: timescale).value
        unsafe filled.pointee.pts = shown
        unsafe filled.pointee.dts = min(decode.map { $0.converted(to: timescale).value } ?? shown, shown)
        unsafe filled.pointee.duration = duration.converted(to: timescale).value
        unsafe filled.pointee.flags = isKey ? 1 : 0
        unsafe try self.init(taking: filled, timeBase: Rational(1, Int(timescale)), av)
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av.pointee.av_packet_free!(&packet)
    }

    /// When it is shown or heard; nil where its file does not say.
    public var presentation: MediaTime? { time(unsafe packet.pointee.pts) }
    public var decode: MediaTime? { time(unsafe packet.pointee.dts) }
    public var duration: MediaTime {
        time(max(unsafe packet.pointee.duration, 0)) ?? .zero
    }
    /// Decoding can begin here.
    public var isKey: Bool { unsafe packet.pointee.flags & 1 != 0 }
    public var byteCount: Int { Int(unsafe packet.pointee.size) }
    /// A copy of its bytes.
    public var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: byteCount)) }

    private func time(_ ticks: Int64) -> MediaTime? {
        if ticks == vaenc_no_pts() { return nil }
        let value = Int64(clamping: Int128(ticks) * Int128(timeBase.numerator))
        return MediaTime(value: value, timescale: Int32(clamping: timeBase.denominator))
    }

    static let noMemory = VaencError(.internalFault, "no memory for a packet")
}
