/// The frames marked as references, and the marking process (H.264 8.2.5).
struct H264ReferenceBuffer {
    struct Entry: Hashable {
        /// The frame's index in coding order; -1 for a “non-existing” frame inferred for a gap in frame_num.
        var frame: Int
        var frame_num: Int
        var pictureOrderCount: Int
        var temporalLayer: Int?
        /// LongTermFrameIdx; nil if the frame is “used for short-term reference”.
        var long_term_frame_idx: Int?
        var isNonExisting: Bool { frame < 0 }
    }

    private(set) var entries: [Entry] = []
    /// MaxLongTermFrameIdx; -1 for “no long-term frame indices”.
    private var maxLongTermFrameIdx = -1
    /// Errors found while marking. The caller takes them and clears the list.
    var faults: [String] = []

    var shortTerm: [Entry] { entries.filter { $0.long_term_frame_idx == nil } }
    var longTerm: [Entry] { entries.filter { $0.long_term_frame_idx != nil } }
    func contains(_ frame: Int) -> Bool { entries.contains { $0.frame == frame } }

    /// Returns FrameNumWrap, which is PicNum for frames (8-27, 8-28).
    static func picNum(_ entry: Entry, current frame_num: Int, maxFrameNum: Int) -> Int {
        entry.frame_num > frame_num ? entry.frame_num - maxFrameNum : entry.frame_num
    }

    /// Applies the sliding window (8.2.5.3), before a short-term reference is added.
    private mutating func slide(current frame_num: Int, _ sps: H264SequenceParameterSet) {
        let limit = max(sps.max_num_ref_frames, 1)
        while entries.count >= limit {
            let oldest = entries.indices.filter { entries[$0].long_term_frame_idx == nil }.min {
                let a = Self.picNum(entries[$0], current: frame_num, maxFrameNum: sps.maxFrameNum)
                return a < Self.picNum(entries[$1], current: frame_num, maxFrameNum: sps.maxFrameNum)
            }
            guard let oldest else {
                faults.append("the sliding window finds long-term references only: \(entries.count) of \(limit)")
                return
            }
            entries.remove(at: oldest)
        }
    }

    /// Returns the frame_num values of the frames that are missing between two reference pictures (8.2.5.2), at most the
    /// last 16: these remove all earlier ones from the buffer.
    static func missing(after previous: Int, before frame_num: Int, _ sps: H264SequenceParameterSet) -> [Int] {
        let count = (frame_num - previous - 1 + sps.maxFrameNum) % sps.maxFrameNum
        return (0..<min(count, 16)).reversed().map { (frame_num - 1 - $0 + sps.maxFrameNum) % sps.maxFrameNum }
    }

    /// Adds a frame inferred for a gap (8.2.5.2).
    mutating func addNonExisting(frame_num: Int, _ sps: H264SequenceParameterSet) {
        slide(current: frame_num, sps)
        entries.append(Entry(frame: -1, frame_num: frame_num, pictureOrderCount: 0))
    }

    /// Marks references after the reference picture `current` was decoded.
    ///
    /// - Returns: `current` with its own marking.
    mutating func mark(_ current: Entry, marking: H264SliceHeader.Marking, sps: H264SequenceParameterSet) -> Entry {
        var current = current
        switch marking {
        case .idr(_, let isLongTerm):
            entries = []
            maxLongTermFrameIdx = isLongTerm ? 0 : -1
            if isLongTerm { current.long_term_frame_idx = 0 }
        case .slidingWindow:
            slide(current: current.frame_num, sps)
        case .adaptive(let operations):
            for operation in operations { apply(operation, to: &current, sps: sps) }
        }
        entries.append(current)
        let limit = max(sps.max_num_ref_frames, 1)
        if entries.count > limit {
            faults.append("\(entries.count) frames are marked as references, but max_num_ref_frames is \(limit)")
            if let first = entries.firstIndex(where: { $0.long_term_frame_idx == nil }), entries[first] != current {
                entries.remove(at: first)
            } else {
                entries.removeFirst()
            }
        }
        return current
    }

    private func find(_ difference: Int, from current: Entry, sps: H264SequenceParameterSet) -> Int? {
        entries.firstIndex {
            $0.long_term_frame_idx == nil
                && Self.picNum($0, current: current.frame_num, maxFrameNum: sps.maxFrameNum)
                    == current.frame_num - difference
        }
    }

    /// Applies one operation of adaptive memory control (8.2.5.4).
    private mutating func apply(
        _ operation: H264SliceHeader.MemoryManagementOperation, to current: inout Entry, sps: H264SequenceParameterSet
    ) {
        switch operation {
        case .forgetShortTerm(let difference):
            guard let found = find(difference, from: current, sps: sps) else {
                return faults.append(
                    "operation 1 unmarks the picture \(difference) before, which is not a short-term picture")
            }
            if entries[found].isNonExisting, !sps.gaps_in_frame_num_value_allowed_flag {
                faults.append("operation 1 unmarks the short-term picture \(difference) before, which is missing")
            }
            entries.remove(at: found)
        case .forgetLongTerm(let number):
            guard let found = entries.firstIndex(where: { $0.long_term_frame_idx == number }) else {
                return faults.append("operation 2 unmarks picture \(number), which is not a long-term picture")
            }
            entries.remove(at: found)
        case .makeLongTerm(let difference, let index):
            checkLongTerm(index)
            guard let found = find(difference, from: current, sps: sps) else {
                return faults.append(
                    "operation 3 uses the picture \(difference) before, which is not a short-term picture")
            }
            if entries[found].isNonExisting { faults.append("operation 3 uses a non-existing frame") }
            let frame = entries[found]
            entries.removeAll { $0.long_term_frame_idx == index }
            if let position = entries.firstIndex(of: frame) { entries[position].long_term_frame_idx = index }
        case .setLongTermCount(let count):
            if count > sps.max_num_ref_frames {
                faults.append("operation 4 allows \(count) long-term indices, but max_num_ref_frames is less")
            }
            maxLongTermFrameIdx = count - 1
            entries.removeAll { $0.long_term_frame_idx.map { $0 >= count } ?? false }
        case .forgetAll:
            entries = []
            maxLongTermFrameIdx = -1
            current.frame_num = 0
        case .makeCurrentLongTerm(let index):
            checkLongTerm(index)
            entries.removeAll { $0.long_term_frame_idx == index }
            current.long_term_frame_idx = index
        }
    }

    private mutating func checkLongTerm(_ index: Int) {
        if index > maxLongTermFrameIdx {
            faults.append("long_term_frame_idx is \(index), but MaxLongTermFrameIdx is \(maxLongTermFrameIdx)")
        }
    }
}
