/// The bit positions of the slice header fields that a driver rewrites.
package struct SliceFields: Equatable, Sendable {
    /// The bits of first_mb_in_slice.
    package var firstMacroblock: Range<Int>
    /// The bits of slice_qp_delta.
    package var qpDelta: Range<Int>
    /// The position at which the header ends. A client's bits may continue: FFmpeg packs the alignment before CABAC's
    /// data, too.
    package var end = 0

    package init(firstMacroblock: Range<Int>, qpDelta: Range<Int>) {
        self.firstMacroblock = firstMacroblock
        self.qpDelta = qpDelta
    }

    /// Finds the fields in a header. Returns nil if the header cannot be read.
    package init?(_ header: SliceHeaderBits, sequence: H264SequenceParameterSet, picture: H264PictureParameterSet) {
        var fields = SliceFields(firstMacroblock: 0..<0, qpDelta: 0..<0)
        guard H264SliceHeader(header, sequence: sequence, picture: picture, fields: &fields) != nil else { return nil }
        self = fields
    }
}

extension SliceHeaderBits {
    /// Returns the first `count` bits of the header.
    package func shortened(to count: Int) -> SliceHeaderBits {
        SliceHeaderBits(prefix: prefix, payload: payload, bitCount: min(count, bitCount))
    }

    /// Returns the header with the bits in `range` replaced by se(v) of `value`.
    package func replacing(_ range: Range<Int>, signed value: Int) -> SliceHeaderBits {
        replacing(range) { $0.putSigned(value) }
    }

    /// Returns the header of a slice that continues this one at `firstMacroblock`, with a three-byte start code.
    /// `range` is the range of first_mb_in_slice.
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
