/// A reference frame, with the values that header writing needs.
package struct ReferenceFrame: Equatable, Sendable {
    /// frame_num of a short-term reference, or LongTermFrameIdx of a long-term reference.
    package var index: Int
    package var isLongTerm = false
    package var pictureOrderCount = 0

    package init(index: Int, isLongTerm: Bool = false, pictureOrderCount: Int = 0) {
        self.index = index
        self.isLongTerm = isLongTerm
        self.pictureOrderCount = pictureOrderCount
    }
}

/// Reference list construction for frames, H.264 8.2.4.
package struct ReferenceOrder {
    package typealias ReferenceListModification = H264SliceHeader.ReferenceListModification

    package var frame_num: Int
    package var maxFrameNum: Int

    package init(frame_num: Int, maxFrameNum: Int) {
        self.frame_num = frame_num
        self.maxFrameNum = maxFrameNum
    }

    /// Returns PicNum, 8.2.4.1, or for a long-term reference LongTermPicNum, which equals its index.
    package func pictureNumber(_ frame: ReferenceFrame) -> Int {
        frame.isLongTerm || frame.index <= frame_num ? frame.index : frame.index - maxFrameNum
    }

    /// Returns the initial list of a P slice, 8.2.4.2.1.
    package func initialP(_ frames: [ReferenceFrame]) -> [ReferenceFrame] {
        frames.filter { !$0.isLongTerm }.sorted { pictureNumber($0) > pictureNumber($1) } + longTerm(frames)
    }

    /// Returns the initial lists of a B slice, 8.2.4.2.3.
    package func initialB(_ frames: [ReferenceFrame], pictureOrderCount: Int) -> [[ReferenceFrame]] {
        let shortTerm = frames.filter { !$0.isLongTerm }
        let before = shortTerm.filter { $0.pictureOrderCount < pictureOrderCount }
            .sorted { $0.pictureOrderCount > $1.pictureOrderCount }
        let after = shortTerm.filter { $0.pictureOrderCount >= pictureOrderCount }
            .sorted { $0.pictureOrderCount < $1.pictureOrderCount }
        let list0 = before + after + longTerm(frames)
        var list1 = after + before + longTerm(frames)
        if list1.count > 1 && list0 == list1 { list1.swapAt(0, 1) }
        return [list0, list1]
    }

    private func longTerm(_ frames: [ReferenceFrame]) -> [ReferenceFrame] {
        frames.filter(\.isLongTerm).sorted { $0.index < $1.index }
    }

    /// Returns the smallest number of modification commands that change `initial` into `target`, 8.2.4.3. The commands
    /// set entries from the start of the list. If the lists agree, there are none.
    package func modifications(from initial: [ReferenceFrame], to target: [ReferenceFrame])
        -> [ReferenceListModification]
    {
        var list = initial
        var commands: [ReferenceListModification] = []
        var predicted = frame_num
        for position in 0..<target.count {
            if list.count >= target.count && Array(list[..<target.count]) == target { break }
            let frame = target[position]
            if frame.isLongTerm {
                commands.append(.init(idc: 2, value: frame.index))
            } else {
                let number = pictureNumber(frame)
                let difference = number - predicted
                // A difference of 0 cannot be coded. Subtracting MaxFrameNum leads to the same number.
                commands.append(
                    difference > 0
                        ? .init(idc: 1, value: difference - 1)
                        : .init(idc: 0, value: (difference == 0 ? maxFrameNum : -difference) - 1))
                predicted = number
            }
            let remaining = list[min(position, list.count)...].filter {
                $0.isLongTerm != frame.isLongTerm || $0.index != frame.index
            }
            list = Array(list[..<min(position, list.count)]) + [frame] + remaining
        }
        return commands
    }
}
