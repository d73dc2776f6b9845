import CLibAV
import LibAV
import VideoBase

/// The beginning of a file, whose times may start at any value.
extension InputContext {
    /// Returns the earliest start of the file's pictures and sound, in ticks of a stream; nil if the file does not
    /// state it. If the file has several programs, only the stream's program counts, because each program has its own
    /// clock (H.222.0 2.4.2.2).
    func beginning(for stream: Int) -> Int64? {
        let base = timeBase(of: stream)
        let members = program(of: stream)
        return (0..<streamCount).filter { isPicturesOrSound($0) && members?.contains($0) ?? true }.compactMap { index -> Int64? in
            guard let start = firstTime(of: index) else { return nil }
            let streamBase = timeBase(of: index)
            return MediaTime.rounded(
                Int128(start) * Int128(streamBase.numerator) * Int128(base.denominator),
                by: Int128(streamBase.denominator) * Int128(base.numerator))
        }.min()
    }

    /// Returns the start of a stream in its ticks; nil if the file does not state it.
    func firstTime(of stream: Int) -> Int64? {
        let start = unsafe context.pointee.streams[stream]!.pointee.start_time
        return start == vaenc_no_pts() ? nil : start
    }

    /// Returns the first tick of `base` that is not before the moment `seconds` after `start`. The tick may be up to half
    /// a tick and half a millisecond before it, because the file's times and the request may have been rounded.
    static func ticks(_ seconds: Double, after start: Int64, _ base: Rational) -> Int64 {
        let tolerance = min(0.5, 0.0005 / base.value)
        return Int64(clamping: Int128(start) + Int128((seconds / base.value - tolerance).rounded(.up)))
    }

    private var streamCount: Int { Int(unsafe context.pointee.nb_streams) }

    private func timeBase(of stream: Int) -> Rational {
        let base = unsafe context.pointee.streams[stream]!.pointee.time_base
        return base.num > 0 && base.den > 0 ? Rational(Int(base.num), Int(base.den)) : Rational(1, 90_000)
    }

    /// Whether a stream has pictures or sound. Covers have no time.
    private func isPicturesOrSound(_ stream: Int) -> Bool {
        let disposition = unsafe context.pointee.streams[stream]!.pointee.disposition
        return keepsTime(stream) && disposition & AV_DISPOSITION_ATTACHED_PIC == 0
    }

    /// Returns the streams of the program that contains a stream; nil if no program contains it.
    private func program(of stream: Int) -> Set<Int>? {
        for index in 0..<Int(unsafe context.pointee.nb_programs) {
            guard let program = unsafe context.pointee.programs[index] else { continue }
            var members: Set<Int> = []
            for position in 0..<Int(unsafe program.pointee.nb_stream_indexes) {
                members.insert(Int(unsafe program.pointee.stream_index[position]))
            }
            if members.contains(stream) { return members }
        }
        return nil
    }
}
