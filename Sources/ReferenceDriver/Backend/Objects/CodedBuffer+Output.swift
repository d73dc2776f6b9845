internal import CVA

extension CodedBuffer {
    /// Writes NAL units one after the other, as many as fit whole, in one segment, or in several as `manners` say: the
    /// first `headers` of them then are headers.
    ///
    /// A unit that does not fit, and all after it, are left out, and the status has the overflow flags.
    func write(
        _ units: [[UInt8]], headers: Int, averageQP: Int, maximumFrameBits: Int, flags: UInt32 = 0,
        manners: DriverManners
    ) {
        var count = 0
        var status = UInt32(averageQP) & UInt32(VA_CODED_BUF_STATUS_PICTURE_AVE_QP_MASK) | flags
        var segments: [Segment] = []
        for (index, unit) in units.enumerated() {
            guard memory.store(unit, at: count) else {
                status |= UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK | VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW)
                break
            }
            if manners.chainsHeaders && index < headers {
                segments += Self.units(in: unit).map {
                    Segment(
                        offset: count + $0.lowerBound, count: $0.count,
                        status: UInt32(VA_CODED_BUF_STATUS_SINGLE_NALU))
                }
            }
            count += unit.count
        }
        if maximumFrameBits > 0, 8 * count > maximumFrameBits {
            status |= UInt32(VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW)
        }
        if manners.hasNoStatus { status = 0 }
        let start = segments.last.map { $0.offset + $0.count } ?? 0
        setSegments(segments + [Segment(offset: start, count: count - start, status: status)])
    }

    /// The NAL units in bytes that begin with a start code, each with its start code.
    private static func units(in bytes: [UInt8]) -> [Range<Int>] {
        var starts: [Int] = []
        for index in 0..<max(bytes.count - 3, 0)
        where bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
            starts.append(index > 0 && bytes[index - 1] == 0 ? index - 1 : index)
        }
        guard !starts.isEmpty else { return [0..<bytes.count] }
        starts[0] = 0
        return zip(starts, starts.dropFirst() + [bytes.count]).map { $0..<$1 }
    }
}
