import ReferenceDriver
import TestOracles

/// Pictures of random but legal macroblock syntax, to test the entropy coders.
struct RandomSyntax {
    struct Options {
        var widthInMacroblocks = 6
        var heightInMacroblocks = 5
        var pictures = 6
        var transform8x8 = true
        /// The largest absolute level; only rare levels are close to it.
        var largestLevel = 40
        /// The largest absolute component of a motion vector difference; only rare ones are close to it.
        var largestDifference = 24
        var qpRange = 4...20
        var maxReferences = 4
    }

    struct Slice {
        var header = H264SliceHeader()
        var entropy = EntropySlice()
        var macroblocks: [MacroblockSyntax] = []
    }

    let options: Options
    /// The slices of each picture.
    var pictures: [[Slice]] = []
    private var generator: SplitMix64
    /// The prediction modes of the intra 4×4 and 8×8 blocks of the picture, by 4×4 block; −1 is another type, −2 is not
    /// coded yet.
    private var modes: [Int] = []

    init(seed: UInt64, options: Options = Options()) {
        self.options = options
        generator = SplitMix64(state: seed &+ 1)
        for index in 0..<options.pictures { pictures.append(makePicture(index)) }
    }

    var sequence: H264SequenceParameterSet {
        var sequence = H264SequenceParameterSet()
        sequence.profile_idc = options.transform8x8 ? 100 : 77
        sequence.level_idc = 40
        sequence.pic_order_cnt_type = 2
        sequence.max_num_ref_frames = options.maxReferences
        sequence.pic_width_in_mbs = options.widthInMacroblocks
        sequence.pic_height_in_map_units = options.heightInMacroblocks
        return sequence
    }

    func picture(cabac: Bool) -> H264PictureParameterSet {
        var picture = H264PictureParameterSet()
        picture.entropy_coding_mode_flag = cabac
        picture.deblocking_filter_control_present_flag = true
        (picture.hasHighFields, picture.transform_8x8_mode_flag) = (options.transform8x8, options.transform8x8)
        return picture
    }

    /// Returns the whole stream, coded by either coder.
    func stream(cabac: Bool) -> [UInt8] {
        let sequence = sequence
        let picture = picture(cabac: cabac)
        var stream = sequence.nalUnit() + picture.nalUnit()
        let writer = SliceEntropyWriter(widthInMacroblocks: options.widthInMacroblocks)
        for slice in pictures.joined() {
            var entropy = slice.entropy
            entropy.cabac = cabac
            writer.begin(entropy, header: slice.header.bits(sequence: sequence, picture: picture))
            for (index, macroblock) in slice.macroblocks.enumerated() {
                writer.write(macroblock, address: entropy.firstMacroblock + index)
            }
            stream += writer.finish()
        }
        return stream
    }

    // MARK: Slices

    private mutating func makePicture(_ index: Int) -> [Slice] {
        let total = options.widthInMacroblocks * options.heightInMacroblocks
        modes = Array(repeating: -2, count: 16 * total)
        var slices: [Slice] = []
        var first = 0
        while first < total {
            let count = chance(30) ? total - first : Int.random(in: 1...(total - first), using: &generator)
            slices.append(makeSlice(picture: index, first: first, count: count))
            first += count
        }
        return slices
    }

    private mutating func makeSlice(picture: Int, first: Int, count: Int) -> Slice {
        var slice = Slice()
        slice.entropy.type = picture == 0 || chance(15) ? .i : .p
        slice.entropy.firstMacroblock = first
        slice.entropy.transform8x8 = options.transform8x8
        slice.entropy.qp = Int.random(in: options.qpRange, using: &generator)
        slice.entropy.cabac_init_idc = slice.entropy.type == .i ? 0 : Int.random(in: 0...2, using: &generator)
        let references = Int.random(in: 1...max(1, min(picture, options.maxReferences)), using: &generator)
        slice.entropy.referenceCounts = (references, 0)
        slice.header.isIDR = picture == 0
        slice.header.nal_ref_idc = 1
        slice.header.first_mb_in_slice = first
        slice.header.slice_type = Int(slice.entropy.type.rawValue)
        slice.header.frame_num = picture % 16
        slice.header.num_ref_idx_active = [references, 0]
        slice.header.num_ref_idx_active_override_flag = references > 1
        slice.header.cabac_init_idc = slice.entropy.cabac_init_idc
        slice.header.slice_qp_delta = slice.entropy.qp - 26
        slice.header.disable_deblocking_filter_idc = Int.random(in: 0...2, using: &generator)
        slice.header.slice_alpha_c0_offset_div2 = Int.random(in: -6...6, using: &generator)
        slice.header.slice_beta_offset_div2 = Int.random(in: -6...6, using: &generator)
        let skipPercent = [0, 20, 60, 97, 100].randomElement(using: &generator)!
        var qp = slice.entropy.qp
        for address in first..<(first + count) {
            slice.macroblocks.append(
                makeMacroblock(address, slice: slice.entropy, skipPercent: skipPercent, qp: &qp))
        }
        return slice
    }

