import CLibAV
import LibAV
import VideoBase

/// Where a file begins: its times may be counted from any.
extension InputContext {
    /// When the first of the file's pictures and sound begins, in ticks of a stream; nil where the file does not say it. Of a file with
    /// several programs, that of the stream alone counts: each program has a clock of its own (H.222.0 2.4.2.2).
    func beginning(for stream: Int) -> Int64? {
        let base = timeBase(of: stream)
        let members = program(of: stream)
        return (0..<streamCount).filter { isPicturesOrSound($0) && members?.contains($0) ?? true }.compactMap { index -> Int64? in
            guard let start = firstTime(of: index) else { return nil }
            let own = timeBase(of: index)
            return MediaTime.rounded(
                Int128(start) * Int128(own.numerator) * Int128(base.denominator),
                by: Int128(own.denominator) * Int128(base.numerator))
        }.min()
    }

    /// When a stream begins, in its ticks; nil where the file does not say it.
    func firstTime(of stream: Int) -> Int64? {
        let start = unsafe context.pointee.streams[stream]!.pointee.start_time
        return start == vaenc_no_pts() ? nil : start
    }

    /// The time that lies so many seconds behind another, both in ticks of `base`: a picture that is shown there may have been rounded to it.
    static func ticks(_ seconds: Double, after start: Int64, _ base: Rational) -> Int64 {
        Int64(clamping: Int128(start) + Int128((seconds / base.value).rounded()))
    }

    private var streamCount: Int { Int(unsafe context.pointee.nb_streams) }

    private func timeBase(of stream: Int) -> Rational {
        let base = unsafe context.pointee.streams[stream]!.pointee.time_base
        return base.num > 0 && base.den > 0 ? Rational(Int(base.num), Int(base.den)) : Rational(1, 90_000)
    }

    /// Covers have no time.
    private func isPicturesOrSound(_ stream: Int) -> Bool {
        let attachedPicture: Int32 = 0x0400
        let disposition = unsafe context.pointee.streams[stream]!.pointee.disposition
        return keepsTime(stream) && disposition & attachedPicture == 0
    }

    /// The streams of the program that a stream is part of; nil where it is part of none.
    private func program(of stream: Int) -> Set<Int>? {
        for index in 0..<Int(unsafe context.pointee.nb_programs) {
            guard let program = unsafe context.pointee.programs[index] else { continue }
            var members: Set<Int> = []
            for place in 0..<Int(unsafe program.pointee.nb_stream_indexes) {
                members.insert(Int(unsafe program.pointee.stream_index[place]))
            }
            if members.contains(stream) { return members }
        }
        return nil
    }
}
