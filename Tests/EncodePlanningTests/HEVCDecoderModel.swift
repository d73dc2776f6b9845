import EncodePlanning
import VideoBase

/// A model of how a decoder interprets HEVC's numbers: order (8.3.1), reference picture sets with their restrictions
/// (8.3.2), lists (8.3.4) and output by bumping (C.5.2). It is written from the standard's text alone and shares
/// nothing with the planner.
///
/// The coder assigns a name to each picture; only `Result`, faults and `output` use it.
struct HEVCDecoderModel {
    struct Frame: Equatable {
        var name: Int
        var poc: Int
        var temporalID: Int
        var isLeading = false
        /// Whether nal_unit_type signals that no picture of its sub-layer refers to it.
        var isNonReference = false
        var isReference = true
        var isLongTerm = false
        var isWaiting = true
        /// The number of pictures decoded before it.
        var order: Int
    }

    struct Result {
        var poc: Int
        var list0: [Int]
        var list1: [Int]
    }

    let maxLsb: Int
    /// The values of sps_max_dec_pic_buffering_minus1 + 1 and sps_max_num_reorder_pics.
    let maxDecPicBuffering: Int
    let maxReorder: Int
    private(set) var frames: [Frame] = []
    private(set) var output: [Int] = []
    private(set) var faults: [String] = []
    private var prevTid0POC = 0
    private var decoded = 0
    /// The latest IRAP picture and the one before it.
    private var irap: Frame?
    /// Whether the first decoded picture is a CRA picture, so that pictures of its reference picture set are missing.
    private var beganAtCRA = false
    /// The highest TemporalId of the stream; pictures of higher sub-layers were removed.
    var temporalIDs = 6

    init(maxLsb: Int, maxDecPicBuffering: Int, maxReorder: Int) {
        self.maxLsb = maxLsb
        self.maxDecPicBuffering = maxDecPicBuffering
        self.maxReorder = maxReorder
    }

    private mutating func fault(_ text: String) { faults.append("\(text) at \(decoded)") }

    mutating func decode(_ type: PictureType, name: Int, _ n: HEVCPictureNumbers) -> Result {
        let isIRAP = n.kind == .idr || n.kind == .cra
        if isIRAP, type != .idr, type != .i { fault("an IRAP picture that is not intra") }
        if isIRAP, n.temporalID != 0 { fault("an IRAP picture of an upper sub-layer") }
        if n.kind == .subLayerAccess, n.temporalID == 0 { fault("a TSA picture of the lowest sub-layer") }
        // Checks 7.4.2.2 with sps_temporal_id_nesting_flag 1.
        if n.temporalID > 0, n.kind != .subLayerAccess, n.kind != .skippedLeading { fault("no TSA picture") }
        if decoded == 0 {
            if !isIRAP { fault("the first picture is no IRAP picture") }
            beganAtCRA = n.kind == .cra
        }
        let poc = order(n, isNewSequence: n.kind == .idr || decoded == 0)
        let isLeading = irap.map { poc < $0.poc } ?? false && !isIRAP
        if isLeading != (n.kind == .skippedLeading) { fault("a leading picture's kind") }
        if isLeading, frames.contains(where: { !$0.isLeading && $0.order > irap?.order ?? 0 }) {
            fault("a leading picture behind a trailing one")
        }
        if n.kind == .idr {
            // With no_output_of_prior_pics_flag 0, C.5.2.2 outputs all pictures.
            while bump() {}
            frames.removeAll()
        }
        let set = referencePictureSet(n, poc)
        let lists = lists(type, n, set)
        makeRoom(isIDR: n.kind == .idr)
        var frame = Frame(name: name, poc: poc, temporalID: n.temporalID, order: decoded)
        frame.isLeading = isLeading
        frame.isNonReference = !n.isReference
        frames.append(frame)
        // C.5.2.3
        while frames.count(where: \.isWaiting) > maxReorder { _ = bump() }
        if isIRAP { irap = frame }
        decoded += 1
        return Result(poc: poc, list0: lists.0.map(\.name), list1: lists.1.map(\.name))
    }

    mutating func flush() { while bump() {} }

    /// Implements 8.3.1.
    private mutating func order(_ n: HEVCPictureNumbers, isNewSequence: Bool) -> Int {
        var msb = 0
        let lsb = n.pic_order_cnt_lsb
        if !(0..<maxLsb).contains(lsb) { fault("slice_pic_order_cnt_lsb \(lsb)") }
        if !isNewSequence {
            let previousLsb = ((prevTid0POC % maxLsb) + maxLsb) % maxLsb
            msb = prevTid0POC - previousLsb
            if lsb < previousLsb, previousLsb - lsb >= maxLsb / 2 {
                msb += maxLsb
            } else if lsb > previousLsb, lsb - previousLsb > maxLsb / 2 {
                msb -= maxLsb
            }
        }
        if n.temporalID == 0, n.kind != .skippedLeading, n.isReference { prevTid0POC = msb + lsb }
        return msb + lsb
    }

    // MARK: Reference picture set

    private struct Sets {
        var before: [Frame] = []
        var after: [Frame] = []
        var lasting: [Frame] = []
    }

