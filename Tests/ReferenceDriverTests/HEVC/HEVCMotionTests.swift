import TestOracles
import Testing

@testable import ReferenceDriver

/// Compares motion prediction over random pictures with the steps of the clauses.
@Suite struct HEVCMotionTests {
    private typealias Textbook = HEVCMotionTextbook

    /// The settings of one picture, all of which differ between seeds.
    private struct Trial {
        var generator: SplitMix64
        let grid: HEVCGrid
        let tiles: HEVCTiles
        var job: HEVCPictureJob
        let storage: HEVCPictureTableStorage
        let tileLane: ElementStorage<Int32>
        var textbook: Textbook
        var slice: HEVCSliceJob
        var number: Int32 = -1
        var unitNumber = 0
        var predictor: HEVCMotionPredictor
        let references = HEVCMotionReferences()
        let candidates = ElementStorage<HEVCMotion>(count: 5, repeating: HEVCMotion())
        let source = ElementStorage<UInt8>(count: 64, repeating: 0)
        var compared = 0
        var wrong: [String] = []

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

        init(_ seed: Int) {
            var generator = SplitMix64(state: UInt64(seed) &+ 99)
            func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
            let tree = 4 + seed % 3
            let grid = HEVCGrid(
                width: 8 * random(2...20), height: 8 * random(2...14), log2MinCodingBlock: 3, log2CodingTreeBlock: tree)
            self.grid = grid
            func bounds(_ count: Int) -> [Int] {
                count > 1 && random(0...2) == 0 ? [0, random(1...(count - 1)), count] : [0, count]
            }
            tiles = HEVCTiles(columnBounds: bounds(grid.columns), rowBounds: bounds(grid.rows))
            storage = HEVCPictureTableStorage(grid)
            storage.begin()
            tileLane = ElementStorage(count: grid.codingTrees, repeating: 0)
            for (address, tile) in tiles.tileID.enumerated() { tileLane.elements[address] = Int32(tile) }
            let target = HEVCReconstructedPicture(grid: grid, bitDepth: 8)
            slice = HEVCSliceJob(
                firstCodingTree: 0, codingTreeCount: grid.codingTrees, type: seed % 4 == 0 ? .p : .b, qp: 26,
                header: SliceHeaderBits(prefix: [], payload: [], bitCount: 0))
            job = HEVCPictureJob(
                grid: grid,
                source: HEVCSource(
                    luma: source.elements, chroma: source.elements, lumaPitch: 0, chromaPitch: 0, width: grid.width,
                    height: grid.height),
                reconstruction: target, poc: random(-3...300), slices: [])
            job.tiles = tiles
            job.log2_parallel_merge_level = random(0...1) == 0 ? 2 : random(2...tree)
            let blocks = grid.blockColumns * grid.blockRows
            textbook = Textbook(
                width: grid.width, height: grid.height, log2Tree: tree,
                motion: [Textbook.Motion](repeating: Textbook.Motion(), count: blocks),
                unitNumber: [Int?](repeating: nil, count: blocks), area: [Int](repeating: -1, count: blocks))
            textbook.poc = job.poc
            textbook.log2_parallel_merge_level = job.log2_parallel_merge_level
            predictor = HEVCMotionPredictor(
                slice, job, storage.tables, tiles: tileLane.elements, references: references)
            self.generator = generator
            // Data that is not decoded yet is arbitrary.
            for index in 0..<blocks { storage.tables.motion[index] = Self.convert(randomMotion(count: 1)) }
            makeCollocated()
            beginSlice()
        }

        static func convert(_ motion: Textbook.Motion) -> HEVCMotion {
            var result = HEVCMotion()
            result.vector0 = MotionVector(Int16(motion.vectors[0].x), Int16(motion.vectors[0].y))
            result.vector1 = MotionVector(Int16(motion.vectors[1].x), Int16(motion.vectors[1].y))
            result.reference0 = Int8(motion.references[0])
            result.reference1 = Int8(motion.references[1])
            return result
        }

        mutating func randomMotion(count: Int? = nil) -> Textbook.Motion {
            var motion = Textbook.Motion()
            let used = slice.type == .p ? 1 : random(1...3)
            for list in 0..<2 where used >> list & 1 != 0 {
                motion.flags[list] = true
                motion.references[list] = random(0...((count ?? textbook.lists[list].count) - 1))
                let reach = chance(10) ? 32767 : chance(30) ? 200 : 1
                motion.vectors[list] = .init(x: random(-reach...reach), y: random(-reach...reach))
            }
            return motion
        }

