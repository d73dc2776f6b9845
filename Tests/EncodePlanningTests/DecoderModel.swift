import EncodePlanning
import VideoBase

/// A model of how a decoder interprets a picture's numbers: reference lists (8.2.4), marking (8.2.5) and order (8.2.1).
/// It is written from the standard's text alone and shares nothing with the planner.
///
/// The coder assigns a name to each picture; only `Result` and `frames` use it.
struct DecoderModel {
    struct Frame: Equatable {
        /// The picture's name, or nil if the frame was inferred for a gap in frame_num.
        var name: Int?
        var frame_num: Int
        var poc: Int
        var longTerm: Int?
    }

    struct Result {
        var poc: Int
        /// The names in RefPicList0 and RefPicList1; nil is an entry without a picture.
        var list0: [Int?]
        var list1: [Int?]
    }

    let maxFrameNum: Int
    let maxLsb: Int
    let max_num_ref_frames: Int
    /// Whether gaps_in_frame_num_value_allowed_flag is set, or the decoder conceals losses in this way.
    var allowsGaps = false
    /// Whether the decoder infers no frames for a gap in frame_num. libavcodec does this if the gap shows in a
    /// non-reference picture.
    var infersNothing = false
    var frames: [Frame] = []
    var maxLongTermCount = 0
    var prevRefFrameNum = 0
    var prevPicOrderCntMsb = 0
    var prevPicOrderCntLsb = 0
    var decoded = 0
    var previousIDR: Int?
    var faults: [String] = []

    init(maxFrameNum: Int, maxLsb: Int, max_num_ref_frames: Int, allowsGaps: Bool = false) {
        self.maxFrameNum = maxFrameNum
        self.maxLsb = maxLsb
        self.max_num_ref_frames = max_num_ref_frames
        self.allowsGaps = allowsGaps
    }

    mutating func decode(_ type: PictureType, name: Int, _ n: H264PictureNumbers) -> Result {
        if type == .idr {
            beginSequence(n)
        } else if n.frame_num != (prevRefFrameNum + 1) % maxFrameNum {
            if !allowsGaps { fault("a gap in frame_num") } else if !infersNothing { inferFrames(upTo: n.frame_num) }
        }
        let (msb, lsb) = order(n)
        let poc = msb + lsb
        let lists = lists(type, poc, n)
        if n.nal_ref_idc != 0 {
            var current = Frame(name: name, frame_num: n.frame_num, poc: poc)
            if type == .idr {
                if !n.marking.isEmpty { fault("marking commands in an IDR picture") }
                current.longTerm = n.isLongTermReference ? 0 : nil
                maxLongTermCount = n.isLongTermReference ? 1 : 0
            } else if n.marking.isEmpty {
                slide(n.frame_num)
            } else {
                mark(n, &current)
            }
            frames.append(current)
            if frames.count > max_num_ref_frames {
                fault("too many references")
                if let oldest = frames.firstIndex(where: { $0.longTerm == nil }) { frames.remove(at: oldest) }
            }
            prevRefFrameNum = n.frame_num
            prevPicOrderCntMsb = msb
            prevPicOrderCntLsb = lsb
        } else if !n.marking.isEmpty {
            fault("marking commands in a picture that is no reference")
        }
        decoded += 1
        return Result(poc: poc, list0: lists.0, list1: lists.1)
    }

    private mutating func fault(_ text: String) { faults.append("\(text) at \(decoded)") }

    private mutating func beginSequence(_ n: H264PictureNumbers) {
        frames.removeAll()
        prevPicOrderCntMsb = 0
        prevPicOrderCntLsb = 0
        if n.frame_num != 0 { fault("an IDR picture's frame_num is not 0") }
        if n.nal_ref_idc == 0 { fault("an IDR picture is no reference") }
        if previousIDR == n.idr_pic_id { fault("idr_pic_id repeats") }
        previousIDR = n.idr_pic_id
    }

    /// Implements 8.2.5.2.
    private mutating func inferFrames(upTo frame_num: Int) {
        var number = (prevRefFrameNum + 1) % maxFrameNum
        while number != frame_num {
            slide(number)
            frames.append(Frame(name: nil, frame_num: number, poc: 0))
            prevRefFrameNum = number
            number = (number + 1) % maxFrameNum
        }
    }

    /// Implements 8.2.1.1.
    private func order(_ n: H264PictureNumbers) -> (msb: Int, lsb: Int) {
        let lsb = n.pic_order_cnt_lsb
        var msb = prevPicOrderCntMsb
        if lsb < prevPicOrderCntLsb, prevPicOrderCntLsb - lsb >= maxLsb / 2 {
            msb += maxLsb
        } else if lsb > prevPicOrderCntLsb, lsb - prevPicOrderCntLsb > maxLsb / 2 {
            msb -= maxLsb
        }
        return (msb, lsb)
    }

