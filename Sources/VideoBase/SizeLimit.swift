extension VideoSize {
    /// The maximum width and height of a picture that vaenc reads or creates: those of HEVC's highest level.
    package static let longestSide = 16384

    /// The maximum number of pixels of a picture that vaenc reads or creates. FFmpeg's libraries accept only slightly
    /// more.
    package static let maxPixels = 256_000_000

    /// The limits in words, for help texts and messages.
    package static let limitWords = "at least 1 and at most 16384 a side, and at most 256 million pixels (16000x16000)"

    /// Whether a picture has at least one pixel and is within the limits. If a picture's size comes from a file, an
    /// option or a driver, memory for it is allocated only after this check.
    package var isWithinLimits: Bool {
        (1...Self.longestSide).contains(width) && (1...Self.longestSide).contains(height)
            && width * height <= Self.maxPixels
    }
}
