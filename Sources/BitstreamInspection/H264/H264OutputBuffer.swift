/// The decoded picture buffer of an output order decoder (H.264 C.4).
struct H264OutputBuffer {
    private struct Entry {
        var frame: Int
        var pictureOrderCount: Int
        var isWaiting: Bool
    }

    private var entries: [Entry] = []
    private var lastOutput: Int?
    private(set) var faults: [String] = []
    /// Frame indices in the order in which the bumping process outputs the frames.
    private(set) var output: [Int] = []

    mutating func takeFaults() -> [String] {
        defer { faults = [] }
        return faults
    }

    /// Outputs all waiting frames and empties the buffer (C.4.4): at an IDR picture, at
    /// memory_management_control_operation 5 and at the end.
    mutating func flush() {
        while entries.contains(where: \.isWaiting) { bump() }
        entries = []
        lastOutput = nil
    }

    /// Stores a picture after its reference marking.
    ///
    /// - Parameters:
    ///   - size: The capacity of the buffer in frames.
    ///   - isReferenced: Whether a frame other than the current one is now marked as a reference.
    mutating func store(
        frame: Int, pictureOrderCount: Int, isReference: Bool, size: Int, isReferenced: (Int) -> Bool
    ) {
        func clean() { entries.removeAll { !$0.isWaiting && !isReferenced($0.frame) } }
        clean()
        while entries.count >= size {
            let next = entries.filter(\.isWaiting).map(\.pictureOrderCount).min()
            if !isReference, next.map({ pictureOrderCount < $0 }) ?? true {
                // C.4.5.2: the picture is output immediately and not stored.
                emit(frame, pictureOrderCount)
                return
            }
            guard next != nil else {
                faults.append("the decoded picture buffer of \(size) frames is full of \(entries.count) references")
                break
            }
            bump()
            clean()
        }
        entries.append(Entry(frame: frame, pictureOrderCount: pictureOrderCount, isWaiting: true))
    }

    /// Outputs the waiting frame with the lowest picture order count (C.4.5.3).
    private mutating func bump() {
        let waiting = entries.indices.filter { entries[$0].isWaiting }
        guard let first = waiting.min(by: { entries[$0].pictureOrderCount < entries[$1].pictureOrderCount }) else {
            return
        }
        entries[first].isWaiting = false
        emit(entries[first].frame, entries[first].pictureOrderCount)
    }

    private mutating func emit(_ frame: Int, _ pictureOrderCount: Int) {
        if let lastOutput, pictureOrderCount < lastOutput {
            faults.append(
                "the picture order count \(pictureOrderCount) follows the output of \(lastOutput): the decoded "
                    + "picture buffer is too small")
        }
        lastOutput = max(pictureOrderCount, lastOutput ?? pictureOrderCount)
        output.append(frame)
    }
}
