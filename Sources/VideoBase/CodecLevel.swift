/// A level of H.264 (Annex A) or H.265 (Annex A), such as 4.1.
public struct CodecLevel: Sendable, Hashable, LosslessStringConvertible {
    /// The level times ten: 41 is level 4.1, and 9 is level 1b of H.264.
    public let tenths: Int

    /// Creates a level from ten times its number. Whether a codec has this level is checked when it is used.
    public init(tenths: Int) { self.tenths = tenths }

    /// Creates a level from its name: `4.1`, `4` or `1b`. nil: the text is not the name of a level.
    public init?(_ description: String) {
        if description.lowercased() == "1b" {
            tenths = 9
            return
        }
        let parts = description.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int($0) }), (1...9).contains(whole),
            let tenth = parts.count == 2 ? Int(parts[1]) : 0, (0...9).contains(tenth)
        else { return nil }
        tenths = whole * 10 + tenth
    }

    /// The name of the level, such as `4.1`. Numbers that are not levels are formatted in the same way: −1 is `-0.1`.
    public var description: String {
        tenths == 9 ? "1b" : "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }
}
