/// The number of slices and SEI messages of a stream that are read. The limit exists because each takes far more memory
/// than its few bytes in the stream.
///
/// A stream whose slices have at least 128 bytes is read completely, and so are 250,000 slices of any size.
struct HeaderBudget {
    private var left: Int
    private var isReported = false
    private let whole: Int

    static func whole(byteCount: Int) -> Int { 250_000 + byteCount / 128 }

    init(byteCount: Int) {
        whole = Self.whole(byteCount: byteCount)
        left = whole
    }

    enum Answer {
        case take
        /// The first item that is not read, with the message to report.
        case report(String)
        case leave
    }

    mutating func take(_ count: Int = 1) -> Answer {
        if count <= left {
            left -= count
            return .take
        }
        left = 0
        if isReported { return .leave }
        isReported = true
        return .report(
            "there are more than \(whole) slices and SEI messages, too many for the size of the stream: the others are "
                + "not read")
    }
}
