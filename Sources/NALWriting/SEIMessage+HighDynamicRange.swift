/// How the grading display showed the pictures, and how bright they are.
extension SEIMessage {
    /// mastering_display_colour_volume (H.264 D.2.29, H.265 D.3.28): the display that the pictures were graded on.
    public struct MasteringDisplay: Sendable, Hashable {
        /// A colour's place, CIE 1931, in steps of 0.00002: 0…50000.
        public struct Chromaticity: Sendable, Hashable {
            public var x: UInt16
            public var y: UInt16

            public init(x: UInt16, y: UInt16) {
                self.x = x
                self.y = y
            }
        }

        public var red: Chromaticity
        public var green: Chromaticity
        public var blue: Chromaticity
        public var whitePoint: Chromaticity
        /// max_display_mastering_luminance, in steps of 0.0001 cd/m².
        public var maxLuminance: UInt32
        /// min_display_mastering_luminance, in steps of 0.0001 cd/m².
        public var minLuminance: UInt32

        public init(
            red: Chromaticity, green: Chromaticity, blue: Chromaticity, whitePoint: Chromaticity, maxLuminance: UInt32,
            minLuminance: UInt32
        ) {
            self.red = red
            self.green = green
            self.blue = blue
            self.whitePoint = whitePoint
            self.maxLuminance = maxLuminance
            self.minLuminance = minLuminance
        }
    }

    /// mastering_display_colour_volume (H.264 D.1.29, H.265 D.2.28). The primaries stand in the order green, blue, red,
    /// as the semantics suggest.
    public static func masteringDisplay(_ display: MasteringDisplay) -> SEIMessage {
        var w = BitWriter()
        for color in [display.green, display.blue, display.red, display.whitePoint] {
            w.u(16, color.x)
            w.u(16, color.y)
        }
        w.u(32, display.maxLuminance)
        w.u(32, display.minLuminance)
        return SEIMessage(payloadType: 137, bits: w)
    }

    /// content_light_level_info (H.264 D.1.31, H.265 D.2.35), in cd/m²: the brightest sample's light and the brightest picture's average;
    /// 0: not known.
    public static func contentLightLevel(maxContent: UInt16, maxPictureAverage: UInt16) -> SEIMessage {
        var w = BitWriter()
        w.u(16, maxContent)
        w.u(16, maxPictureAverage)
        return SEIMessage(payloadType: 144, bits: w)
    }
}
