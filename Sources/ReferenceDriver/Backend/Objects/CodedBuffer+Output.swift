internal import CVA

extension CodedBuffer {
    /// Writes NAL units one after the other, as many as fit whole; a single segment holds them all.
    ///
    /// A unit that does not fit, and all after it, are left out, and the status has the overflow flags.
    func write(_ units: [[UInt8]], averageQP: Int, maximumFrameBits: Int, flags: UInt32 = 0) {
        var count = 0
        var status = UInt32(averageQP) & UInt32(VA_CODED_BUF_STATUS_PICTURE_AVE_QP_MASK) | flags
        for unit in units {
            guard memory.store(unit, at: count) else {
                status |= UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK | VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW)
                break
            }
            count += unit.count
        }
        if maximumFrameBits > 0, 8 * count > maximumFrameBits {
            status |= UInt32(VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW)
        }
        setSegments([Segment(offset: 0, count: count, status: status)])
    }
}
