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
    /// Whether pictures of the latest recording are left out.
    private var isIncomplete = false
    /// The pictures that are left out, and their recordings, until the pictures before them are output. The output may end
    /// before.
    private var (pending, pendingCount) = (0, 0)
    /// The number of recordings of which pictures are left out, and of these pictures.
    private var (count, leftOut) = (0, 0)

    /// The report about the pictures that are left out; nil if there are none.
    var entry: EffectiveEntry? {
        if leftOut == 0 { return nil }
        let what = count == 1 ? "another recording begins between its" : "\(count) other recordings begin between their"
        return EffectiveEntry(option: "pictures", asked: "all", used: "\(leftOut) left out", why: "\(what) key pictures")
    }

    /// Records that the times jump.
    mutating func jump() { awaitsKey = true }

    /// Records that another recording begins. Its pictures are left out up to the first key picture.
    mutating func skip() { (isSkipping, isIncomplete, isEmpty) = (true, false, false) }

    /// Records that a key picture was read.
    mutating func reachKey() { (awaitsKey, isSkipping) = (false, false) }

    /// Records a picture before the recording's first key picture.
    mutating func leaveOut() { add(1) }

    private mutating func add(_ pictures: Int) {
        if pictures == 0 { return }
        pending += pictures
        if !isIncomplete { (isIncomplete, pendingCount) = (true, pendingCount + 1) }
    }

    /// Records that all pictures before the recording are output, and that its pictures follow or are left out.
    ///
    /// - Parameter more: The number of pictures that are left out in addition.
    mutating func report(_ more: Int = 0) {
        add(more)
        (leftOut, count) = (leftOut + pending, count + pendingCount)
        (pending, pendingCount) = (0, 0)
    }
}
