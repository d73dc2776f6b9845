/// The type of a sample in the HEVC encoder's pictures: 8 bits in a byte, or 10 bits in the low bits of a 16-bit word.
package protocol HEVCSample: FixedWidthInteger, UnsignedInteger, SIMDScalar, Codable, BitwiseCopyable, Sendable {
    /// BitDepth_Y and BitDepth_C, which are equal.
    static var bitDepth: Int { get }
}

extension UInt8: HEVCSample {
    package static var bitDepth: Int { 8 }
}

extension UInt16: HEVCSample {
    package static var bitDepth: Int { 10 }
}
