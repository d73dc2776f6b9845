/// Implements motion prediction step by step as in the clauses of H.265 8.5.3.2, over plain arrays.
struct HEVCMotionTextbook {
    struct Vector: Equatable {
        var x = 0
        var y = 0
    }

    /// The motion of a block: predFlagLX, mvLX and refIdxLX.
    struct Motion: Equatable {
        var flags = [false, false]
        var vectors = [Vector(), Vector()]
        var references = [-1, -1]
        var isIntra: Bool { flags == [false, false] }
    }

    struct Picture {
        var poc: Int
        var isLongTerm: Bool
    }

    /// The stored motion of a 16×16 area of ColPic.
    struct Stored {
        var motion = Motion()
        var pictures = [Picture(poc: 0, isLongTerm: false), Picture(poc: 0, isLongTerm: false)]
    }

    struct Block {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
        var index: Int
        /// The PartMode by its name.
        var mode: String
        var unitX: Int
        var unitY: Int
        var unitSize: Int
    }

    var width: Int
    var height: Int
    var log2Tree: Int
    /// The motion by 4×4 block.
    var motion: [Motion]
    /// The number of the coding unit by 4×4 block, in decoding order; nil if it is not decoded.
    var unitNumber: [Int?]
    /// The slice and tile by 4×4 block.
    var area: [Int]
    var lists: [[Picture]] = [[], []]
    var poc = 0
    var isB = false
    var mergeCount = 5
    var log2_parallel_merge_level = 2
    var stored: [Stored]?
    var storedPOC = 0
    var collocatedFromList0 = true

    private func blockIndex(_ x: Int, _ y: Int) -> Int { (y >> 2) * (width >> 2) + x >> 2 }

    /// Implements 6.4.2, and 6.4.1 by what is decoded.
    func neighbor(_ block: Block, _ x: Int, _ y: Int) -> Motion? {
        let isSameUnit =
            (block.unitX..<(block.unitX + block.unitSize)).contains(x)
            && (block.unitY..<(block.unitY + block.unitSize)).contains(y)
        if !isSameUnit {
            if x < 0 || y < 0 || x >= width || y >= height { return nil }
            if unitNumber[blockIndex(x, y)] == nil { return nil }
            if area[blockIndex(x, y)] != area[blockIndex(block.x, block.y)] { return nil }
        } else if block.width << 1 == block.unitSize && block.height << 1 == block.unitSize && block.index == 1
            && block.unitY + block.height <= y && block.unitX + block.width > x
        {
            return nil
        }
        let found = motion[blockIndex(x, y)]
        return found.isIntra ? nil : found
    }

    // MARK: 8.5.3.2.2 to 8.5.3.2.5

