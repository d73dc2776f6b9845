/// The size of the length fields in a length-prefixed stream, in bytes: lengthSizeMinusOne + 1 (ISO/IEC 14496-15
/// 5.3.3.1). Three bytes are not allowed.
public enum LengthSize: Int, Sendable, Hashable, CaseIterable {
    case one = 1
    case two = 2
    case four = 4

    /// The maximum size of a NAL unit that such a field can represent, in bytes.
    public var longest: Int { 1 << (8 * rawValue) - 1 }
}
