import NALUnits

/// Corrects idr_pic_id of H.264 IDR pictures, which must differ in consecutive IDR pictures (7.4.3). libx264 alternates
/// between 0 and 1, and begins with 0 in each of its streams. After a drain or a change of the rate, two consecutive
/// pictures can therefore have the same value.
struct IDRNumbers: Sendable {
    private let syntax: SliceSyntax
    /// The idr_pic_id of the last picture; nil if that was not an IDR picture.
    private var latest: Int?

    /// Creates the correction for a stream. Returns nil for parameter sets that libx264 does not write.
    init?(parameterSets: [[UInt8]]) {
        guard let syntax = SliceSyntax(parameterSets) else { return nil }
        self.syntax = syntax
    }

    /// Returns the next access unit in coding order, in Annex B form. If its idr_pic_id equals that of the picture
    /// before, it is replaced.
    mutating func renumbered(_ bytes: [UInt8], isIDR: Bool) -> [UInt8] {
        let before = latest
        latest = nil
        guard isIDR else { return bytes }
        let units = AnnexB.units(in: bytes.span)
        func isSlice(_ unit: Range<Int>) -> Bool { bytes[unit.lowerBound] & 31 == 5 }
        // The header is within the first bytes.
        guard let first = units.first(where: isSlice), let own = syntax.header(UnescapedBits(bytes[first].prefix(64)))?.number
        else { return bytes }
        latest = own
        guard own == before else { return bytes }
        // The library's next value is the other one of 0 and 1.
        let number = [0, 1, 2].first { $0 != own && $0 != own ^ 1 } ?? own ^ 1
        latest = number
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + units.count)
        for unit in units { AnnexB.append(isSlice(unit) ? syntax.renumbered(bytes[unit], number)[...] : bytes[unit], to: &result) }
        return result
    }
}

/// The fields of libx264's parameter sets that determine the syntax of slice headers.
private struct SliceSyntax: Sendable {
    private let sequence: SequenceFields
    private var isCABAC = false
    private var hasDeblocking = false

    /// Returns nil for syntax that libx264 does not write: fields, slice groups, redundant pictures, pic_order_cnt_type
    /// 1.
    init?(_ parameterSets: [[UInt8]]) {
        guard let sps = parameterSets.first(where: { $0.first.map { $0 & 31 == 7 } ?? false }),
            let pps = parameterSets.first(where: { $0.first.map { $0 & 31 == 8 } ?? false })
        else { return nil }
        var bits = UnescapedBits(sps)
        guard let sequence = SequenceFields(&bits), !sequence.hasFields else { return nil }
        self.sequence = sequence
        // pic_parameter_set_rbsp(), H.264 7.3.2.2.
        bits = UnescapedBits(pps)
        bits.position = 8
        bits.ue()
        bits.ue()
        isCABAC = bits.flag()
        guard !bits.flag(), bits.ue() == 0 else { return nil }  // bottom_field_pic_order_in_frame_present_flag, num_slice_groups_minus1
        bits.ue()
        bits.ue()
        bits.position += 3
        for _ in 0..<3 { bits.ue() }
        hasDeblocking = bits.flag()
        bits.position += 1
        guard !bits.flag(), !bits.isExhausted else { return nil }  // redundant_pic_cnt_present_flag
    }

    /// Reads slice_header() of an I slice of an IDR picture, H.264 7.3.3. Returns idr_pic_id, its position and the end
    /// of the header; nil for other slices.
    func header(_ unit: UnescapedBits) -> (number: Int, numberRange: Range<Int>, end: Int)? {
        var bits = unit
        bits.position = 8
        bits.ue()
        guard bits.ue() % 5 == 2 else { return nil }  // slice_type
        bits.ue()
        bits.position += sequence.frameNumberBits
        let start = bits.position
        let number = bits.ue()
        let numberRange = start..<max(bits.position, start)
        // pic_order_cnt_lsb, dec_ref_pic_marking(), slice_qp_delta.
        bits.position += sequence.orderCountBits + 2
        bits.ue()
        if hasDeblocking, bits.ue() != 1 {
            bits.ue()
            bits.ue()
        }
        return bits.isExhausted ? nil : (number, numberRange, bits.position)
    }

    /// Returns the slice with another idr_pic_id; unchanged if it has none.
    func renumbered(_ unit: ArraySlice<UInt8>, _ number: Int) -> [UInt8] {
        let bits = UnescapedBits(unit)
        guard let header = header(bits), let stop = bits.stopBit, header.end <= stop else { return Array(unit) }
        var w = BitWriter(reservingCapacity: unit.count + 8)
        bits.copy(0..<header.numberRange.lowerBound, to: &w)
        w.ue(number)
        if isCABAC {
            bits.copy(header.numberRange.upperBound..<header.end, to: &w)
            // cabac_alignment_one_bit, in the input and in the output: slice data begins at a byte boundary.
            while !w.isByteAligned { w.flag(true) }
            bits.copy((header.end + 7) / 8 * 8..<bits.bitCount, to: &w)
        } else {
            bits.copy(header.numberRange.upperBound..<stop, to: &w)
            w.trailingBits()
        }
        return EmulationPrevention.escaped(w.bytes)
    }
}

/// The fields of libx264's sequence parameter set up to frame_mbs_only_flag, H.264 7.3.2.1.1.
struct SequenceFields: Sendable {
    /// The number of bits of frame_num.
    let frameNumberBits: Int
    /// The number of bits of pic_order_cnt_lsb; 0 if slice headers do not contain it.
    let orderCountBits: Int
    /// Whether frame_mbs_only_flag is 0.
    let hasFields: Bool

    /// Reads the fields, and leaves `bits` after direct_8x8_inference_flag. Returns nil for syntax that libx264 does
    /// not write.
    init?(_ bits: inout UnescapedBits) {
        bits.position = 8
        let profile = bits.u(8)
        bits.position += 16
        bits.ue()
        if [100, 110, 122, 244, 44, 83, 86, 118, 128].contains(profile) {
            if bits.ue() == 3 { bits.position += 1 }
            bits.ue()
            bits.ue()
            bits.position += 1
            if bits.flag() { return nil }  // seq_scaling_matrix_present_flag
        }
        let frameNumber = bits.ue()
        var orderCount = 0
        switch bits.ue() {  // pic_order_cnt_type
        case 0: orderCount = bits.ue() + 4
        case 2: break
        default: return nil
        }
        bits.ue()
        bits.position += 1
        bits.ue()
        bits.ue()
        hasFields = !bits.flag()
        if hasFields { bits.position += 1 }
        bits.position += 1
        // H.264 7.4.2.1.1.
        guard !bits.isExhausted, frameNumber <= 12, orderCount <= 16 else { return nil }
        (frameNumberBits, orderCountBits) = (frameNumber + 4, orderCount)
    }
}
