/// The display on which pictures were mastered (SMPTE ST 2086), in the units of the SEI message
/// mastering_display_colour_volume (H.265 D.3.28, H.264 D.2.29).
public struct MasteringDisplay: Sendable, Hashable, Codable {
    /// A chromaticity: CIE 1931 x and y in steps of 0.00002, 0…50000.
    public struct Point: Sendable, Hashable, Codable {
        /// CIE 1931 x in steps of 0.00002.
        public var x: UInt16
        /// CIE 1931 y in steps of 0.00002.
        public var y: UInt16

        /// Creates a chromaticity.
        public init(x: UInt16, y: UInt16) {
            self.x = x
            self.y = y
        }
    }

    /// The red primary.
    public var red: Point
    /// The green primary.
    public var green: Point
    /// The blue primary.
    public var blue: Point
    /// The white point.
    public var white: Point
    /// The maximum luminance in steps of 0.0001 cd/m².
    public var maxLuminance: UInt32
    /// The minimum luminance in steps of 0.0001 cd/m².
    public var minLuminance: UInt32

    /// Creates a mastering display.
    public init(red: Point, green: Point, blue: Point, white: Point, maxLuminance: UInt32, minLuminance: UInt32) {
        self.red = red
        self.green = green
        self.blue = blue
        self.white = white
        self.maxLuminance = maxLuminance
        self.minLuminance = minLuminance
    }

    /// Parses the format of x265: `G(x,y)B(x,y)R(x,y)WP(x,y)L(max,min)`, with the parts in any order and the units
    /// above.
    ///
    /// Returns nil for other text, for points outside the scale, and if the minimum luminance is not below the maximum.
    public init?(_ text: some StringProtocol) {
        var pairs: [Substring: (first: UInt32, second: UInt32)] = [:]
        var rest = Substring(text).filter { $0 != " " }[...]
        while !rest.isEmpty {
            guard let open = rest.firstIndex(of: "("), let close = rest.firstIndex(of: ")"), open < close else { return nil }
            let numbers = rest[rest.index(after: open)..<close].split(separator: ",", omittingEmptySubsequences: false)
            guard numbers.count == 2, let first = UInt32(numbers[0]), let second = UInt32(numbers[1]),
                pairs.updateValue((first, second), forKey: rest[..<open]) == nil
            else { return nil }
            rest = rest[rest.index(after: close)...]
        }
        func point(_ name: Substring) -> Point? {
            guard let pair = pairs[name], pair.first <= 50000, pair.second <= 50000 else { return nil }
            return Point(x: UInt16(pair.first), y: UInt16(pair.second))
        }
        guard pairs.count == 5, let red = point("R"), let green = point("G"), let blue = point("B"),
            let white = point("WP"), let luminance = pairs["L"]
        else { return nil }
        self.init(
            red: red, green: green, blue: blue, white: white, maxLuminance: luminance.first,
            minLuminance: luminance.second)
        guard isPossible else { return nil }
    }

    /// Whether the points lie on the scale and the minimum luminance is below the maximum.
    package var isPossible: Bool {
        [red, green, blue, white].allSatisfy { $0.x <= 50000 && $0.y <= 50000 } && minLuminance < maxLuminance
    }

    /// The values in the format of x265.
    public var description: String {
        func pair(_ name: String, _ point: Point) -> String { "\(name)(\(point.x),\(point.y))" }
        return pair("G", green) + pair("B", blue) + pair("R", red) + pair("WP", white)
            + "L(\(maxLuminance),\(minLuminance))"
    }
}

extension MasteringDisplay: CustomStringConvertible {}

/// The brightness of the content in cd/m²: the SEI message content_light_level_info (H.265 D.3.35, H.264 D.2.31).
public struct ContentLight: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The light level of the brightest sample (MaxCLL), or 0 if it is unknown.
    public var maxContentLight: UInt16
    /// The highest average light level of a picture (MaxFALL), or 0 if it is unknown.
    public var maxFrameAverageLight: UInt16

    /// Creates a content light level.
    public init(maxContentLight: UInt16, maxFrameAverageLight: UInt16) {
        self.maxContentLight = maxContentLight
        self.maxFrameAverageLight = maxFrameAverageLight
    }

    /// Parses the format of x265: `1000,400`. Returns nil for other text.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { UInt16($0) }
        guard parts.count == 2, let content = parts[0], let average = parts[1] else { return nil }
        self.init(maxContentLight: content, maxFrameAverageLight: average)
    }

    /// The levels in the format of x265: `1000,400`.
    public var description: String { "\(maxContentLight),\(maxFrameAverageLight)" }
}
