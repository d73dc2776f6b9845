/// Owns the memory for a slice's references that a `HEVCMotionPredictor` points into.
final class HEVCMotionReferences: Sendable {
    static let perList = 16
    /// PicOrderCntVal, and 1 for references marked as "used for long-term reference". Entries 0…15 are list 0, entries
    /// 16…31 list 1.
    fileprivate let orders = ElementStorage<Int32>(count: 2 * perList, repeating: 0)
    fileprivate let isLongTerm = ElementStorage<UInt8>(count: 2 * perList, repeating: 0)

    init() {}
}

/// Predicts motion for the blocks of a slice: merge candidates and vector predictors, H.265 8.5.3.2.2 to 8.5.3.2.9.
///
/// Contains pointers: the `HEVCMotionReferences`, the picture's tables and the collocated picture must outlive it. No
/// call allocates memory.
struct HEVCMotionPredictor {
    let availability: HEVCMotionAvailability
    private let isB: Bool
    private let count0: Int
    private let count1: Int
    private let orders: ElementPointer<Int32>
    private let isLongTerm: ElementPointer<UInt8>
    let poc: Int32
    /// MaxNumMergeCand.
    let mergeCount: Int
    private let log2_parallel_merge_level: Int
    /// The motion of the collocated picture by 16×16 area; nil without temporal prediction.
    let collocated: ElementPointer<HEVCStoredMotion>?
    let collocatedPOC: Int32
    let areaColumns: Int
    /// NoBackwardPredFlag.
    let hasNoBackward: Bool
    /// N of mvLNCol, which equals collocated_from_l0_flag.
    let collocatedList: Int

    /// Initializes the predictor for a slice. `tiles` holds TileId by raster address.
    init(
        _ slice: HEVCSliceJob, _ job: HEVCPictureJob, _ tables: HEVCPictureTables, tiles: ElementPointer<Int32>,
        references: HEVCMotionReferences
    ) {
        availability = HEVCMotionAvailability(job.grid, tables, tiles: tiles)
        isB = slice.type == .b
        count0 = slice.list0.count
        count1 = slice.list1.count
        orders = references.orders.elements
        isLongTerm = references.isLongTerm.elements
        var isForward = true
        for (start, list) in [(0, slice.list0), (HEVCMotionReferences.perList, slice.list1)] {
            for (index, reference) in list.prefix(HEVCMotionReferences.perList).enumerated() {
                orders[start + index] = Int32(truncatingIfNeeded: reference.poc)
                isLongTerm[start + index] = reference.isLongTerm ? 1 : 0
                if reference.poc > job.poc { isForward = false }
            }
        }
        hasNoBackward = isForward
        poc = Int32(truncatingIfNeeded: job.poc)
        mergeCount = slice.mergeCandidates
        log2_parallel_merge_level = job.log2_parallel_merge_level
        collocated = slice.collocated?.motion.elements
        collocatedPOC = Int32(truncatingIfNeeded: slice.collocated?.poc ?? 0)
        areaColumns = job.grid.areaColumns
        collocatedList = slice.collocated_from_l0_flag ? 1 : 0
    }

    @inline(__always) func order(_ list: Int, _ reference: Int) -> Int32 {
        orders[list &* HEVCMotionReferences.perList &+ reference]
    }

    @inline(__always) func isLong(_ list: Int, _ reference: Int) -> Bool {
        isLongTerm[list &* HEVCMotionReferences.perList &+ reference] != 0
    }

    // MARK: Merge

    /// Stores mergeCandList in `candidates`, up to `mergeCount` entries. For 8×4 and 4×8 blocks, candidates with both
    /// lists lose list 1. `last` is the last index that is needed; later candidates may be omitted.
    func merge(_ whole: HEVCMotionBlock, into candidates: ElementPointer<HEVCMotion>, last: Int? = nil) {
        var block = whole
        if log2_parallel_merge_level > 2 && block.unitSize == 8 {
            block = HEVCMotionBlock(x: block.unitX, y: block.unitY, size: 8)
        }
        let limit = min(mergeCount, (last ?? mergeCount) &+ 1)
        var count = spatial(block, into: candidates, limit: limit)
        if count < limit, collocated != nil {
            var motion = HEVCMotion()
            if let vector = temporal(block, list: 0, reference: 0) {
                motion.reference0 = 0
                motion.vector0 = vector
            }
            if isB, let vector = temporal(block, list: 1, reference: 0) {
                motion.reference1 = 0
                motion.vector1 = vector
            }
            if !motion.isNone {
                candidates[count] = motion
                count &+= 1
            }
        }
        if isB && count > 1 && count < limit { combine(candidates, &count, limit: limit) }
        let references = isB ? min(count0, count1) : count0
        var zero = 0
        while count < limit {
            var motion = HEVCMotion()
            motion.reference0 = Int8(truncatingIfNeeded: zero < references ? zero : 0)
            if isB { motion.reference1 = motion.reference0 }
            candidates[count] = motion
            count &+= 1
            zero &+= 1
        }
        guard whole.width &+ whole.height == 12 else { return }
        for index in 0..<limit where candidates[index].usesBoth {
            candidates[index].reference1 = -1
            candidates[index].vector1 = .zero
        }
    }

