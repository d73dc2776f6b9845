internal import CVA

/// Regions of interest, VAEncMiscParameterBufferROI, copied from the client's memory when they are rendered.
struct QPRegions: Sendable {
    struct Region: Sendable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
        /// A QP delta, or a priority.
        var value: Int
    }

    private let regions: [Region]
    private let isQPDelta: Bool
    private let limits: ClosedRange<Int>

    /// Copies the regions. Throws if there are more than the entry allows.
    ///
    /// SAFETY: by va.h, the client keeps `roi` valid, with `num_roi` entries, until the buffer is rendered.
    init(_ buffer: VAEncMiscParameterBufferROI, _ entry: Capabilities.Entry) throws {
        let count = Int(unsafe buffer.num_roi)
        guard count <= entry.maximumRegions else {
            throw Refusal(
                VA_STATUS_ERROR_MAX_NUM_EXCEEDED,
                "\(count) regions exceed the maximum of "
                    + "\(entry.maximumRegions)")
        }
        guard count > 0 else {
            (regions, isQPDelta, limits) = ([], true, 0...0)
            return
        }
        guard let start = unsafe buffer.roi else {
            throw Refusal.invalidParameter("the list of regions of interest is missing")
        }
        regions = unsafe UnsafeBufferPointer(start: start, count: count).map {
            Region(
                x: Int($0.roi_rectangle.x), y: Int($0.roi_rectangle.y), width: Int($0.roi_rectangle.width),
                height: Int($0.roi_rectangle.height), value: Int($0.roi_value))
        }
        isQPDelta = unsafe buffer.roi_flags.bits.roi_value_is_qp_delta != 0
        let (least, most) = (Int(unsafe buffer.min_delta_qp), Int(unsafe buffer.max_delta_qp))
        limits = least < most ? least...most : -51...51
    }

    /// Returns the QP delta of each macroblock; nil if there are no regions.
    ///
    /// A macroblock that touches several regions uses the first of them. A priority of n lowers the QP by 2·n, within
    /// the client's limits. In CQP mode the values are always QP deltas, and the limits do not apply.
    func deltas(widthInMacroblocks width: Int, heightInMacroblocks height: Int, isConstantQP: Bool) -> [Int]? {
        guard !regions.isEmpty else { return nil }
        var deltas = [Int](repeating: 0, count: width * height)
        for region in regions.reversed() {
            let requested = isConstantQP || isQPDelta ? region.value : -2 * region.value
            let delta = isConstantQP ? requested : min(max(requested, limits.lowerBound), limits.upperBound)
            for y in Self.blocks(region.y, region.height, height) {
                for x in Self.blocks(region.x, region.width, width) { deltas[y * width + x] = delta }
            }
        }
        return deltas
    }

    /// Returns the indices, below `count`, of the macroblocks that contain samples in `start ..< start + length`.
    private static func blocks(_ start: Int, _ length: Int, _ count: Int) -> Range<Int> {
        let first = min(max(start, 0) / 16, count)
        return first..<max(first, min((start + length + 15) / 16, count))
    }
}
