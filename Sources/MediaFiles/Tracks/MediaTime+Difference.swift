public import VideoBase

extension MediaTime {
    /// Returns the time from `b` to `a`. The ticks represent both times exactly if such a timescale exists.
    public static func - (a: MediaTime, b: MediaTime) -> MediaTime {
        if a.timescale == b.timescale { return a.earlier(byTicks: b.value) }
        let scale = max(a.timescale, b.timescale, 1)
        let other = max(min(a.timescale, b.timescale), 1)
        let isWhole = scale % other == 0 || Int64(scale) * Int64(other) > Int64(Int32.max)
        let fine = isWhole ? scale : scale * other
        let (low, high) = (Int128(max(b.timescale, 1)), Int128(max(a.timescale, 1)))
        let ticks = rounded((Int128(a.value) * low - Int128(b.value) * high) * Int128(fine), by: low * high)
        return MediaTime(value: ticks, timescale: fine)
    }

    /// Returns the sum of two times, in ticks as for `-`.
    public static func + (a: MediaTime, b: MediaTime) -> MediaTime {
        a - MediaTime(value: b.value == .min ? .max : -b.value, timescale: b.timescale)
    }
}
