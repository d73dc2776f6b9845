package import CLibAV

/// Tells what of a picture its decoder has not written.
///
/// libavcodec's HEVC decoder leaves the samples of missing slices as they were in memory, as its H.264 decoder does where it is
/// not to conceal them, and says nothing of it. So four rows of every sixteen begin with noise, and a whole picture has written
/// over all of it: no macroblock or coding tree block is smaller than 16×16 (H.265 7.4.3.2.1), and in-loop filters of blocks
/// beside an unwritten one change at most three of its samples from the edge (H.264 8.7, H.265 8.7.2.5).
package enum UnwrittenSampleDetector {
    private static let rows = [3, 4, 7, 8]
    /// Samples after which the noise of a row repeats itself: as many bytes as are written at once, of 8 bits.
    private static let period = 64

    /// 64 samples for each of `rows`, of ten bits, which decoders of deeper samples take too.
    private static let noise: [[UInt16]] = {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        return rows.map { _ in
            (0..<period).map { _ in
                // Marsaglia's xorshift.
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return UInt16(truncatingIfNeeded: state >> 32) & 0x3FF
            }
        }
    }()
    private static let shallow: [SIMD64<UInt8>] = noise.map { row in SIMD64(row.map { UInt8(truncatingIfNeeded: $0) }) }
    private static let deep: [SIMD64<UInt16>] = noise.map { SIMD64($0) }

    /// Marks new memory, in place of get_buffer2 or at its end.
    ///
    /// - Parameter isDeep: samples have two bytes each.
    package static func put(in frame: UnsafeMutablePointer<AVFrame>, isDeep: Bool) {
        guard let plane = unsafe Plane(frame) else { return }
        for row in 0..<plane.rowCount {
            guard let index = rows.firstIndex(of: row & 15) else { continue }
            let start = unsafe plane.base + row * plane.stride
            // SAFETY: the buffer holds that row of `stride` bytes.
            unsafe isDeep ? fill(start, plane.stride, deep[index]) : fill(start, plane.stride, shallow[index])
        }
    }

    private static func fill<Pattern>(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ pattern: Pattern) {
        let step = MemoryLayout<Pattern>.size
        unsafe withUnsafeBytes(of: pattern) { pattern in
            for place in stride(from: 0, to: count, by: step) {
                unsafe UnsafeMutableRawPointer(start + place).copyMemory(
                    from: pattern.baseAddress!, byteCount: min(step, count - place))
            }
        }
    }

    /// Whether a part of a picture was not written since `put`.
    ///
    /// - Parameters:
    ///   - frame: as the decoder gives it: cropped or not, in the same memory.
    ///   - mayBeFields: one of two fields may have been written.
    package static func remain(in frame: UnsafePointer<AVFrame>, isDeep: Bool, mayBeFields: Bool) -> Bool {
        guard let plane = unsafe Plane(frame) else { return false }
        let sampleSize = isDeep ? 2 : 1
        let left = plane.offset % plane.stride / sampleSize
        let top = plane.offset / plane.stride
        // Coded sizes are multiples of 8 at least.
        let right = (left + Int(unsafe frame.pointee.width) + 7) & ~7
        let bottom = (top + Int(unsafe frame.pointee.height) + 7) & ~7
        guard bottom <= plane.rowCount, right * sampleSize <= plane.stride else { return false }
        for y in stride(from: top & ~15, to: bottom, by: 16) {
            let pair = bottom - y < 16 ? 0 : 2
            for x in stride(from: left & ~15, to: right, by: 16) {
                let columns = right - x < 16 ? x + 3..<x + 7 : x + 4..<x + 12
                let isFirst = hasNoise(plane, y, pair, columns, isDeep)
                // The two rows are of both fields.
                if isFirst, mayBeFields { return true }
                if isFirst || mayBeFields, hasNoise(plane, y, pair + 1, columns, isDeep) { return true }
            }
        }
        return false
    }

    private static func hasNoise(_ plane: Plane, _ y: Int, _ index: Int, _ columns: Range<Int>, _ isDeep: Bool) -> Bool {
        // SAFETY: inside the plane, by the caller's guard.
        let row = unsafe plane.base + (y + rows[index]) * plane.stride
        if !isDeep {
            for column in columns where unsafe row[column] != shallow[index][column & (period - 1)] { return false }
            return true
        }
        for column in columns {
            let sample = unsafe UnsafeRawPointer(row + 2 * column).load(as: UInt16.self)
            if sample != deep[index][column & (period - 1)] { return false }
        }
        return true
    }

    /// The memory of a frame's luma.
    @safe private struct Plane {
        // SAFETY: libavutil's buffer, which the frame holds.
        let base: UnsafeMutablePointer<UInt8>
        let stride: Int
        let rowCount: Int
        /// Of the first sample that is shown.
        let offset: Int

        init?(_ frame: UnsafePointer<AVFrame>) {
            guard let buffer = unsafe frame.pointee.buf.0, let start = unsafe buffer.pointee.data,
                let first = unsafe frame.pointee.data.0
            else { return nil }
            stride = unsafe Int(frame.pointee.linesize.0)
            offset = unsafe first - start
            guard stride > 0, offset >= 0 else { return nil }
            unsafe base = unsafe start
            rowCount = unsafe Int(buffer.pointee.size) / stride
        }
    }
}

/// Bytes that are put behind a slice of arithmetic codes.
///
/// A decoder of a whole slice stops before it (9.3.2.5). One whose slice is cut short reads on into ones, the top of any interval:
/// it takes them for the least probable symbols, and for end_of_slice_segment_flag at the end of that coding tree unit. So it
/// ends there, and what is missing shows.
package enum SliceSentinel {
    /// More than a macroblock of 3200 bits may take (H.264 A.3.1).
    package static let forH264 = [UInt8](repeating: 0xFF, count: 512)
    /// More than a coding tree unit of 64×64 may take.
    package static let forHEVC = [UInt8](repeating: 0xFF, count: 8192)
}
