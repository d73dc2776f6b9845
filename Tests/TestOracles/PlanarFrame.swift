/// A 4:2:0 picture: the planes Y, Cb and Cr in sequence, with rows without padding.
public struct PlanarFrame: Sendable, Hashable {
    /// The width in luma samples.
    public let width: Int
    /// The height in luma samples.
    public let height: Int
    /// The bit depth of a sample, 8 to 16.
    public let bitDepth: Int
    /// The samples: one byte each for 8 bits; otherwise two bytes, little-endian, with the value in the low bits.
    public let bytes: [UInt8]

    /// Creates a frame. Returns nil if the size or depth is invalid, or if the length of `bytes` does not match them.
    public init?(width: Int, height: Int, bitDepth: Int = 8, bytes: [UInt8]) {
        guard width > 0, height > 0, (8...16).contains(bitDepth),
            bytes.count == Self.byteCount(width: width, height: height, bitDepth: bitDepth)
        else { return nil }
        self.width = width
        self.height = height
        self.bitDepth = bitDepth
        self.bytes = bytes
    }

    /// Returns the number of bytes of a frame.
    public static func byteCount(width: Int, height: Int, bitDepth: Int = 8) -> Int {
        (width * height + 2 * ((width + 1) / 2 * ((height + 1) / 2))) * (bitDepth > 8 ? 2 : 1)
    }

    /// The number of bytes of a sample: 1 or 2.
    public var bytesPerSample: Int { bitDepth > 8 ? 2 : 1 }
    /// The bytes of the luma plane.
    public var luma: ArraySlice<UInt8> { bytes[..<(width * height * bytesPerSample)] }
    /// The bytes of both chroma planes.
    public var chroma: ArraySlice<UInt8> { bytes[(width * height * bytesPerSample)...] }

    /// Splits raw planar bytes into frames; nil if the length is not a multiple of a frame's.
    public static func split(_ bytes: [UInt8], width: Int, height: Int, bitDepth: Int = 8) -> [PlanarFrame]? {
        let size = byteCount(width: width, height: height, bitDepth: bitDepth)
        guard size > 0, bytes.count % size == 0 else { return nil }
        return stride(from: 0, to: bytes.count, by: size).compactMap {
            PlanarFrame(width: width, height: height, bitDepth: bitDepth, bytes: Array(bytes[$0..<($0 + size)]))
        }
    }

    /// The frame with 10-bit samples. The two new low bits come from other samples of the picture, so that all values
    /// occur.
    public var widenedTo10Bits: PlanarFrame {
        precondition(bitDepth == 8, "only 8 bits can be widened")
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 2)
        for (index, byte) in bytes.enumerated() {
            let value = UInt16(byte) << 2 | UInt16(bytes[bytes.count - 1 - index] & 3)
            result.append(UInt8(truncatingIfNeeded: value))
            result.append(UInt8(value >> 8))
        }
        return PlanarFrame(width: width, height: height, bitDepth: 10, bytes: result)!
    }

    /// Returns the part at (`x`, `y`). Position and size must be even, and the part must lie inside the frame.
    public func cropped(x: Int, y: Int, width: Int, height: Int) -> PlanarFrame {
        precondition(x % 2 == 0 && y % 2 == 0 && width % 2 == 0 && height % 2 == 0, "4:2:0 crops in steps of two")
        precondition(x + width <= self.width && y + height <= self.height, "the part must lie inside")
        var result: [UInt8] = []
        result.reserveCapacity(Self.byteCount(width: width, height: height, bitDepth: bitDepth))
        var base = 0
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            let pitch = (self.width >> shift) * bytesPerSample
            for row in (y >> shift)..<((y + height) >> shift) {
                let start = base + row * pitch + (x >> shift) * bytesPerSample
                result += bytes[start..<(start + (width >> shift) * bytesPerSample)]
            }
            base += pitch * (self.height >> shift)
        }
        return PlanarFrame(width: width, height: height, bitDepth: bitDepth, bytes: result)!
    }

    /// The frame as NV12, with interleaved 8-bit chroma.
    public var nv12: [UInt8] {
        precondition(bitDepth == 8, "NV12 holds 8 bits")
        var result = Array(luma)
        let half = chroma.count / 2
        let first = chroma.startIndex
        for i in 0..<half { result += [bytes[first + i], bytes[first + half + i]] }
        return result
    }
}
