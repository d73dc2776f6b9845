public import VideoBase

/// How the grading display showed the pictures, and how bright they are.
extension SEIMessage {
    /// mastering_display_colour_volume (H.264 D.1.29, H.265 D.2.28). The primaries stand in the order green, blue, red,
    /// as the semantics suggest.
    public static func masteringDisplay(_ display: MasteringDisplay) -> SEIMessage {
        var w = BitWriter()
        for color in [display.green, display.blue, display.red, display.white] {
            w.u(16, color.x)
            w.u(16, color.y)
        }
        w.u(32, display.maxLuminance)
        w.u(32, display.minLuminance)
        return SEIMessage(payloadType: 137, bits: w)
    }

    /// content_light_level_info (H.264 D.1.31, H.265 D.2.35), in cd/m²: the brightest sample's light and the brightest
    /// picture's average; 0: not known.
    public static func contentLightLevel(maxContent: UInt16, maxPictureAverage: UInt16) -> SEIMessage {
        var w = BitWriter()
        w.u(16, maxContent)
        w.u(16, maxPictureAverage)
        return SEIMessage(payloadType: 144, bits: w)
    }

    /// The two messages of static metadata, those of them that there are.
    public static func highDynamicRange(_ display: MasteringDisplay?, _ light: ContentLight?) -> [SEIMessage] {
        let first = display.map(masteringDisplay)
        let second = light.map {
            contentLightLevel(maxContent: $0.maxContentLight, maxPictureAverage: $0.maxFrameAverageLight)
        }
        return [first, second].compactMap(\.self)
    }

    /// HDR10+ (SMPTE ST 2094-40) as user_data_registered_itu_t_t35, from its country code on; nil where there is none.
    public static func dynamicHDR(_ bytes: [UInt8]) -> SEIMessage? {
        bytes.isEmpty ? nil : SEIMessage(payloadType: 4, payload: bytes)
    }
}
