package import VideoBase

/// Messages about the mastering display and the brightness of the content.
extension SEIMessage {
    /// Creates mastering_display_colour_volume (H.264 D.1.29, H.265 D.2.28). The primaries are in the order green,
    /// blue, red, as the semantics suggest.
    package static func masteringDisplay(_ display: MasteringDisplay) -> SEIMessage {
        var w = BitWriter()
        for color in [display.green, display.blue, display.red, display.white] {
            w.u(16, color.x)
            w.u(16, color.y)
        }
        w.u(32, display.maxLuminance)
        w.u(32, display.minLuminance)
        return SEIMessage(payloadType: 137, bits: w)
    }

    /// Creates content_light_level_info (H.264 D.1.31, H.265 D.2.35) in cd/m². A value of 0 means unknown.
    ///
    /// - Parameters:
    ///   - maxContent: The light level of the brightest sample.
    ///   - maxPictureAverage: The average light level of the brightest picture.
    package static func contentLightLevel(maxContent: UInt16, maxPictureAverage: UInt16) -> SEIMessage {
        var w = BitWriter()
        w.u(16, maxContent)
        w.u(16, maxPictureAverage)
        return SEIMessage(payloadType: 144, bits: w)
    }

    /// Returns the messages for static HDR metadata, omitting those whose value is nil.
    package static func highDynamicRange(_ display: MasteringDisplay?, _ light: ContentLight?) -> [SEIMessage] {
        let first = display.map(masteringDisplay)
        let second = light.map {
            contentLightLevel(maxContent: $0.maxContentLight, maxPictureAverage: $0.maxFrameAverageLight)
        }
        return [first, second].compactMap(\.self)
    }

    /// Creates user_data_registered_itu_t_t35 with HDR10+ metadata (SMPTE ST 2094-40) from its country code on; returns
    /// nil if `bytes` is empty.
    package static func dynamicHDR(_ bytes: [UInt8]) -> SEIMessage? {
        bytes.isEmpty ? nil : SEIMessage(payloadType: 4, payload: bytes)
    }
}
