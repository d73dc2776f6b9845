/// The decoded picture buffer of an output order decoder that decodes the sub-layers up to one HighestTid (H.265
/// C.5.2).
struct HEVCOutputBuffer {
    private struct Entry {
        var frame: Int
        var pictureOrderCount: Int
        var isWaiting: Bool
        /// PicLatencyCount.
        var latency = 0
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

    /// Empties the buffer at an IRAP picture with NoRaslOutputFlag (C.5.2.2).
    ///
    /// - Parameter discards: NoOutputOfPriorPicsFlag.
    mutating func startSequence(discards: Bool) {
        if discards, case let lost = entries.filter(\.isWaiting), !lost.isEmpty {
            faults.append("no_output_of_prior_pics_flag discards \(lost.count) pictures before their output")
        } else {
            flush()
        }
        entries = []
        lastOutput = nil
    }

    /// Outputs all waiting pictures.
    mutating func flush() {
        while entries.contains(where: \.isWaiting) { bump() }
    }

    /// Removes pictures before the current picture, after its reference picture set, and bumps until the buffer has
    /// room (C.5.2.2).
    mutating func makeRoom(_ limits: HEVCSubLayerOrdering, isReferenced: (Int) -> Bool) {
        entries.removeAll { !$0.isWaiting && !isReferenced($0.frame) }
        let size = limits.max_dec_pic_buffering
        while entries.contains(where: \.isWaiting), mustBump(limits) || entries.count >= size {
            bump()
            entries.removeAll { !$0.isWaiting && !isReferenced($0.frame) }
        }
        if entries.count >= size {
            faults.append("the decoded picture buffer of \(size) pictures is full of \(entries.count) references")
        }
    }

    /// Stores the current picture after decoding (C.5.2.3).
    mutating func store(frame: Int, pictureOrderCount: Int, isOutput: Bool, _ limits: HEVCSubLayerOrdering) {
        if isOutput {
            for index in entries.indices
            where entries[index].isWaiting && entries[index].pictureOrderCount > pictureOrderCount {
                entries[index].latency += 1
            }
        }
        entries.append(Entry(frame: frame, pictureOrderCount: pictureOrderCount, isWaiting: isOutput))
        while mustBump(limits) { bump() }
    }

    private func mustBump(_ limits: HEVCSubLayerOrdering) -> Bool {
        let waiting = entries.filter(\.isWaiting)
        if waiting.count > limits.max_num_reorder_pics { return true }
        guard let most = limits.maxLatencyPictures else { return false }
        return waiting.contains { $0.latency >= most }
    }

    /// Outputs the waiting picture with the lowest picture order count (C.5.2.4).
    private mutating func bump() {
        let waiting = entries.indices.filter { entries[$0].isWaiting }
        guard let first = waiting.min(by: { entries[$0].pictureOrderCount < entries[$1].pictureOrderCount }) else {
            return
        }
        entries[first].isWaiting = false
        let count = entries[first].pictureOrderCount
        if let lastOutput, count < lastOutput {
            faults.append(
                "the picture order count \(count) follows the output of \(lastOutput): reordering or the decoded "
                    + "picture buffer is too small")
        }
        lastOutput = max(count, lastOutput ?? count)
        output.append(entries[first].frame)
    }
}