    func merge(_ original: Block) -> [Motion] {
        var block = original
        if log2_parallel_merge_level > 2 && block.unitSize == 8 {
            block = Block(
                x: block.unitX, y: block.unitY, width: 8, height: 8, index: 0, mode: "2Nx2N", unitX: block.unitX,
                unitY: block.unitY, unitSize: 8)
        }
        var list = spatial(block)
        var column = Motion()
        for x in 0..<(isB ? 2 : 1) {
            if let vector = temporal(block, x, 0) {
                column.flags[x] = true
                column.vectors[x] = vector
                column.references[x] = 0
            }
        }
        if !column.isIntra { list.append(column) }
        let original4 = list.count
        if isB && original4 > 1 && original4 < mergeCount {
            let pairs = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1), (0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2)]
            var combination = 0
            while true {
                let (l0, l1) = (list[pairs[combination].0], list[pairs[combination].1])
                if l0.flags[0] && l1.flags[1] {
                    let first = lists[0][l0.references[0]].poc
                    let second = lists[1][l1.references[1]].poc
                    if first != second || l0.vectors[0] != l1.vectors[1] {
                        list.append(
                            Motion(
                                flags: [true, true], vectors: [l0.vectors[0], l1.vectors[1]],
                                references: [l0.references[0], l1.references[1]]))
                    }
                }
                combination += 1
                if combination == original4 * (original4 - 1) || list.count == mergeCount { break }
            }
        }
        let count = isB ? min(lists[0].count, lists[1].count) : lists[0].count
        var zero = 0
        while list.count < mergeCount {
            var motion = Motion()
            for x in 0..<(isB ? 2 : 1) {
                motion.flags[x] = true
                motion.references[x] = zero < count ? zero : 0
            }
            list.append(motion)
            zero += 1
        }
        return list.prefix(mergeCount).map { candidate in
            var candidate = candidate
            if candidate.flags == [true, true] && original.width + original.height == 12 {
                candidate.flags[1] = false
                candidate.references[1] = -1
                candidate.vectors[1] = Vector()
            }
            return candidate
        }
    }

    private func spatial(_ block: Block) -> [Motion] {
        func get(_ x: Int, _ y: Int) -> Motion? {
            if block.x >> log2_parallel_merge_level == x >> log2_parallel_merge_level
                && block.y >> log2_parallel_merge_level == y >> log2_parallel_merge_level
            {
                return nil
            }
            return neighbor(block, x, y)
        }
        let isSecond = block.index == 1
        var a1 = get(block.x - 1, block.y + block.height - 1)
        if isSecond && ["Nx2N", "nLx2N", "nRx2N"].contains(block.mode) { a1 = nil }
        var b1 = get(block.x + block.width - 1, block.y - 1)
        if isSecond && ["2NxN", "2NxnU", "2NxnD"].contains(block.mode) { b1 = nil }
        let b0 = get(block.x + block.width, block.y - 1)
        let a0 = get(block.x - 1, block.y + block.height)
        let b2 = get(block.x - 1, block.y - 1)
        let flagA1 = a1 != nil
        let flagB1 = b1 != nil && !(a1 != nil && a1 == b1)
        let flagB0 = b0 != nil && !(b1 != nil && b1 == b0)
        let flagA0 = a0 != nil && !(a1 != nil && a1 == a0)
        let four = flagA0 && flagA1 && flagB0 && flagB1
        let flagB2 = b2 != nil && !(a1 != nil && a1 == b2) && !(b1 != nil && b1 == b2) && !four
        var list: [Motion] = []
        if flagA1 { list.append(a1!) }
        if flagB1 { list.append(b1!) }
        if flagB0 { list.append(b0!) }
        if flagA0 { list.append(a0!) }
        if flagB2 { list.append(b2!) }
        return list
    }

    // MARK: 8.5.3.2.6 and 8.5.3.2.7

    func predictors(_ block: Block, list x: Int, reference: Int) -> [Vector] {
        let target = lists[x][reference]
        let placesA = [(block.x - 1, block.y + block.height), (block.x - 1, block.y + block.height - 1)]
        let placesB = [
            (block.x + block.width, block.y - 1), (block.x + block.width - 1, block.y - 1), (block.x - 1, block.y - 1),
        ]
        let a = placesA.map { neighbor(block, $0.0, $0.1) }
        let b = placesB.map { neighbor(block, $0.0, $0.1) }
        let isScaled = a[0] != nil || a[1] != nil
        func unscaled(_ candidates: [Motion?]) -> Vector? {
            for candidate in candidates {
                guard let candidate else { continue }
                for list in [x, 1 - x] where candidate.flags[list] {
                    if lists[list][candidate.references[list]].poc == target.poc { return candidate.vectors[list] }
                }
            }
            return nil
        }
        func anyPicture(_ candidates: [Motion?]) -> Vector? {
            for candidate in candidates {
                guard let candidate else { continue }
                for list in [x, 1 - x] where candidate.flags[list] {
                    let picture = lists[list][candidate.references[list]]
                    guard picture.isLongTerm == target.isLongTerm else { continue }
                    if picture.isLongTerm || picture.poc == target.poc { return candidate.vectors[list] }
                    return scale(candidate.vectors[list], td: poc - picture.poc, tb: poc - target.poc)
                }
            }
            return nil
        }
        var vectorA = unscaled(a)
        if vectorA == nil { vectorA = anyPicture(a) }
        var vectorB = unscaled(b)
        if !isScaled && vectorB != nil { vectorA = vectorB }
        if !isScaled { vectorB = anyPicture(b) }
        var result: [Vector] = []
        if let vectorA { result.append(vectorA) }
        if let vectorB { result.append(vectorB) }
        if result.count == 2 && result[0] == result[1] { result.removeLast() }
        if result.count < 2, let column = temporal(block, x, reference) { result.append(column) }
        while result.count < 2 { result.append(Vector()) }
        return result
    }

    private func scale(_ vector: Vector, td: Int, tb: Int) -> Vector {
        func clip(_ low: Int, _ high: Int, _ value: Int) -> Int { min(max(value, low), high) }
        let td = clip(-128, 127, td)
        let tb = clip(-128, 127, tb)
        let tx = (16384 + (abs(td) >> 1)) / td
        let factor = clip(-4096, 4095, (tb * tx + 32) >> 6)
        func component(_ value: Int) -> Int {
            clip(-32768, 32767, (factor * value).signum() * ((abs(factor * value) + 127) >> 8))
        }
        return Vector(x: component(vector.x), y: component(vector.y))
    }

    // MARK: 8.5.3.2.8 and 8.5.3.2.9

    private func temporal(_ block: Block, _ x: Int, _ reference: Int) -> Vector? {
        guard let stored else { return nil }
        let columns = (width + 15) / 16
        let (right, bottom) = (block.x + block.width, block.y + block.height)
        if block.unitY >> log2Tree == bottom >> log2Tree && bottom < height && right < width {
            if let found = collocated(stored[bottom / 16 * columns + right / 16], x, reference) { return found }
        }
        let (centerX, centerY) = (block.x + block.width / 2, block.y + block.height / 2)
        return collocated(stored[centerY / 16 * columns + centerX / 16], x, reference)
    }

    private func collocated(_ area: Stored, _ x: Int, _ reference: Int) -> Vector? {
        if area.motion.isIntra { return nil }
        let list: Int
        if !area.motion.flags[0] {
            list = 1
        } else if !area.motion.flags[1] {
            list = 0
        } else if (lists[0] + lists[1]).allSatisfy({ $0.poc <= poc }) {
            list = x
        } else {
            list = collocatedFromList0 ? 1 : 0
        }
        let picture = area.pictures[list]
        let target = lists[x][reference]
        if picture.isLongTerm != target.isLongTerm { return nil }
        let vector = area.motion.vectors[list]
        if target.isLongTerm || storedPOC - picture.poc == poc - target.poc { return vector }
        return scale(vector, td: storedPOC - picture.poc, tb: poc - target.poc)
    }
}
