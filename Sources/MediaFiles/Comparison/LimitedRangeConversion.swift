import VideoBase

/// A conversion of YUV samples of full range to limited range (ITU-T H.273 8.3), by a table for luma and one for
/// chroma.
struct LimitedRangeConversion: Sendable {
    private let luma: [UInt16]
    private let chroma: [UInt16]

    init(bitDepth: Int) {
        let scale = 1 << (bitDepth - 8)
        let highest = 256 * scale - 1
        func table(zero: Int, becomes low: Int, span: Int) -> [UInt16] {
            (0...highest).map { UInt16((Double($0 - zero) * Double(span) / Double(highest) + Double(low)).rounded()) }
        }
        luma = table(zero: 0, becomes: 16 * scale, span: 219 * scale)
        chroma = table(zero: 128 * scale, becomes: 128 * scale, span: 224 * scale)
    }

    /// Converts an NV12 or P010 picture in place.
    @unsafe func apply(to planes: PixelPlanes) {
        let size = unsafe planes.size
        for plane in 0..<2 {
            let table = plane == 0 ? luma : chroma
            let rows = plane == 0 ? size.height : (size.height + 1) / 2
            let count = plane == 0 ? size.width : (size.width + 1) / 2 * 2
            for row in 0..<rows {
                // SAFETY: a plane has its rows at its pitch, and each row its samples.
                let start = unsafe planes.base(plane) + row * planes.pitch(plane)
                if luma.count > 256 {
                    let words = unsafe UnsafeMutableBufferPointer(start: start.assumingMemoryBound(to: UInt16.self), count: count)
                    for index in 0..<count { unsafe words[index] = table[Int(words[index] >> 6)] << 6 }
                } else {
                    let bytes = unsafe UnsafeMutableBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
                    for index in 0..<count { unsafe bytes[index] = UInt8(truncatingIfNeeded: table[Int(bytes[index])]) }
                }
            }
        }
    }
}
