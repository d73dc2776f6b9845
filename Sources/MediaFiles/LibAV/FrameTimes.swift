import CLibAV
import LibAV
import VideoBase

/// Detects whether a file's pictures have a fixed rate. Containers do not state this, because their frame rate is a
/// guess.
enum FrameTimes {
    /// The maximum number of packets that are read.
    private static let packetLimit = 500
    /// The maximum size of these packets in bytes.
    private static let byteLimit = 32 << 20

    /// Reads the times of the file's first pictures, without decoding them.
    ///
    /// - Parameter scratch: A decoder whose packet may be used.
    /// - Returns: The mean rate if the rate varies; nil if the rate is fixed, or if the input can be read only once.
    static func varyingRate(of reader: ByteReader, _ stream: Demuxer.Stream, scratch: VideoDecoder) -> Rational? {
        guard reader.isSeekable else { return nil }
        // Faults of the file are reported when the file is read.
        defer { _ = LibAV.takeLog() }
        do {
            let demuxer = try Demuxer(ByteReader(path: reader.name))
            guard demuxer.stream.timeBase == stream.timeBase else { return nil }
            return try meanRate(times(demuxer, scratch), stream.timeBase)
        } catch {
            return nil
        }
    }

    /// Returns the times in presentation order.
    private static func times(_ demuxer: Demuxer, _ scratch: VideoDecoder) throws -> [Int64] {
        var times: [Int64] = []
        var bytes = 0
        var isWhole = false
        while times.count < packetLimit, bytes < byteLimit {
            // SAFETY: the packet belongs to the decoder, which is idle. The packet is emptied again.
            guard let packet = unsafe scratch.packet else { return [] }
            guard case .packet = try unsafe demuxer.read(packet) else {
                isWhole = true
                break
            }
            let time = unsafe packet.pointee.pts
            bytes += unsafe Int(packet.pointee.size)
            unsafe demuxer.av.pointee.av_packet_unref!(packet)
            // Some containers have no times.
            if time == vaenc_no_pts() { return [] }
            times.append(time)
        }
        times.sort()
        // Pictures that are shown between the last ones may follow later in the file.
        return isWhole ? times : Array(times.dropLast(16))
    }

    /// Returns the number of pictures per second if their times are not evenly spaced, otherwise nil.
    ///
    /// - Parameter times: The times in units of `base`, in ascending order.
    static func meanRate(_ times: [Int64], _ base: Rational) -> Rational? {
        guard times.count > 4, let first = times.first, let last = times.last, last > first else { return nil }
        let steps = zip(times, times.dropFirst()).map { Double(Int128($1) - Int128($0)) }.sorted()
        let usual = steps[steps.count / 2]
        // Both times of a step are rounded to units of the base.
        let tolerance = max(usual * 0.05, 1.5)
        let uneven = steps.count { abs($0 - usual) > tolerance }
        guard uneven >= 3, uneven * 100 > times.count else { return nil }
        let rate = Double(times.count - 1) / (Double(Int128(last) - Int128(first)) * base.value)
        return Rational(max(Int(clamping: (rate * 1000).rounded()), 1), 1000).reduced
    }
}
