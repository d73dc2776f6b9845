import BitstreamInspection
import TestOracles

/// An HEVC stream whose headers are written bit by bit, from the standard's syntax tables alone. The slices hold no
/// coding tree. It covers what no available encoder makes: tiles, long-term pictures, predicted reference picture sets,
/// and every violation.
struct CraftedHEVC: Sendable {
    struct Picture: Sendable {
        var type: Int
        var layer = 0
        var poc: Int
        /// The POC of each short-term picture of the set, and whether the picture refers to it.
        var short: [(poc: Int, isUsed: Bool)] = []
        /// The POC of each long-term picture, whether the picture refers to it, and whether its MSBs are written.
        var long: [(poc: Int, isUsed: Bool, tellsMSB: Bool)] = []
        /// The slice_type: 0 is B, 1 is P, 2 is I.
        var kind = 1
        var addresses = [0]
        var dependent: Set<Int> = []
        var listEntries: [Int]?
        var collocated: Int?
        var entryPoints: [Int] = []
        var endsSequence = false
        var noOutput = false
        var isOutput = true
        /// The index of the SPS's reference picture set that the slice uses instead of its own.
        var setIndex: Int?

        static func idr(_ type: Int = 19, _ change: (inout Picture) -> Void = { _ in }) -> Picture {
            var picture = Picture(type: type, poc: 0, kind: 2)
            change(&picture)
            return picture
        }

        static func p(
            _ poc: Int, _ short: [Int], type: Int = 1, layer: Int = 0, kept: [Int] = [],
            _ change: (inout Picture) -> Void = { _ in }
        ) -> Picture {
            var picture = Picture(
                type: type, layer: layer, poc: poc,
                short: short.map { ($0, true) } + kept.map { ($0, false) })
            change(&picture)
            return picture
        }
    }

    var width = 1024
    var height = 512
    var log2CTB = 6
    var level = 120
    var subLayers = 1
    var nests = true
    /// The max_dec_pic_buffering_minus1, max_num_reorder_pics and max_latency_increase_plus1 of each sub-layer.
    var buffering = [[4, 2, 0]]
    var pocBits = 8
    /// The writers of the SPS's st_ref_pic_set() structures.
    var setWriters: [@Sendable (inout HeaderBits) -> Void] = []
    var hasLongTerm = false
    var hasTemporalMotion = false
    var hasOutputFlag = false
    var modifiesLists = false
    var hasDependentSlices = false
    /// The numbers of tile columns and rows, and their sizes if they are not uniform.
    var tiles: (columns: Int, rows: Int, widths: [Int], heights: [Int])?
    var references = 1
    var pictures: [Picture] = []

    func stream() -> [UInt8] {
        var result = HeaderBits.unit(32, video()) + HeaderBits.unit(33, sequence()) + HeaderBits.unit(34, picture())
        for picture in pictures {
            for index in picture.addresses.indices {
                result += HeaderBits.unit(picture.type, slice(picture, index), layer: picture.layer)
            }
            if picture.endsSequence { result += [0, 0, 1, 36 << 1, 1] }
        }
        return result
    }

    private func profile(_ bits: inout HeaderBits) {
        bits.put(1, 8)
        bits.put(0x6000_0000, 32)
        bits.put(0b1001, 4)
        bits.put(0, 44)
        bits.put(level, 8)
        if subLayers > 1 {
            bits.put(0, 2 * (subLayers - 1))
            bits.put(0, 2 * (9 - subLayers))
        }
    }

    private func layers(_ bits: inout HeaderBits) {
        bits.flag(true)
        for layer in buffering { for value in layer { bits.ue(value) } }
    }

    private func video() -> [UInt8] {
        var bits = HeaderBits()
        bits.put(0b0000_11, 6)
        bits.put(0, 6)
        bits.put(subLayers - 1, 3)
        bits.flag(nests)
        bits.put(0xffff, 16)
        profile(&bits)
        layers(&bits)
        bits.put(0, 6)
        bits.ue(0)
        bits.flag(false)
        bits.flag(false)
        bits.trailing()
        return bits.bytes
    }

    private func sequence() -> [UInt8] {
        var bits = HeaderBits()
        bits.put(0, 4)
        bits.put(subLayers - 1, 3)
        bits.flag(nests)
        profile(&bits)
        bits.ue(0)
        bits.ue(1)
        bits.ue(width)
        bits.ue(height)
        bits.flag(false)
        bits.ue(0)
        bits.ue(0)
        bits.ue(pocBits - 4)
        layers(&bits)
        bits.ue(0)
        bits.ue(log2CTB - 3)
        bits.ue(0)
        bits.ue(3)
        bits.ue(0)
        bits.ue(0)
        // scaling lists, AMP, SAO, PCM
        bits.put(0, 4)
        bits.ue(setWriters.count)
        for write in setWriters { write(&bits) }
        bits.flag(hasLongTerm)
        if hasLongTerm { bits.ue(0) }
        bits.flag(hasTemporalMotion)
        // strong smoothing, VUI, extension
        bits.put(0, 3)
        bits.trailing()
        return bits.bytes
    }

