import CLibAV
import LibAV
import VideoBase

/// Whether a file's pictures come at a fixed rate, which containers do not say: their frame rate is a guess.
enum FrameTimes {
    /// Packets looked at from the start, and their bytes at most.
    private static let packetLimit = 500
    private static let byteLimit = 32 << 20

    /// Reads the times of the file's first pictures, without decoding any.
    ///
    /// - Parameter scratch: a decoder whose packet may be used.
    /// - Returns: the mean rate of a file whose rate varies; nil of a fixed rate, and of what can be read only once.
    static func varyingRate(of reader: ByteReader, _ stream: Demuxer.Stream, scratch: VideoDecoder) -> Rational? {
        guard reader.isSeekable else { return nil }
        // What is wrong with the file is told where it is read.
        defer { _ = LibAV.takeLog() }
        do {
            let demuxer = try Demuxer(ByteReader(path: reader.name))
            guard demuxer.stream.timeBase == stream.timeBase else { return nil }
            return try meanRate(times(demuxer, scratch), stream.timeBase)
        } catch {
            return nil
        }
    }

    /// In the order in which the pictures are shown.
    private static func times(_ demuxer: Demuxer, _ scratch: VideoDecoder) throws -> [Int64] {
        var times: [Int64] = []
        var bytes = 0
        var isWhole = false
        while times.count < packetLimit, bytes < byteLimit {
            // SAFETY: the packet is the decoder's, which is at rest, and emptied again.
            guard let packet = unsafe scratch.packet else { return [] }
            guard case .packet = try unsafe demuxer.read(packet) else {
                isWhole = true
                break
            }
            let time = unsafe packet.pointee.pts
            bytes += unsafe Int(packet.pointee.size)
            unsafe demuxer.av.pointee.av_packet_unref!(packet)
            // Some containers have no times of their own.
            if time == vaenc_no_pts() { return [] }
            times.append(time)
        }
        times.sort()
        // Pictures shown between the last of these may come later.
        return isWhole ? times : Array(times.dropLast(16))
    }

    /// Pictures a second where they do not come evenly, else nil.
    ///
    /// - Parameter times: in units of `base`, rising.
    static func meanRate(_ times: [Int64], _ base: Rational) -> Rational? {
        guard times.count > 4, let first = times.first, let last = times.last, last > first else { return nil }
        let steps = zip(times, times.dropFirst()).map { Double(Int128($1) - Int128($0)) }.sorted()
        let usual = steps[steps.count / 2]
        // Times are rounded to the base's units, on both sides.
        let tolerance = max(usual * 0.05, 1.5)
        let uneven = steps.count { abs($0 - usual) > tolerance }
        guard uneven >= 3, uneven * 100 > times.count else { return nil }
        let rate = Double(times.count - 1) / (Double(Int128(last) - Int128(first)) * base.value)
        return Rational(max(Int(clamping: (rate * 1000).rounded()), 1), 1000).reduced
    }
}
