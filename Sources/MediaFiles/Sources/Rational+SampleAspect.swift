import VideoBase

extension Rational {
    /// The nearest ratio of two numbers from 1 to 65535, which is the range in streams (sar_width and sar_height, H.264
    /// E.2.1). A ratio that is not positive is only reduced.
    var asSampleAspect: Rational {
        let limit: Int128 = 65535
        let exact = reduced
        var (numerator, denominator) = (Int128(exact.numerator), Int128(exact.denominator))
        guard numerator > 0, denominator > 0, max(numerator, denominator) > limit else { return exact }
        // The convergents of the continued fraction. The last one and the one before are kept.
        var last: (n: Int128, d: Int128) = (1, 0)
        var before: (n: Int128, d: Int128) = (0, 1)
        while denominator != 0 {
            var term = numerator / denominator
            let next = (n: term * last.n + before.n, d: term * last.d + before.d)
            if max(next.n, next.d) > limit {
                // A fraction between two convergents may be nearer than the last convergent.
                if last.n > 0 { term = min(term, (limit - before.n) / last.n) }
                if last.d > 0 { term = min(term, (limit - before.d) / last.d) }
                if denominator * (2 * term * last.d + before.d) > numerator * last.d {
                    last = (n: term * last.n + before.n, d: term * last.d + before.d)
                }
                break
            }
            (before, last) = (last, next)
            (numerator, denominator) = (denominator, numerator % denominator)
        }
        return Rational(max(Int(last.n), 1), last.n > 0 ? max(Int(last.d), 1) : Int(limit))
    }
}