    // MARK: Macroblocks

    private mutating func makeMacroblock(
        _ address: Int, slice: EntropySlice, skipPercent: Int, qp: inout Int
    ) -> MacroblockSyntax {
        var macroblock = MacroblockSyntax()
        if slice.type != .i && chance(skipPercent) {
            setModes(address, -1)
            return macroblock
        }
        var kinds: [MacroblockKind] = [.intra4x4, .intra16x16]
        if slice.transform8x8 { kinds.append(.intra8x8) }
        if slice.type != .i && chance(80) { kinds = [.inter16x16, .inter16x8, .inter8x16, .inter8x8] }
        macroblock.kind = kinds.randomElement(using: &generator)!
        let reach = reach(address, slice: slice)
        if macroblock.kind.isIntra {
            makeIntraModes(&macroblock, address: address, reach: reach)
        } else {
            makeMotion(macroblock, references: slice.referenceCounts.0)
            setModes(address, -1)
        }
        let luma = macroblock.kind == .intra16x16 ? (chance(50) ? 15 : 0) : Int.random(in: 0...15, using: &generator)
        macroblock.codedBlockPattern = (chance(80) ? luma : 0) | Int.random(in: 0...2, using: &generator) << 4
        macroblock.transform8x8 =
            macroblock.kind == .intra8x8 || slice.transform8x8 && !macroblock.kind.isIntra && chance(50)
        if macroblock.codedBlockPattern != 0 || macroblock.kind == .intra16x16 {
            if chance(40) {
                let next = Int.random(
                    in: max(qp - 26, options.qpRange.lowerBound)...min(qp + 25, options.qpRange.upperBound),
                    using: &generator)
                macroblock.qpDelta = next - qp
                qp = next
            }
        }
        macroblock.qp = qp
        makeResidual(macroblock)
        return macroblock
    }

    /// The neighbors that prediction may use.
    private struct Reach {
        var left: Bool
        var top: Bool
        var corner: Bool
    }

    private func reach(_ address: Int, slice: EntropySlice) -> Reach {
        let width = options.widthInMacroblocks
        let hasColumn = address % width > 0
        return Reach(
            left: hasColumn && address - 1 >= slice.firstMacroblock, top: address - width >= slice.firstMacroblock,
            corner: hasColumn && address - width - 1 >= slice.firstMacroblock)
    }

    private mutating func makeIntraModes(_ macroblock: inout MacroblockSyntax, address: Int, reach: Reach) {
        // intra_chroma_pred_mode is DC, horizontal, vertical or plane.
        var chroma = [0]
        if reach.left { chroma.append(1) }
        if reach.top { chroma.append(2) }
        if reach.left && reach.top && reach.corner { chroma.append(3) }
        macroblock.intraChromaMode = chroma.randomElement(using: &generator)!
        if macroblock.kind == .intra16x16 {
            // The modes are vertical, horizontal, DC and plane.
            var luma = [2]
            if reach.top { luma.append(0) }
            if reach.left { luma.append(1) }
            if reach.left && reach.top && reach.corner { luma.append(3) }
            macroblock.intra16x16Mode = luma.randomElement(using: &generator)!
            setModes(address, -1)
            return
        }
        let size = macroblock.kind == .intra8x8 ? 2 : 1
        for block in stride(from: 0, to: 16, by: size * size) {
            let x = block & 1 | block >> 1 & 2
            let y = block >> 1 & 1 | block >> 2 & 2
            let hasLeft = x > 0 || reach.left
            let hasTop = y > 0 || reach.top
            let hasCorner = x > 0 ? (y > 0 || reach.top) : (y > 0 ? reach.left : reach.corner)
            var allowed = [2]
            if hasLeft { allowed += [1, 8] }
            if hasTop { allowed += [0, 3, 7] }
            if hasLeft && hasTop && hasCorner { allowed += [4, 5, 6] }
            let mode = allowed.randomElement(using: &generator)!
            var predicted = 2
            if hasLeft && hasTop {
                let left = modes[blockIndex(address, x, y, dx: -1, dy: 0)]
                let top = modes[blockIndex(address, x, y, dx: 0, dy: -1)]
                predicted = min(left == -1 ? 2 : left, top == -1 ? 2 : top)
            }
            macroblock.setIntraMode(block, mode == predicted ? -1 : Int8(mode < predicted ? mode : mode - 1))
            for dy in 0..<size {
                for dx in 0..<size { modes[blockIndex(address, x, y, dx: dx, dy: dy)] = mode }
            }
        }
    }