    /// Implements 8.2.4.1 (8-27).
    private func picNum(_ frame: Frame, _ current: Int) -> Int {
        frame.frame_num > current ? frame.frame_num - maxFrameNum : frame.frame_num
    }

    // MARK: Lists

    private mutating func lists(_ type: PictureType, _ poc: Int, _ n: H264PictureNumbers) -> ([Int?], [Int?]) {
        if type == .idr || type == .i {
            if !n.list0.isEmpty || !n.list1.isEmpty { fault("lists of an intra picture") }
            return ([], [])
        }
        if n.list0.isEmpty { fault("an empty list 0") }
        let long = frames.filter { $0.longTerm != nil }.sorted { $0.longTerm! < $1.longTerm! }
        var short = frames.filter { $0.longTerm == nil }
        var initial0: [Frame]
        var initial1: [Frame] = []
        if type == .p {
            if !n.list1.isEmpty { fault("list 1 of a P picture") }
            short.sort { picNum($0, n.frame_num) > picNum($1, n.frame_num) }
            initial0 = short + long
        } else {
            if n.list1.isEmpty { fault("an empty list 1") }
            short.removeAll { $0.name == nil }
            let before = short.filter { $0.poc <= poc }.sorted { $0.poc > $1.poc }
            let after = short.filter { $0.poc > poc }.sorted { $0.poc < $1.poc }
            initial0 = before + after + long
            initial1 = after + before + long
            if initial1.count > 1, initial1 == initial0 { initial1.swapAt(0, 1) }
        }
        let list0 = modified(initial0, n.list0.count, n.modifications0, n.frame_num)
        return (list0, type == .p ? [] : modified(initial1, n.list1.count, n.modifications1, n.frame_num))
    }

    /// Implements 8.2.4.3.
    private mutating func modified(
        _ initial: [Frame], _ count: Int, _ steps: [H264ListModification], _ frame_num: Int
    ) -> [Int?] {
        var list: [Frame?] = Array(initial.prefix(count))
        while list.count < count { list.append(nil) }
        var predicted = frame_num
        if steps.count > count { fault("more modifications than entries") }
        for (refIdx, step) in steps.enumerated() {
            let found: Frame?
            switch step {
            case .shortTerm(let difference):
                if difference == 0 || abs(difference) > maxFrameNum { fault("abs_diff_pic_num") }
                var noWrap = predicted + difference
                if noWrap < 0 { noWrap += maxFrameNum }
                if noWrap >= maxFrameNum { noWrap -= maxFrameNum }
                predicted = noWrap
                let picNumLX = noWrap > frame_num ? noWrap - maxFrameNum : noWrap
                found = frames.first { $0.longTerm == nil && picNum($0, frame_num) == picNumLX }
            case .longTerm(let number):
                found = frames.first { $0.longTerm == number }
            }
            guard let found else {
                fault("a modification names no picture")
                continue
            }
            // While the list is modified, it is one entry longer.
            list.insert(found, at: refIdx)
            var kept = Array(list.prefix(refIdx + 1))
            kept += list.dropFirst(refIdx + 1).filter { $0 != found }
            list = Array(kept.prefix(count))
        }
        return list.map { $0?.name }
    }

    // MARK: Marking

    /// Implements 8.2.5.3.
    private mutating func slide(_ frame_num: Int) {
        guard frames.count >= max_num_ref_frames else { return }
        let short = frames.filter { $0.longTerm == nil }
        guard let oldest = short.min(by: { picNum($0, frame_num) < picNum($1, frame_num) }) else {
            fault("the sliding window finds no short-term picture")
            return
        }
        frames.removeAll { $0 == oldest }
    }

    /// Implements 8.2.5.4.
    private mutating func mark(_ n: H264PictureNumbers, _ current: inout Frame) {
        func shortTerm(_ difference: Int) -> Int? {
            frames.firstIndex { $0.longTerm == nil && picNum($0, n.frame_num) == n.frame_num - difference }
        }
        for operation in n.marking {
            switch operation {
            case .forgetShortTerm(let difference):
                if let index = shortTerm(difference) { frames.remove(at: index) } else { fault("operation 1") }
            case .forgetLongTerm(let number):
                let count = frames.count
                frames.removeAll { $0.longTerm == number }
                if frames.count == count { fault("operation 2") }
            case .makeLongTerm(let difference, let index):
                guard let found = shortTerm(difference), index < maxLongTermCount else {
                    fault("operation 3")
                    continue
                }
                frames[found].longTerm = index
                let name = frames[found].name
                frames.removeAll { $0.longTerm == index && $0.name != name }
            case .setLongTermCount(let count):
                frames.removeAll { ($0.longTerm ?? 0) >= count && $0.longTerm != nil }
                maxLongTermCount = count
            case .forgetAll:
                fault("operation 5")
            case .makeCurrentLongTerm(let index):
                if index >= maxLongTermCount { fault("operation 6") }
                frames.removeAll { $0.longTerm == index }
                current.longTerm = index
            }
        }
    }
}
