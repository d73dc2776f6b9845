/// Bytes of a NAL unit's length in a length-prefixed stream: lengthSizeMinusOne + 1 (ISO/IEC 14496-15 5.3.3.1). Three
/// are not allowed.
public enum LengthSize: Int, Sendable, Hashable, CaseIterable {
    case one = 1
    case two = 2
    case four = 4

    /// The longest NAL unit whose length it can say, in bytes.
    public var longest: Int { 1 << (8 * rawValue) - 1 }
}
