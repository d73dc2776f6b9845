import EncodePlanning

/// What a decoder makes of a picture's numbers: reference lists (8.2.4), marking (8.2.5) and order (8.2.1), written
/// from the standard's text and from nothing of the planner. Pictures are known by the order in which they arrive.
struct DecoderModel {
    struct Frame: Equatable {
        var index: Int
        var frame_num: Int
        var poc: Int
    }

    let maxFrameNum: Int
    let maxLsb: Int
    let max_num_ref_frames: Int
    var frames: [Frame] = []
    var prevRefFrameNum = 0
    var prevPicOrderCntMsb = 0
    var prevPicOrderCntLsb = 0
    var decoded = 0
    var previousIDR: Int?
    var faults: [String] = []

    /// Decodes a picture and gives its POC and list 0, by arrival.
    mutating func decode(isIDR: Bool, isP: Bool, _ n: H264PictureNumbers) -> (poc: Int, list0: [Int]) {
        if isIDR {
            frames = []
            prevPicOrderCntMsb = 0
            prevPicOrderCntLsb = 0
            if n.frame_num != 0 { faults.append("an IDR picture's frame_num is 0") }
            if n.nal_ref_idc == 0 { faults.append("an IDR picture is a reference") }
            if previousIDR == n.idr_pic_id, decoded > 0 { faults.append("idr_pic_id repeats") }
            previousIDR = n.idr_pic_id
        } else if n.frame_num != (prevRefFrameNum + 1) % maxFrameNum {
            faults.append("a gap in frame_num at \(decoded)")
        }
        // 8.2.1.1
        let lsb = n.pic_order_cnt_lsb
        var msb = prevPicOrderCntMsb
        if lsb < prevPicOrderCntLsb, prevPicOrderCntLsb - lsb >= maxLsb / 2 {
            msb += maxLsb
        } else if lsb > prevPicOrderCntLsb, lsb - prevPicOrderCntLsb > maxLsb / 2 {
            msb -= maxLsb
        }
        let poc = msb + lsb
        let list = isP ? list0(n) : []
        if n.nal_ref_idc != 0 {
            mark(n)
            frames.append(Frame(index: decoded, frame_num: n.frame_num, poc: poc))
            if frames.count > max_num_ref_frames { faults.append("too many references at \(decoded)") }
            prevRefFrameNum = n.frame_num
            prevPicOrderCntMsb = msb
            prevPicOrderCntLsb = lsb
        }
        decoded += 1
        return (poc, list)
    }

    /// 8.2.4.1 (8-27)
    private func picNum(_ frame: Frame, _ current: Int) -> Int {
        frame.frame_num > current ? frame.frame_num - maxFrameNum : frame.frame_num
    }

    private mutating func list0(_ n: H264PictureNumbers) -> [Int] {
        var list: [Frame?] = frames.sorted { picNum($0, n.frame_num) > picNum($1, n.frame_num) }
        let count = n.list0.count
        if count == 0 { faults.append("a P picture without references at \(decoded)") }
        while list.count < count { list.append(nil) }
        list = Array(list.prefix(count))
        // 8.2.4.3.1, with the list one longer while it is rewritten
        var predicted = n.frame_num
        var refIdx = 0
        for step in n.modifications0 {
            guard case .shortTerm(let difference) = step else { continue }
            if difference == 0 || abs(difference) > maxFrameNum { faults.append("abs_diff_pic_num at \(decoded)") }
            var noWrap = predicted + difference
            if noWrap < 0 { noWrap += maxFrameNum }
            if noWrap >= maxFrameNum { noWrap -= maxFrameNum }
            predicted = noWrap
            let wanted = noWrap > n.frame_num ? noWrap - maxFrameNum : noWrap
            guard let frame = frames.first(where: { picNum($0, n.frame_num) == wanted }) else {
                faults.append("a modification names no picture at \(decoded)")
                continue
            }
            list.insert(frame, at: refIdx)
            refIdx += 1
            var kept = Array(list.prefix(refIdx))
            kept += list.dropFirst(refIdx).filter { $0.map { picNum($0, n.frame_num) != wanted } ?? true }
            list = Array(kept.prefix(count))
        }
        return list.map { $0?.index ?? -1 }
    }

    /// 8.2.5.3 and 8.2.5.4.1
    private mutating func mark(_ n: H264PictureNumbers) {
        if n.marking.isEmpty {
            if frames.count == max_num_ref_frames,
                let oldest = frames.min(by: {
                    picNum($0, n.frame_num) < picNum($1, n.frame_num)
                })
            {
                frames.removeAll { $0 == oldest }
            }
            return
        }
        for case .forgetShortTerm(let difference) in n.marking {
            let wanted = n.frame_num - difference
            let kept = frames.filter { picNum($0, n.frame_num) != wanted }
            let removed = frames.count - kept.count
            frames = kept
            if removed != 1 { faults.append("a marking names no picture at \(decoded)") }
        }
    }
}