        /// Makes the collocated picture with its motion, once for the whole picture.
        mutating func makeCollocated() {
            guard chance(80) else { return }
            let picture = HEVCReconstructedPicture(grid: grid, bitDepth: 8)
            picture.poc = job.poc + (chance(50) ? -random(1...4) : random(1...150))
            var stored: [Textbook.Stored] = []
            for index in 0..<(grid.areaColumns * grid.areaRows) {
                var area = Textbook.Stored()
                if chance(80) {
                    area.motion = randomMotion(count: 4)
                    if chance(50) && slice.type == .p {
                        area.motion.flags.swapAt(0, 1)
                        area.motion.vectors.swapAt(0, 1)
                        area.motion.references.swapAt(0, 1)
                    }
                    for list in 0..<2 where area.motion.flags[list] {
                        let distance = chance(10) ? random(100...300) : random(1...6)
                        area.pictures[list] = .init(
                            poc: picture.poc + (chance(70) ? -distance : distance), isLongTerm: chance(20))
                    }
                }
                stored.append(area)
                var copy = HEVCStoredMotion()
                copy.motion = Self.convert(area.motion)
                copy.poc0 = Int32(area.pictures[0].poc)
                copy.poc1 = Int32(area.pictures[1].poc)
                copy.isLongTerm0 = area.pictures[0].isLongTerm
                copy.isLongTerm1 = area.pictures[1].isLongTerm
                picture.motion.elements[index] = copy
            }
            textbook.stored = stored
            textbook.storedPOC = picture.poc
            slice.collocated = picture
        }

        /// Makes the references of a slice: near and far, before and after, short-term and long-term.
        mutating func beginSlice() {
            number += 1
            let isForward = chance(40)
            var pictures: [Textbook.Picture] = []
            while pictures.count < 4 {
                let distance = chance(10) ? random(100...200) : random(1...5)
                let poc = job.poc + (isForward || chance(60) ? -distance : distance)
                if !pictures.contains(where: { $0.poc == poc }) {
                    pictures.append(.init(poc: poc, isLongTerm: chance(15)))
                }
            }
            textbook.lists = [[], []]
            for list in 0..<(slice.type == .b ? 2 : 1) {
                for _ in 0..<random(1...4) { textbook.lists[list].append(pictures[random(0...3)]) }
            }
            func references(_ list: [Textbook.Picture]) -> [HEVCReference] {
                list.map { HEVCReference(picture: job.reconstruction, poc: $0.poc, isLongTerm: $0.isLongTerm) }
            }
            slice.list0 = references(textbook.lists[0])
            slice.list1 = references(textbook.lists[1])
            slice.collocated_from_l0_flag = slice.type == .p || chance(50)
            slice.mergeCandidates = random(1...5)
            textbook.collocatedFromList0 = slice.collocated_from_l0_flag
            textbook.mergeCount = slice.mergeCandidates
            textbook.isB = slice.type == .b
            predictor = HEVCMotionPredictor(
                slice, job, storage.tables, tiles: tileLane.elements, references: self.references)
        }

        mutating func run() {
            for scan in 0..<grid.codingTrees {
                let address = tiles.rasterScan[scan]
                if scan > 0 && chance(10) { beginSlice() }
                storage.tables.slice[address] = number
                let x = (address % grid.columns) << grid.log2CodingTreeBlock
                let y = (address / grid.columns) << grid.log2CodingTreeBlock
                for row in stride(from: y, to: min(y + grid.codingTreeSize, grid.height), by: 4) {
                    for column in stride(from: x, to: min(x + grid.codingTreeSize, grid.width), by: 4) {
                        textbook.area[(row >> 2) * grid.blockColumns + column >> 2] =
                            Int(number) << 16 | tiles.tileID[address]
                    }
                }
                quadtree(x, y, grid.codingTreeSize)
            }
        }

        mutating func quadtree(_ x: Int, _ y: Int, _ size: Int) {
            let isInside = x + size <= grid.width && y + size <= grid.height
            if size > 8 && (!isInside || chance(60)) {
                for part in 0..<4 {
                    let (partX, partY) = (x + part % 2 * size / 2, y + part / 2 * size / 2)
                    if partX < grid.width && partY < grid.height { quadtree(partX, partY, size / 2) }
                }
            } else {
                unit(x, y, size)
            }
        }