    private func picture() -> [UInt8] {
        var bits = HeaderBits()
        bits.ue(0)
        bits.ue(0)
        bits.flag(hasDependentSlices)
        bits.flag(hasOutputFlag)
        // extra bits, sign hiding, cabac_init_present_flag
        bits.put(0, 5)
        bits.ue(references - 1)
        bits.ue(references - 1)
        bits.se(0)
        // constrained intra, transform skip, cu_qp_delta
        bits.put(0, 3)
        bits.se(0)
        bits.se(0)
        // chroma offsets, weights, bypass
        bits.put(0, 4)
        bits.flag(tiles != nil)
        bits.flag(false)
        if let tiles {
            bits.ue(tiles.columns - 1)
            bits.ue(tiles.rows - 1)
            bits.flag(tiles.widths.isEmpty)
            if !tiles.widths.isEmpty { for size in tiles.widths + tiles.heights { bits.ue(size - 1) } }
            bits.flag(true)
        }
        // across slices, deblocking control, scaling lists
        bits.put(0, 3)
        bits.flag(modifiesLists)
        bits.ue(0)
        bits.put(0, 2)
        bits.trailing()
        return bits.bytes
    }

    private func slice(_ picture: Picture, _ index: Int) -> [UInt8] {
        var bits = HeaderBits()
        let address = picture.addresses[index]
        bits.flag(address == 0)
        if (16...23).contains(picture.type) { bits.flag(picture.noOutput) }
        bits.ue(0)
        let isDependent = picture.dependent.contains(address)
        if address != 0 {
            if hasDependentSlices { bits.flag(isDependent) }
            let side = 1 << log2CTB
            let count = ((width + side - 1) / side) * ((height + side - 1) / side)
            bits.put(address, Int.bitWidth - (count - 1).leadingZeroBitCount)
        }
        if !isDependent {
            bits.ue(picture.kind)
            if hasOutputFlag { bits.flag(picture.isOutput) }
            if picture.type != 19, picture.type != 20 { set(&bits, picture) }
            if picture.kind < 2 { prediction(&bits, picture) }
            bits.se(0)
        }
        if tiles != nil {
            bits.ue(picture.entryPoints.count)
            if !picture.entryPoints.isEmpty {
                bits.ue(15)
                for offset in picture.entryPoints { bits.put(offset - 1, 16) }
            }
        }
        bits.trailing()
        return bits.bytes + [UInt8](repeating: 0x55, count: 60) + [0x80]
    }

    private func set(_ bits: inout HeaderBits, _ picture: Picture) {
        bits.put(picture.poc & ((1 << pocBits) - 1), pocBits)
        bits.flag(picture.setIndex != nil)
        if let index = picture.setIndex {
            if setWriters.count > 1 { bits.put(index, Int.bitWidth - (setWriters.count - 1).leadingZeroBitCount) }
        } else {
            if !setWriters.isEmpty { bits.flag(false) }
            let before = picture.short.filter { $0.poc < picture.poc }.sorted { $0.poc > $1.poc }
            let after = picture.short.filter { $0.poc >= picture.poc }.sorted { $0.poc < $1.poc }
            bits.ue(before.count)
            bits.ue(after.count)
            for entries in [before, after] {
                var last = picture.poc
                for entry in entries {
                    bits.ue(abs(entry.poc - last) - 1)
                    bits.flag(entry.isUsed)
                    last = entry.poc
                }
            }
        }
        if hasLongTerm {
            let mask = (1 << pocBits) - 1
            bits.ue(picture.long.count)
            var last = 0
            for entry in picture.long {
                bits.put(entry.poc & mask, pocBits)
                bits.flag(entry.isUsed)
                bits.flag(entry.tellsMSB)
                let cycle = (picture.poc >> pocBits) - (entry.poc >> pocBits)
                if entry.tellsMSB {
                    bits.ue(cycle - last)
                    last = cycle
                }
            }
        }
        if hasTemporalMotion { bits.flag(picture.collocated != nil) }
    }

    private func prediction(_ bits: inout HeaderBits, _ picture: Picture) {
        bits.flag(false)
        let total = picture.short.count { $0.isUsed } + picture.long.count { $0.isUsed }
        if modifiesLists, total > 1 {
            for _ in 0..<(picture.kind == 0 ? 2 : 1) {
                bits.flag(picture.listEntries != nil)
                let width = Int.bitWidth - (total - 1).leadingZeroBitCount
                for entry in picture.listEntries ?? [] { bits.put(entry, width) }
            }
        }
        if picture.kind == 0 { bits.flag(false) }
        if hasTemporalMotion, let collocated = picture.collocated {
            if picture.kind == 0 { bits.flag(true) }
            if references > 1 { bits.ue(collocated) }
        }
        bits.ue(0)
    }
}
