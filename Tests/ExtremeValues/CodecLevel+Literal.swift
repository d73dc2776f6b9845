public import VideoBase

/// In tests, 41 is level 4.1.
extension CodecLevel: ExpressibleByIntegerLiteral {
    public init(integerLiteral tenths: Int) { self.init(tenths: tenths) }
}
