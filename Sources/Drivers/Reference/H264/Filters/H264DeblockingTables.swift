/// The thresholds of the deblocking filter, H.264 8.7.2.2, tables 8-16 and 8-17.
final class H264DeblockingTables: Sendable {
    /// α, β and t_C0, indexed by indexA or indexB. t_C0 has four entries for each index, by bS (0 for bS 0).
    let alpha = ElementStorage<Int16>(count: 52, repeating: 0)
    let beta = ElementStorage<Int16>(count: 52, repeating: 0)
    let clipping = ElementStorage<Int16>(count: 52 * 4, repeating: 0)

    init() {
        let alphas: [Int16] = [
            4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90, 101, 113,
            127, 144, 162, 182, 203, 226, 255, 255,
        ]
        let betas: [Int16] = [
            2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16,
            16, 17, 17, 18, 18,
        ]
        for i in 16..<52 {
            alpha.elements[i] = alphas[i - 16]
            beta.elements[i] = betas[i - 16]
        }
        // t_C0 for bS 1, 2 and 3, from index 17 on.
        let clips: [(Int16, Int16, Int16)] = [
            (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 1, 1), (0, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1),
            (1, 1, 1), (1, 1, 2), (1, 1, 2), (1, 1, 2), (1, 1, 2), (1, 2, 3), (1, 2, 3), (2, 2, 3), (2, 2, 4),
            (2, 3, 4), (2, 3, 4), (3, 3, 5), (3, 4, 6), (3, 4, 6), (4, 5, 7), (4, 5, 8), (4, 6, 9), (5, 7, 10),
            (6, 8, 11), (6, 8, 13), (7, 10, 14), (8, 11, 16), (9, 12, 18), (10, 13, 20), (11, 15, 23), (13, 17, 25),
        ]
        for (i, clip) in clips.enumerated() {
            clipping.elements[(17 + i) * 4 + 1] = clip.0
            clipping.elements[(17 + i) * 4 + 2] = clip.1
            clipping.elements[(17 + i) * 4 + 3] = clip.2
        }
    }
}

/// The deblocking parameters of a slice.
struct SliceFiltering {
    /// disable_deblocking_filter_idc.
    var mode: Int
    var offsetA: Int
    var offsetB: Int
}

extension SliceFiltering {
    init(_ slice: H264SliceJob) {
        self.init(
            mode: slice.disable_deblocking_filter_idc, offsetA: slice.filterOffsetA, offsetB: slice.filterOffsetB)
    }
}
