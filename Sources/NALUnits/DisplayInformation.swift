package import VideoBase

/// The display properties of samples: the beginning of vui_parameters(), which is the same in H.264 E.1.1 and H.265
/// E.2.1. The fields have the names of the standards. A field that is nil is not written.
package struct DisplayInformation: Sendable, Hashable {
    /// The ratio of the width to the height of a sample, or nil if it is unknown.
    package var sampleAspectRatio: Rational?
    /// The video format; 5 means unspecified.
    package var video_format: UInt8 = 5
    /// The color description.
    package var color: ColorDescription
    /// chroma_sample_loc_type of both fields, 0…5 (Figure E-1; 2 is the top left, as in HDR10). nil is equivalent to 0.
    package var chroma_sample_loc_type: Int?

    /// Creates display information.
    package init(sampleAspectRatio: Rational? = nil, color: ColorDescription = .unspecified) {
        self.sampleAspectRatio = sampleAspectRatio
        self.color = color
    }

    /// The ratios of aspect_ratio_idc 1 to 16 (Table E-1).
    private static let knownAspectRatios = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
        (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    /// aspect_ratio_idc, with sar_width and sar_height if it is Extended_SAR (255); nil if the ratio is unknown or does
    /// not fit 16 bits.
    package var aspectRatio: (aspect_ratio_idc: UInt8, sar_width: Int, sar_height: Int)? {
        guard let ratio = sampleAspectRatio?.reduced, ratio.numerator > 0, ratio.numerator < 65536,
            ratio.denominator < 65536
        else { return nil }
        if let index = Self.knownAspectRatios.firstIndex(where: { $0 == (ratio.numerator, ratio.denominator) }) {
            return (UInt8(index + 1), 0, 0)
        }
        return (255, ratio.numerator, ratio.denominator)
    }

    /// Writes the elements from aspect_ratio_info_present_flag to the chroma sample location.
    package func write(to w: inout BitWriter) {
        w.flag(aspectRatio != nil)
        if let aspectRatio {
            w.u(8, aspectRatio.aspect_ratio_idc)
            if aspectRatio.aspect_ratio_idc == 255 {
                w.u(16, aspectRatio.sar_width)
                w.u(16, aspectRatio.sar_height)
            }
        }
        w.flag(false)  // overscan_info_present_flag
        let video_signal_type_present_flag = color.isSpecified || color.fullRange != nil
        w.flag(video_signal_type_present_flag)
        if video_signal_type_present_flag {
            w.u(3, video_format)
            w.flag(color.fullRange ?? false)
            w.flag(color.isSpecified)
            if color.isSpecified {
                w.u(8, color.primaries)
                w.u(8, color.transfer)
                w.u(8, color.matrix)
            }
        }
        w.flag(chroma_sample_loc_type != nil)
        if let chroma_sample_loc_type {
            w.ue(chroma_sample_loc_type)
            w.ue(chroma_sample_loc_type)
        }
    }
}
