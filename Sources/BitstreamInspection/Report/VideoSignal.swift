/// video_signal_type of vui_parameters() (H.264 E.1.1, H.265 E.2.1).
package struct VideoSignal: Sendable, Hashable {
    package var video_format: Int
    package var video_full_range_flag: Bool
    /// colour_primaries, transfer_characteristics and matrix_coefficients.
    package var color: [Int]?
}

enum SampleAspectRatios {
    /// The sample aspect ratios by aspect_ratio_idc (H.264 table E-1, H.265 table E.1).
    static let table = [
        [0, 0], [1, 1], [12, 11], [10, 11], [16, 11], [40, 33], [24, 11], [20, 11], [32, 11], [80, 33], [18, 11],
        [15, 11], [64, 33], [160, 99], [4, 3], [3, 2], [2, 1],
    ]
}
