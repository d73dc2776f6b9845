/// Where the fields that a driver rewrites stand among a slice header's bits.
package struct SliceFields: Equatable, Sendable {
    /// first_mb_in_slice.
    package var firstMacroblock: Range<Int>
    /// slice_qp_delta.
    package var qpDelta: Range<Int>
    /// Where the header ends. A client's bits may go on: FFmpeg packs the alignment before CABAC's data, too.
    package var end = 0

    package init(firstMacroblock: Range<Int>, qpDelta: Range<Int>) {
        self.firstMacroblock = firstMacroblock
        self.qpDelta = qpDelta
    }

    /// Finds them in a header; nil where it cannot be read.
    package init?(_ header: SliceHeaderBits, sequence: SequenceParameterSet, picture: PictureParameterSet) {
        var fields = SliceFields(firstMacroblock: 0..<0, qpDelta: 0..<0)
        guard SliceHeader(header, sequence: sequence, picture: picture, fields: &fields) != nil else { return nil }
        self = fields
    }
}

extension SliceHeaderBits {
    /// The first `count` bits of the header.
    package func shortened(to count: Int) -> SliceHeaderBits {
        SliceHeaderBits(prefix: prefix, payload: payload, bitCount: min(count, bitCount))
    }

    /// The header with se(v) of `value` in place of the bits in `range`.
    package func replacing(_ range: Range<Int>, signed value: Int) -> SliceHeaderBits {
        replacing(range) { $0.putSigned(value) }
    }

    /// The header of a slice that continues this one from a macroblock on, with a start code of three bytes.
    package func continued(_ range: Range<Int>, at firstMacroblock: Int) -> SliceHeaderBits {
        var header = replacing(range) { $0.putUnsigned(firstMacroblock) }
        header.prefix = [0, 0, 1] + prefix.suffix(1)
        return header
    }

    private func replacing(_ range: Range<Int>, with field: (inout HeaderBitWriter) -> Void) -> SliceHeaderBits {
        var bits = HeaderBitWriter()
        func copy(_ part: Range<Int>) {
            for position in part { bits.put(payload[position >> 3] >> UInt8(7 - position & 7) & 1 != 0) }
        }
        copy(0..<range.lowerBound)
        field(&bits)
        copy(range.upperBound..<bitCount)
        return SliceHeaderBits(prefix: prefix, payload: bits.bytes, bitCount: bits.bitCount)
    }
}