        mutating func unit(_ x: Int, _ y: Int, _ size: Int) {
            let quarter = size / 4
            let half = size / 2
            var shapes: [(String, HEVCPartition, [(Int, Int, Int, Int)])] = [
                ("2Nx2N", .part2Nx2N, [(0, 0, size, size)]),
                ("2NxN", .part2NxN, [(0, 0, size, half), (0, half, size, half)]),
                ("Nx2N", .partNx2N, [(0, 0, half, size), (half, 0, half, size)]),
            ]
            if size > 8 {
                shapes += [
                    (
                        "NxN", .partNxN,
                        [(0, 0, half, half), (half, 0, half, half), (0, half, half, half), (half, half, half, half)]
                    ),
                    ("2NxnU", .part2NxnU, [(0, 0, size, quarter), (0, quarter, size, size - quarter)]),
                    ("2NxnD", .part2NxnD, [(0, 0, size, size - quarter), (0, size - quarter, size, quarter)]),
                    ("nLx2N", .partnLx2N, [(0, 0, quarter, size), (quarter, 0, size - quarter, size)]),
                    ("nRx2N", .partnRx2N, [(0, 0, size - quarter, size), (size - quarter, 0, quarter, size)]),
                ]
            }
            let (name, partition, parts) = shapes[random(0...(shapes.count - 1))]
            let isIntra = chance(10)
            for (index, part) in parts.enumerated() {
                let plain = Textbook.Block(
                    x: x + part.0, y: y + part.1, width: part.2, height: part.3, index: index, mode: name, unitX: x,
                    unitY: y, unitSize: size)
                let block = HEVCMotionBlock(
                    x: plain.x, y: plain.y, width: part.2, height: part.3, index: index, partition: partition,
                    unitX: x, unitY: y, unitSize: size)
                let expected = textbook.merge(plain)
                compare(block, plain, expected)
                var motion = chance(40) ? expected[random(0...(expected.count - 1))] : randomMotion()
                if isIntra { motion = Textbook.Motion() }
                commit(plain, motion)
            }
            for row in stride(from: y, to: y + size, by: 4) {
                for column in stride(from: x, to: x + size, by: 4) {
                    textbook.unitNumber[(row >> 2) * grid.blockColumns + column >> 2] = unitNumber
                }
            }
            unitNumber += 1
        }

        mutating func compare(_ block: HEVCMotionBlock, _ plain: Textbook.Block, _ expected: [Textbook.Motion]) {
            predictor.merge(block, into: candidates.elements)
            for (index, motion) in expected.enumerated() {
                compared += 1
                if candidates.elements[index] != Self.convert(motion) { wrong.append("merge \(index) of \(plain)") }
            }
            // With a last index, all candidates up to it are the same.
            let last = random(0...(expected.count - 1))
            predictor.merge(block, into: candidates.elements, last: last)
            for index in 0...last where candidates.elements[index] != Self.convert(expected[index]) {
                wrong.append("merge \(index) up to \(last) of \(plain)")
            }
            let around = predictor.availability.neighbors(block)
            for list in 0..<2 {
                for reference in textbook.lists[list].indices {
                    compared += 1
                    let (first, second) = predictor.predictors(block, around, list: list, reference: reference)
                    let pair = [first, second].map { Textbook.Vector(x: Int($0.x), y: Int($0.y)) }
                    if pair != textbook.predictors(plain, list: list, reference: reference) {
                        wrong.append("predictors of list \(list), \(reference), of \(plain)")
                    }
                }
            }
        }

        mutating func commit(_ block: Textbook.Block, _ motion: Textbook.Motion) {
            for row in stride(from: block.y, to: block.y + block.height, by: 4) {
                for column in stride(from: block.x, to: block.x + block.width, by: 4) {
                    let index = (row >> 2) * grid.blockColumns + column >> 2
                    textbook.motion[index] = motion
                    storage.tables.motion[index] = Self.convert(motion)
                }
            }
        }
    }

    @Test(arguments: 0..<120) func candidatesMatchTheStandard(_ seed: Int) {
        var trial = Trial(seed)
        trial.run()
        #expect(trial.wrong.isEmpty, "\(trial.wrong.count) of \(trial.compared): \(trial.wrong.prefix(2))")
        #expect(trial.compared > 0)
    }

    /// Distances and vectors are at their bounds; the results are derived by hand from (8-179) to (8-183).
    @Test func scaledVectorsMatchHandDerivedValues() {
        // With tb 1 and td 2, tx is 8192 and the factor 128: half, rounded away from zero from 129/256 on.
        #expect(MotionVector(10, -10).scaled(target: 1, source: 2) == MotionVector(5, -5))
        #expect(MotionVector(1, -1).scaled(target: 1, source: 2) == MotionVector(0, 0))
        #expect(MotionVector(3, -3).scaled(target: 1, source: 2) == MotionVector(1, -1))
        // With td 1, tx is 16384; tb 127 gives 32512, limited to 4095: times 15.996, and clipped.
        #expect(MotionVector(100, -32768).scaled(target: 127, source: 1) == MotionVector(1600, -32768))
        #expect(MotionVector(32767, -100).scaled(target: 500, source: 1) == MotionVector(32767, -1600))
        #expect(MotionVector(7, 9).scaled(target: -3, source: 3) == MotionVector(-7, -9))
    }
}
