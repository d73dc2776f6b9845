internal import CVA

/// Regions of interest, VAEncMiscParameterBufferROI, copied from the client's memory when they are rendered.
struct QPRegions: Sendable {
    struct Region: Sendable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
        /// A QP difference, or a priority.
        var value: Int
    }

    private let regions: [Region]
    private let isQPDelta: Bool
    private let limits: ClosedRange<Int>

    /// SAFETY: va.h has the client keep `roi` valid, with `num_roi` entries, until the buffer is rendered.
    init(_ buffer: VAEncMiscParameterBufferROI, _ entry: Capabilities.Entry) throws {
        let count = Int(unsafe buffer.num_roi)
        guard count <= entry.maximumRegions else {
            throw Refusal(VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "\(count) regions exceed the maximum of "
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

    /// The QP difference of each macroblock that a region touches; where regions overlap the first counts. A priority
    /// of n is a QP of 2·n less, within the client's limits; at constant QPs values are differences whatever else
    /// the buffer says.
    func deltas(widthInMacroblocks width: Int, heightInMacroblocks height: Int, isConstantQP: Bool) -> [Int]? {
        guard !regions.isEmpty else { return nil }
        var deltas = [Int](repeating: 0, count: width * height)
        for region in regions.reversed() {
            let asked = isConstantQP || isQPDelta ? region.value : -2 * region.value
            let delta = isConstantQP ? asked : min(max(asked, limits.lowerBound), limits.upperBound)
            for y in Self.blocks(region.y, region.height, height) {
                for x in Self.blocks(region.x, region.width, width) { deltas[y * width + x] = delta }
            }
        }
        return deltas
    }

    /// Macroblocks, of `count`, that `length` samples from `start` on touch.
    private static func blocks(_ start: Int, _ length: Int, _ count: Int) -> Range<Int> {
        let first = min(max(start, 0) / 16, count)
        return first..<max(first, min((start + length + 15) / 16, count))
    }
}
