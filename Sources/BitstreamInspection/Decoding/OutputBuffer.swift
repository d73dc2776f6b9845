/// The decoded picture buffer of an output order decoder (H.264 C.4).
struct OutputBuffer {
    private struct Entry {
        var frame: Int
        var pictureOrderCount: Int
        var isWaiting: Bool
    }

    private var entries: [Entry] = []
    private var lastOutput: Int?
    private(set) var faults: [String] = []
    /// Frames as the bumping process outputs them.
    private(set) var output: [Int] = []

    mutating func takeFaults() -> [String] {
        defer { faults = [] }
        return faults
    }

    /// Everything that waits goes out and the buffer is empty (C.4.4): at an IDR picture, at
    /// memory_management_control_operation 5 and at the end.
    mutating func flush() {
        while entries.contains(where: \.isWaiting) { bump() }
        entries = []
        lastOutput = nil
    }

    /// The picture after its marking.
    ///
    /// - Parameters:
    ///   - size: frames that the buffer holds.
    ///   - isReferenced: whether a frame is marked as a reference now, the current one left out.
    mutating func store(
        frame: Int, pictureOrderCount: Int, isReference: Bool, size: Int, isReferenced: (Int) -> Bool
    ) {
        func clean() { entries.removeAll { !$0.isWaiting && !isReferenced($0.frame) } }
        clean()
        while entries.count >= size {
            let next = entries.filter(\.isWaiting).map(\.pictureOrderCount).min()
            if !isReference, next.map({ pictureOrderCount < $0 }) ?? true {
                // C.4.5.2: output at once, never stored.
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

    /// C.4.5.3.
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
                "the picture order count \(pictureOrderCount) comes after \(lastOutput) was put out: the decoded "
                    + "picture buffer is too small")
        }
        lastOutput = max(pictureOrderCount, lastOutput ?? pictureOrderCount)
        output.append(frame)
    }
}
