/// The construction of reference picture lists for frames (H.264 8.2.4).
struct H264ReferenceLists {
    private typealias Entry = H264ReferenceBuffer.Entry

    let buffer: H264ReferenceBuffer
    let maxFrameNum: Int
    let frame_num: Int
    let pictureOrderCount: Int
    private(set) var faults: [String] = []

    init(buffer: H264ReferenceBuffer, maxFrameNum: Int, frame_num: Int, pictureOrderCount: Int) {
        self.buffer = buffer
        self.maxFrameNum = maxFrameNum
        self.frame_num = frame_num
        self.pictureOrderCount = pictureOrderCount
    }

    /// Returns RefPicList0 and RefPicList1 of a slice. Nil entries are “no reference picture”.
    mutating func lists(of slice: H264SliceHeader) -> [[H264ReferenceBuffer.Entry?]] {
        if slice.slice_type.isIntra { return [[], []] }
        var result = slice.slice_type == .b ? initialB() : [initialP(), []]
        // If the lists have more than one entry and are equal, the first two entries of list 1 are swapped (8.2.4.2.3).
        if slice.slice_type == .b, result[1].count > 1, result[0] == result[1] { result[1].swapAt(0, 1) }
        return result.enumerated().map { index, initial in
            let count = slice.num_ref_idx_active[index]
            var list: [Entry?] = Array(initial.prefix(count))
            list += [Entry?](repeating: nil, count: count - list.count)
            if let commands = slice.modifications[index] {
                list = modified(list, commands, name: "list \(index)")
            }
            if let missing = list.firstIndex(of: nil) {
                faults.append(
                    "entry \(missing) of \(count) in list \(index) is not a picture: there are \(initial.count) "
                        + "pictures")
            }
            return list
        }
    }

    private func picNum(_ entry: Entry) -> Int {
        H264ReferenceBuffer.picNum(entry, current: frame_num, maxFrameNum: maxFrameNum)
    }

    private var longTerm: [Entry] {
        buffer.longTerm.sorted { $0.long_term_frame_idx ?? 0 < $1.long_term_frame_idx ?? 0 }
    }

    /// Returns the initial list of a P slice (8.2.4.2.1).
    private func initialP() -> [Entry] {
        buffer.shortTerm.sorted { picNum($0) > picNum($1) } + longTerm
    }

    /// Returns the initial lists of a B slice (8.2.4.2.3). Frames inferred for gaps are excluded: they have no picture
    /// order count.
    private func initialB() -> [[Entry]] {
        let short = buffer.shortTerm.filter { !$0.isNonExisting }
        let before = short.filter { $0.pictureOrderCount < pictureOrderCount }
            .sorted { $0.pictureOrderCount > $1.pictureOrderCount }
        let after = short.filter { $0.pictureOrderCount >= pictureOrderCount }
            .sorted { $0.pictureOrderCount < $1.pictureOrderCount }
        return [before + after + longTerm, after + before + longTerm]
    }

    /// Applies the modification commands to a list (8.2.4.3).
    private mutating func modified(
        _ list: [Entry?], _ commands: [H264SliceHeader.ReferenceListModification], name: String
    ) -> [Entry?] {
        var list = list
        var predicted = frame_num
        for (index, command) in commands.enumerated() {
            let chosen: Entry?
            switch command {
            case .subtract(let difference), .add(let difference):
                guard difference <= maxFrameNum else {
                    faults.append("\(name): abs_diff_pic_num \(difference) exceeds MaxPicNum")
                    continue
                }
                var number = predicted
                if case .subtract = command {
                    number -= difference
                    if number < 0 { number += maxFrameNum }
                } else {
                    number += difference
                    if number >= maxFrameNum { number -= maxFrameNum }
                }
                predicted = number
                if number > frame_num { number -= maxFrameNum }
                chosen = buffer.shortTerm.first { picNum($0) == number }
                if chosen == nil { faults.append("\(name): there is no short-term picture number \(number)") }
            case .longTerm(let number):
                chosen = buffer.longTerm.first { $0.long_term_frame_idx == number }
                if chosen == nil { faults.append("\(name): there is no long-term picture \(number)") }
            }
            guard let chosen, index < list.count else { continue }
            if chosen.isNonExisting { faults.append("\(name) contains a frame that was inferred for a gap") }
            // Insert the picture and remove its later occurrence.
            let length = list.count
            var rest = Array(list[index...])
            if let again = rest.firstIndex(of: chosen) { rest.remove(at: again) }
            list = Array((list[..<index] + [chosen] + rest).prefix(length))
            list += [Entry?](repeating: nil, count: length - list.count)
        }
        return list
    }
}
