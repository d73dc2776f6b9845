/// The display that pictures were mastered on: SMPTE ST 2086, in the units of the SEI message
/// mastering_display_colour_volume (H.265 D.3.28, H.264 D.2.29).
public struct MasteringDisplay: Sendable, Hashable, Codable {
    /// CIE 1931 x and y in steps of 0.00002, 0…50000.
    public struct Point: Sendable, Hashable, Codable {
        public var x: UInt16
        public var y: UInt16

        public init(x: UInt16, y: UInt16) {
            self.x = x
            self.y = y
        }
    }

    public var red: Point
    public var green: Point
    public var blue: Point
    public var white: Point
    /// In steps of 0.0001 cd/m².
    public var maxLuminance: UInt32
    public var minLuminance: UInt32

    public init(red: Point, green: Point, blue: Point, white: Point, maxLuminance: UInt32, minLuminance: UInt32) {
        self.red = red
        self.green = green
        self.blue = blue
        self.white = white
        self.maxLuminance = maxLuminance
        self.minLuminance = minLuminance
    }

    /// What x265 takes: `G(x,y)B(x,y)R(x,y)WP(x,y)L(max,min)`, its parts in any order, in the units above. nil for
    /// anything else, for points past the end of the scale, and where the darkest is not below the brightest.
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

    /// The points lie on the scale, and the darkest is below the brightest.
    package var isPossible: Bool {
        [red, green, blue, white].allSatisfy { $0.x <= 50000 && $0.y <= 50000 } && minLuminance < maxLuminance
    }

    /// In x265's words.
    public var description: String {
        func pair(_ name: String, _ point: Point) -> String { "\(name)(\(point.x),\(point.y))" }
        return pair("G", green) + pair("B", blue) + pair("R", red) + pair("WP", white)
            + "L(\(maxLuminance),\(minLuminance))"
    }
}

extension MasteringDisplay: CustomStringConvertible {}

/// How bright the content gets, in cd/m²: the SEI message content_light_level_info (H.265 D.3.35, H.264 D.2.31).
public struct ContentLight: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The brightest sample's: MaxCLL; 0 where not known.
    public var maxContentLight: UInt16
    /// The highest average of a picture: MaxFALL; 0 where not known.
    public var maxFrameAverageLight: UInt16

    public init(maxContentLight: UInt16, maxFrameAverageLight: UInt16) {
        self.maxContentLight = maxContentLight
        self.maxFrameAverageLight = maxFrameAverageLight
    }

    /// What x265 takes: `1000,400`. nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { UInt16($0) }
        guard parts.count == 2, let content = parts[0], let average = parts[1] else { return nil }
        self.init(maxContentLight: content, maxFrameAverageLight: average)
    }

    public var description: String { "\(maxContentLight),\(maxFrameAverageLight)" }
}