    private mutating func referencePictureSet(_ n: HEVCPictureNumbers, _ poc: Int) -> Sets {
        var sets = Sets()
        if n.kind == .idr, !n.shortTerm.isEmpty || !n.longTerm.isEmpty { fault("an IDR picture keeps others") }
        var kept: [Frame] = []
        // Long-term entries come first, because a picture may become one.
        var sum = 0
        for entry in n.longTerm {
            if entry.deltaPOCMsbCycle < sum { fault("delta_poc_msb_cycle_lt below 0") }
            sum = entry.deltaPOCMsbCycle
            let pocLt = poc - entry.deltaPOCMsbCycle * maxLsb - ((poc % maxLsb) + maxLsb) % maxLsb + entry.poc_lsb_lt
            guard var frame = find(pocLt, { _ in true }, n) else { continue }
            frame.isLongTerm = true
            kept.append(frame)
            if entry.isUsed { sets.lasting.append(frame) }
        }
        for side in [
            n.shortTerm.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC },
            n.shortTerm.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC },
        ] {
            for entry in side {
                guard let frame = find(poc + entry.deltaPOC, { !$0.isLongTerm }, n) else { continue }
                kept.append(frame)
                guard entry.isUsed else { continue }
                if entry.deltaPOC < 0 { sets.before.append(frame) } else { sets.after.append(frame) }
            }
        }
        if n.shortTerm.contains(where: { $0.deltaPOC == 0 }) { fault("an entry for the picture itself") }
        if Set(kept.map(\.poc)).count != kept.count { fault("a picture twice in the set") }
        if kept.count > maxDecPicBuffering - 1 { fault("too many pictures in the set") }
        judge(kept, current: sets.before + sets.after + sets.lasting, n, poc)
        for index in frames.indices {
            let entry = kept.first { $0.name == frames[index].name }
            frames[index].isReference = entry != nil
            frames[index].isLongTerm = entry?.isLongTerm ?? false
        }
        return sets
    }

    private mutating func find(_ poc: Int, _ fits: (Frame) -> Bool, _ n: HEVCPictureNumbers) -> Frame? {
        if let frame = frames.first(where: { $0.isReference && $0.poc == poc && fits($0) }) { return frame }
        // If decoding begins with a CRA picture, the pictures of its reference picture set are missing.
        if !(beganAtCRA && decoded == 0) { fault("no picture with order count \(poc)") }
        return nil
    }

    /// Checks the restrictions at the end of 8.3.2.
    private mutating func judge(_ kept: [Frame], current: [Frame], _ n: HEVCPictureNumbers, _ poc: Int) {
        if current.contains(where: { $0.isNonReference && $0.temporalID == n.temporalID }) {
            fault("a sub-layer non-reference picture is referred to")
        }
        if current.contains(where: { $0.temporalID > n.temporalID }) { fault("a picture of a higher sub-layer") }
        if n.kind == .subLayerAccess, kept.contains(where: { $0.temporalID >= n.temporalID }) {
            fault("a TSA picture keeps its own sub-layer")
        }
        // sps_temporal_id_nesting_flag
        for frame in current
        where frames.contains(where: { $0.temporalID < frame.temporalID && $0.order > frame.order }) {
            fault("sub-layers do not nest")
        }
        guard let irap else { return }
        let isBefore = { (frame: Frame) in frame.order < irap.order || frame.poc < irap.poc }
        if n.kind == .cra || n.kind == .trailing || n.kind == .subLayerAccess, kept.contains(where: isBefore) {
            fault("a picture before the IRAP picture is kept")
        }
        if n.kind == .cra, !current.isEmpty { fault("a CRA picture refers to others") }
    }

    // MARK: Lists

    /// Implements 8.3.4.
    private mutating func lists(
        _ type: PictureType, _ n: HEVCPictureNumbers, _ sets: Sets
    ) -> ([Frame], [Frame]) {
        let total = sets.before.count + sets.after.count + sets.lasting.count
        if type == .idr || type == .i {
            if total > 0 { fault("an intra picture refers to others") }
            return ([], [])
        }
        if total == 0 {
            fault("nothing to refer to")
            return ([], [])
        }
        if n.list0.isEmpty { fault("an empty list 0") }
        if n.list1.isEmpty != (type == .p) { fault("list 1") }
        let both = [
            (sets.before + sets.after + sets.lasting, n.list0.count, n.listEntries0),
            (sets.after + sets.before + sets.lasting, n.list1.count, n.listEntries1),
        ].map { initial, count, entries in
            if !entries.isEmpty, entries.count != count || entries.contains(where: { $0 >= total }) {
                fault("list_entry")
            }
            return (0..<count).map { initial[(entries.isEmpty ? $0 : min(entries[$0], total - 1)) % total] }
        }
        return (both[0], both[1])
    }

    // MARK: Output

    /// Implements C.5.2.2: removes pictures that neither wait for output nor are references, then outputs pictures
    /// until there is room.
    private mutating func makeRoom(isIDR: Bool) {
        frames.removeAll { !$0.isWaiting && !$0.isReference }
        while !isIDR,
            frames.count(where: \.isWaiting) > maxReorder || frames.count >= maxDecPicBuffering
        {
            guard bump() else { return fault("no room") }
        }
    }

    private mutating func bump() -> Bool {
        guard let index = frames.indices.filter({ frames[$0].isWaiting }).min(by: { frames[$0].poc < frames[$1].poc })
        else { return false }
        output.append(frames[index].name)
        frames[index].isWaiting = false
        if !frames[index].isReference { frames.remove(at: index) }
        return true
    }
}
