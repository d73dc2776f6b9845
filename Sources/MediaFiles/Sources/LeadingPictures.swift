import CLibAV

/// The pictures at the beginning of an input that cannot be decoded, because they refer to pictures before it.
struct LeadingPictures {
    /// Whether packets before the first key picture are not sent to the decoder. libavcodec's HEVC decoder generates the
    /// missing references, and would output these pictures. Other decoders do not output them.
    private let keepsToKeys: Bool
    private var awaitsKey = true
    /// Whether packets in front of the next key picture are left out because the first packet lacks data.
    private var dropsToKey = false
    /// Whether the first key picture is damaged: the pictures up to the next key picture refer to it.
    private var skipsToKey = false
    /// The number of pictures before the first that can be decoded.
    private var leftOut = 0
    /// The number of pictures that lead the first key picture and cannot be decoded.
    private var leading = 0
    /// The presentation times of the packets up to the first decoded picture.
    private var seen: [Int64]? = []

    init(keepsToKeys: Bool) { self.keepsToKeys = keepsToKeys }

    /// The number of pictures that are left out.
    var count: Int { leftOut + leading }

    /// Records that the first packet lacks data. Decoding begins at the next key picture.
    mutating func loseFirstPacket() {
        if dropsToKey { return }
        leftOut += 1
        (awaitsKey, dropsToKey) = (true, true)
    }

    /// Records the presentation time of a packet whose picture is shown.
    mutating func see(_ time: Int64) { seen?.append(time) }

    /// Records pictures that lead a key picture and cannot be decoded.
    mutating func lead(_ count: Int) { leading += count }

    /// Takes the next packet before the first decoded picture. Returns whether it is sent to the decoder.
    mutating func admits(isKey: Bool, isShown: Bool) -> Bool {
        if !awaitsKey { return true }
        awaitsKey = !isKey
        if isKey { return true }
        if isShown { leftOut += 1 }
        return !keepsToKeys && !dropsToKey
    }

    /// Records a picture that cannot be decoded before the first decoded picture.
    mutating func miss() {
        if !awaitsKey { leftOut += 1 }
    }

    /// Records that the first key picture is damaged.
    mutating func loseKey() { skipsToKey = true }

    /// Takes a decoded picture. Returns whether it is left out because it refers to a damaged key picture.
    mutating func skips(isKey: Bool) -> Bool {
        guard skipsToKey else { return false }
        skipsToKey = !isKey
        if skipsToKey { leftOut += 1 }
        return skipsToKey
    }

    /// Counts the pictures that were read before the first decoded picture and were not output, whether or not decoders
    /// report them.
    ///
    /// - Parameter time: The presentation time of the first decoded picture; nil if it is unknown.
    mutating func begin(at time: Int64?) {
        defer { seen = nil }
        guard !awaitsKey else {
            // The stream has no key frames.
            leftOut = 0
            return
        }
        guard let time, let seen, let index = seen.lastIndex(of: time) else { return }
        // If an edit list hides the first key picture, pictures that are shown later may still be output.
        leftOut = max(leftOut, seen[..<index].count { $0 < time })
    }
}