    /// Returns the index in `modes` of the 4×4 block beside block (`x`, `y`) of a macroblock.
    private func blockIndex(_ address: Int, _ x: Int, _ y: Int, dx: Int, dy: Int) -> Int {
        let width = options.widthInMacroblocks
        return (address / width * 4 + y + dy) * 4 * width + address % width * 4 + x + dx
    }

    private mutating func setModes(_ address: Int, _ mode: Int) {
        for y in 0..<4 {
            for x in 0..<4 { modes[blockIndex(address, x, y, dx: 0, dy: 0)] = mode }
        }
    }

    private mutating func makeMotion(_ macroblock: MacroblockSyntax, references: Int) {
        let sources: [Int] =
            switch macroblock.kind {
            case .inter16x16: [0, 0, 0, 0]
            case .inter16x8: [0, 0, 2, 2]
            case .inter8x16: [0, 1, 0, 1]
            default: [0, 1, 2, 3]
            }
        var drawn: [(Int8, MotionVector)] = []
        for _ in 0..<4 {
            drawn.append(
                (Int8.random(in: 0..<Int8(references), using: &generator), MotionVector(difference(), difference())))
        }
        for quadrant in 0..<4 {
            let (reference, difference) = drawn[sources[quadrant]]
            macroblock.setMotion(quadrant, reference: reference, difference: difference)
        }
    }

    private mutating func difference() -> Int16 {
        let limit = Int16(chance(5) ? options.largestDifference : min(options.largestDifference, 3))
        return Int16.random(in: -limit...limit, using: &generator)
    }

    // MARK: Levels

    private mutating func makeResidual(_ macroblock: MacroblockSyntax) {
        let intra16x16 = macroblock.kind == .intra16x16
        // Values that must not be read are arbitrary.
        for position in 0..<MacroblockLevels.count { macroblock.setLevel(position, 77) }
        for block in 0..<MacroblockLevels.blockCount { macroblock.setNonZeroCount(block, 0) }
        if intra16x16 { fill(macroblock, MacroblockLevels.lumaDC, 16, count: MacroblockLevels.lumaDCBlock) }
        for quadrant in 0..<4 where macroblock.codedBlockPattern & 1 << quadrant != 0 {
            if macroblock.transform8x8 {
                repeat { fill(macroblock, 64 * quadrant, 64, count: 4 * quadrant) } while lastCount == 0
            } else {
                for block in (4 * quadrant)..<(4 * quadrant + 4) {
                    fill(macroblock, 16 * block + (intra16x16 ? 1 : 0), intra16x16 ? 15 : 16, count: block)
                }
            }
        }
        if macroblock.codedBlockPattern >> 4 > 0 {
            for plane in 0..<2 {
                fill(
                    macroblock, MacroblockLevels.chromaDC + 4 * plane, 4,
                    count: MacroblockLevels.chromaDCBlock + plane)
            }
        }
        if macroblock.codedBlockPattern >> 4 == 2 {
            for block in 0..<8 {
                fill(
                    macroblock, MacroblockLevels.chromaAC + 16 * block + 1, 15,
                    count: MacroblockLevels.chromaACBlock + block)
            }
        }
    }

    private var lastCount = 0

    private mutating func fill(_ macroblock: MacroblockSyntax, _ start: Int, _ size: Int, count block: Int) {
        let density = [0, 5, 20, 50, 90, 100].randomElement(using: &generator)!
        let isLarge = chance(10)
        lastCount = 0
        for index in 0..<size {
            var level: Int16 = 0
            if chance(density) {
                let limit = Int16(isLarge && chance(30) ? options.largestLevel : chance(40) ? 3 : 1)
                level = Int16.random(in: 1...min(limit, Int16(options.largestLevel)), using: &generator)
                if chance(50) { level = -level }
                lastCount += 1
            }
            macroblock.setLevel(start + index, level)
        }
        macroblock.setNonZeroCount(block, UInt8(lastCount))
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &generator) < percent
    }
}
