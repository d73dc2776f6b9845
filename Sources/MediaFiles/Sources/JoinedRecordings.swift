import VideoBase

/// The pictures that are left out where another recording follows in the input and begins between its key pictures: they
/// refer to pictures that the input does not contain.
struct JoinedRecordings {
    /// Whether no key picture was read since the times jumped.
    private(set) var awaitsKey = false
    /// Whether pictures are left out up to the next key picture.
    private(set) var isSkipping = false
    /// Whether no recording follows the first one so far.
    private(set) var isEmpty = true
    /// The number of pictures before the latest recording.
    private var position = 0
    /// Whether pictures of the latest recording are left out.
    private var isIncomplete = false
    /// The number of recordings of which pictures are left out, of pictures before the first of them, and of pictures
    /// that are left out.
    private var (count, first, leftOut) = (0, 0, 0)

    /// The report about the pictures that are left out; nil if there are none.
    var entry: EffectiveEntry? {
        if leftOut == 0 { return nil }
        let place = count == 1 ? "at picture \(first)" : "at \(count) places, first at picture \(first)"
        return EffectiveEntry(
            option: "pictures", asked: "all", used: "\(leftOut) left out", why: "another recording begins \(place), between its key pictures")
    }

    /// Records that the times jump.
    mutating func jump() { awaitsKey = true }

    /// Records that another recording begins. Its pictures are left out up to the first key picture.
    mutating func skip() { (isSkipping, isIncomplete, isEmpty) = (true, false, false) }

    /// Records that a key picture was read.
    mutating func reachKey() { (awaitsKey, isSkipping) = (false, false) }

    /// Records the number of decoded pictures before the recording. Call it when all of them are decoded.
    mutating func begin(after pictures: Int) {
        position = pictures
        if isIncomplete, count == 1 { first = pictures }
    }

    /// Records pictures of the recording that are left out.
    mutating func leaveOut(_ pictures: Int = 1) {
        if pictures == 0 { return }
        leftOut += pictures
        if isIncomplete { return }
        isIncomplete = true
        count += 1
        if count == 1 { first = position }
    }
}
