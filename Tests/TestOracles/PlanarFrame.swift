internal import Glibc

/// An 8-bit 4:2:0 picture: the planes Y, Cb, Cr one after the other, rows without padding.
public struct PlanarFrame: Sendable, Hashable {
    public let width: Int
    public let height: Int
    public let bytes: [UInt8]

    /// Nil unless `bytes` is as long as the size says.
    public init?(width: Int, height: Int, bytes: [UInt8]) {
        guard width > 0, height > 0, bytes.count == Self.byteCount(width: width, height: height) else { return nil }
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    public static func byteCount(width: Int, height: Int) -> Int {
        width * height + 2 * ((width + 1) / 2 * ((height + 1) / 2))
    }

    public var luma: ArraySlice<UInt8> { bytes[..<(width * height)] }
    public var chroma: ArraySlice<UInt8> { bytes[(width * height)...] }

    /// The frames of raw planar bytes; nil where they do not divide.
    public static func split(_ bytes: [UInt8], width: Int, height: Int) -> [PlanarFrame]? {
        let size = byteCount(width: width, height: height)
        guard size > 0, bytes.count % size == 0 else { return nil }
        return stride(from: 0, to: bytes.count, by: size).compactMap {
            PlanarFrame(width: width, height: height, bytes: Array(bytes[$0..<($0 + size)]))
        }
    }

    /// The part at (`x`, `y`), all even; must lie inside.
    public func cropped(x: Int, y: Int, width: Int, height: Int) -> PlanarFrame {
        precondition(x % 2 == 0 && y % 2 == 0 && width % 2 == 0 && height % 2 == 0, "4:2:0 crops in steps of two")
        precondition(x + width <= self.width && y + height <= self.height, "the part must lie inside")
        var result: [UInt8] = []
        result.reserveCapacity(Self.byteCount(width: width, height: height))
        var base = 0
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            let pitch = self.width >> shift
            for row in (y >> shift)..<((y + height) >> shift) {
                let start = base + row * pitch + (x >> shift)
                result += bytes[start..<(start + width >> shift)]
            }
            base += pitch * (self.height >> shift)
        }
        return PlanarFrame(width: width, height: height, bytes: result)!
    }

    /// Interleaved chroma, as raw NV12 files hold it.
    public var nv12: [UInt8] {
        var result = Array(luma)
        let half = chroma.count / 2
        let first = chroma.startIndex
        for i in 0..<half { result += [bytes[first + i], bytes[first + half + i]] }
        return result
    }
}

/// Peak signal-to-noise ratio in dB.
public enum PSNR {
    /// Of two runs of 8-bit samples of equal count; infinite where they are equal.
    public static func of(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Double {
        precondition(a.count == b.count && !a.isEmpty, "PSNR compares planes of one size")
        let sum = squaredError(a, b)
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(a.count) / Double(sum))
    }

    /// Of the luma planes of two frames of equal size.
    public static func luma(_ a: PlanarFrame, _ b: PlanarFrame) -> Double { of(a.luma, b.luma) }

    /// Of all samples of two frames of equal size.
    public static func all(_ a: PlanarFrame, _ b: PlanarFrame) -> Double { of(a.bytes[...], b.bytes[...]) }

    /// Sum of squared differences.
    public static func squaredError(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Int {
        var sum = 0
        for (x, y) in zip(a, b) {
            let difference = Int(x) - Int(y)
            sum += difference * difference
        }
        return sum
    }
}
