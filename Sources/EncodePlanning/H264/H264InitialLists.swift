/// The initial reference lists of a frame, H.264 8.2.4.2.1 (P) and 8.2.4.2.3 (B), and the modifications that turn them
/// into other lists.
struct H264InitialLists {
    let frame_num: Int
    let maxFrameNum: Int
    private let isB: Bool
    private(set) var list0: [H264StoredPicture]
    private(set) var list1: [H264StoredPicture] = []

    init(stored: [H264StoredPicture], frame_num: Int, maxFrameNum: Int, picOrderCount: Int, isB: Bool) {
        self.frame_num = frame_num
        self.maxFrameNum = maxFrameNum
        self.isB = isB
        list0 = []
        let hasLong = stored.contains { $0.longTermIndex != nil }
        let short = hasLong ? stored.filter { $0.longTermIndex == nil } : stored
        let long = !hasLong ? [] : stored.filter { $0.longTermIndex != nil }.sorted { ($0.longTermIndex ?? 0) < ($1.longTermIndex ?? 0) }
        if isB {
            let before = short.filter { $0.picOrderCount < picOrderCount }
                .sorted { $0.picOrderCount > $1.picOrderCount }
            let after = short.filter { $0.picOrderCount > picOrderCount }
                .sorted { $0.picOrderCount < $1.picOrderCount }
            list0 = before + after + long
            list1 = after + before + long
            if list1.count > 1, list1 == list0 { list1.swapAt(0, 1) }
        } else {
            list0 = short.count > 1 ? short.sorted { picNum($0) > picNum($1) } : short
            if !long.isEmpty { list0 += long }
        }
    }

    /// PicNum of a short-term frame: FrameNumWrap, 8.2.4.1.
    func picNum(_ picture: H264StoredPicture) -> Int {
        picture.frame_num > frame_num ? picture.frame_num - maxFrameNum : picture.frame_num
    }

    /// Returns the shortest series of modifications that moves `wanted` to the front of `initial`. Each modification
    /// moves one picture to the next index and shifts the rest (8.2.4.3.1). So the series may stop when the rest is
    /// already in order.
    ///
    /// - Parameter isExplicit: Whether to name every entry, so that a decoder that missed pictures and stores others
    ///   still finds the right ones. A P picture whose only reference is the short-term picture coded last needs no
    ///   modification.
    func modifications(
        from initial: [H264StoredPicture], to wanted: [H264StoredPicture], isExplicit: Bool
    ) -> [H264ListModification] {
        var moved = 0
        let isLatest = wanted.first.map { $0.longTermIndex == nil && ($0.frame_num + 1) % maxFrameNum == frame_num }
        if isExplicit, isB || wanted.count > 1 || isLatest != true {
            moved = wanted.count
        }
        while moved < wanted.count {
            if follows(wanted.dropFirst(moved), wanted.prefix(moved), in: initial) { break }
            moved += 1
        }
        if moved == 0 { return [] }
        var predicted = frame_num
        return wanted.prefix(moved).map { picture in
            if let index = picture.longTermIndex { return .longTerm(long_term_pic_num: index) }
            defer { predicted = picNum(picture) }
            return .shortTerm(picNumDifference: picNum(picture) - predicted)
        }
    }

    /// Whether `rest` is what `initial` begins with once the pictures of `front` have been moved to the front.
    private func follows(
        _ rest: ArraySlice<H264StoredPicture>, _ front: ArraySlice<H264StoredPicture>, in initial: [H264StoredPicture]
    ) -> Bool {
        var left = rest
        for picture in initial where !front.contains(picture) {
            guard let next = left.first else { return true }
            if picture != next { return false }
            left.removeFirst()
        }
        return left.isEmpty
    }
}
