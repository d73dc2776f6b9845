internal import CVA

extension CodedBuffer {
    /// Writes NAL units one after the other. If a unit does not fit, it and all later units are omitted, and the
    /// overflow flags are set in the status.
    ///
    /// The data is one segment. If `behavior.chainsHeaders` is set, each NAL unit of the headers is a segment of its
    /// own. The remaining units are the last segment.
    ///
    /// - Parameters:
    ///   - headers: The number of elements at the start of `units` that hold headers.
    ///   - maximumFrameBits: The size in bits above which the status has an overflow flag, or 0 for no limit.
    ///   - flags: More VA_CODED_BUF_STATUS_… flags.
    func write(
        _ units: [[UInt8]], headers: Int, averageQP: Int, maximumFrameBits: Int, flags: UInt32 = 0,
        behavior: DriverBehavior
    ) {
        var count = 0
        var status = UInt32(averageQP) & UInt32(VA_CODED_BUF_STATUS_PICTURE_AVE_QP_MASK) | flags
        var segments: [Segment] = []
        for (index, unit) in units.enumerated() {
            guard memory.store(unit, at: count) else {
                status |= UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK | VA_CODED_BUF_STATUS_FRAME_SIZE_OVERFLOW)
                break
            }
            if behavior.chainsHeaders && index < headers {
                segments += StreamUnits.units(in: unit).map {
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
        if behavior.hasNoStatus { status = 0 }
        let start = segments.last.map { $0.offset + $0.count } ?? 0
        setSegments(segments + [Segment(offset: start, count: count - start, status: status)])
    }
}