    /// Stores the spatial candidates, 8.5.3.2.3, and returns their number (at most four).
    @inline(__always) private func spatial(
        _ block: HEVCMotionBlock, into candidates: ElementPointer<HEVCMotion>, limit: Int
    ) -> Int {
        var around = availability.neighbors(block)
        let level = log2_parallel_merge_level
        if level > 2 {
            // Blocks of one merge estimation region do not use each other's motion, so that they can be processed in
            // parallel.
            let (column, row) = (block.x &>> level, block.y &>> level)
            let isLeftOutside = (block.x &- 1) &>> level != column
            let isTopOutside = (block.y &- 1) &>> level != row
            let isRightOutside = (block.x &+ block.width) &>> level != column
            let isBelowOutside = (block.y &+ block.height) &>> level != row
            let isEndOutside = (block.x &+ block.width &- 1) &>> level != column
            let isBottomOutside = (block.y &+ block.height &- 1) &>> level != row
            if !isLeftOutside && !isBelowOutside { around.a0 = HEVCMotion() }
            if !isLeftOutside && !isBottomOutside { around.a1 = HEVCMotion() }
            if !isRightOutside && !isTopOutside { around.b0 = HEVCMotion() }
            if !isEndOutside && !isTopOutside { around.b1 = HEVCMotion() }
            if !isLeftOutside && !isTopOutside { around.b2 = HEVCMotion() }
        }
        if block.index == 1 {
            // If the second block had the first block's motion, both would equal a 2N×2N unit. The standard excludes
            // that candidate.
            switch block.partition {
            case .partNx2N, .partnLx2N, .partnRx2N: around.a1 = HEVCMotion()
            case .part2NxN, .part2NxnU, .part2NxnD: around.b1 = HEVCMotion()
            default: break
            }
        }
        var count = 0
        let hasA1 = !around.a1.isNone
        let hasB1 = !around.b1.isNone
        if hasA1 {
            candidates[count] = around.a1
            count &+= 1
        }
        if hasB1 && !(hasA1 && around.b1.equals(around.a1)) {
            candidates[count] = around.b1
            count &+= 1
        }
        if !around.b0.isNone && !(hasB1 && around.b0.equals(around.b1)) {
            candidates[count] = around.b0
            count &+= 1
        }
        if !around.a0.isNone && !(hasA1 && around.a0.equals(around.a1)) {
            candidates[count] = around.a0
            count &+= 1
        }
        if count < 4 && !around.b2.isNone && !(hasA1 && around.b2.equals(around.a1))
            && !(hasB1 && around.b2.equals(around.b1))
        {
            candidates[count] = around.b2
            count &+= 1
        }
        return min(count, limit)
    }

    /// Appends combined bi-predictive candidates, 8.5.3.2.4.
    @inline(__always) private func combine(_ candidates: ElementPointer<HEVCMotion>, _ count: inout Int, limit: Int) {
        let original = count
        var pair = 0
        repeat {
            // l0CandIdx and l1CandIdx by combIdx (table 8-7), four bits each, the first in the lowest bits.
            let first = candidates[0x3231_3021_2010 &>> (4 &* pair) & 15]
            let second = candidates[0x2313_0312_0201 &>> (4 &* pair) & 15]
            pair &+= 1
            if first.reference0 >= 0 && second.reference1 >= 0
                && (order(0, Int(first.reference0)) != order(1, Int(second.reference1))
                    || first.vector0 != second.vector1)
            {
                var motion = HEVCMotion()
                motion.reference0 = first.reference0
                motion.vector0 = first.vector0
                motion.reference1 = second.reference1
                motion.vector1 = second.vector1
                candidates[count] = motion
                count &+= 1
            }
        } while pair < original &* (original &- 1) && count < limit
    }
}
