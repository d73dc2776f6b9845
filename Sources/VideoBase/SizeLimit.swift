extension VideoSize {
    /// The longest side of a picture that vaenc reads or makes: that of HEVC's highest level.
    package static let longestSide = 16384

    /// The most pixels of a picture that vaenc reads or makes. FFmpeg's libraries take little more.
    package static let mostPixels = 256_000_000

    /// As help and messages name the limits.
    package static let limitWords = "at least 1 and at most 16384 on a side and 256 million pixels (16000x16000)"

    /// Whether a picture has at least one pixel and is within the limits. Memory for a picture whose size comes from a file,
    /// an option or a driver is taken after this check alone.
    package var isWithinLimits: Bool {
        (1...Self.longestSide).contains(width) && (1...Self.longestSide).contains(height)
            && width * height <= Self.mostPixels
    }
}
