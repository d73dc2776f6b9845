package import CLibAV

/// Detects parts of a picture that its decoder has not written.
///
/// libavcodec's HEVC decoder leaves the samples of missing slices as they were in memory, and reports no error. Its
/// H.264 decoder does the same if concealment is off. The detector therefore fills four rows of every sixteen with
/// noise before the picture is decoded. A complete picture overwrites all the noise: no macroblock or coding tree block
/// is smaller than 16×16 (H.265 7.4.3.2.1). In-loop filters of blocks beside an unwritten block change at most three of
/// its samples from the edge (H.264 8.7, H.265 8.7.2.5).
package enum UnwrittenSampleDetector {
    private static let rows = [3, 4, 7, 8]
    /// The number of samples after which the noise of a row repeats. For 8-bit samples it is the number of bytes in one
    /// copy.
    private static let period = 64

    /// 64 samples of noise for each of `rows`. The samples have 10 bits, which are valid for decoders of deeper samples
    /// too.
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

    /// Writes the noise into new picture memory. Call it instead of get_buffer2, or at its end.
    ///
    /// - Parameter isDeep: Whether samples have two bytes each.
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
            for offset in stride(from: 0, to: count, by: step) {
                unsafe UnsafeMutableRawPointer(start + offset).copyMemory(
                    from: pattern.baseAddress!, byteCount: min(step, count - offset))
            }
        }
    }

    /// Whether part of a picture was not written since `put`.
    ///
    /// - Parameters:
    ///   - frame: The frame from the decoder. It may be cropped, but must be in the same memory.
    ///   - mayBeFields: Whether it is possible that only one of two fields was written.
    package static func remain(in frame: UnsafePointer<AVFrame>, isDeep: Bool, mayBeFields: Bool) -> Bool {
        guard let plane = unsafe Plane(frame) else { return false }
        let sampleSize = isDeep ? 2 : 1
        let left = plane.offset % plane.stride / sampleSize
        let top = plane.offset / plane.stride
        // Coded sizes are multiples of 8 or more.
        let right = (left + Int(unsafe frame.pointee.width) + 7) & ~7
        let bottom = (top + Int(unsafe frame.pointee.height) + 7) & ~7
        guard bottom <= plane.rowCount, right * sampleSize <= plane.stride else { return false }
        for y in stride(from: top & ~15, to: bottom, by: 16) {
            let pair = bottom - y < 16 ? 0 : 2
            for x in stride(from: left & ~15, to: right, by: 16) {
                let columns = right - x < 16 ? x + 3..<x + 7 : x + 4..<x + 12
                let isFirst = hasNoise(plane, y, pair, columns, isDeep)
                // The two rows belong to different fields.
                if isFirst, mayBeFields { return true }
                if isFirst || mayBeFields, hasNoise(plane, y, pair + 1, columns, isDeep) { return true }
            }
        }
        return false
    }

    private static func hasNoise(_ plane: Plane, _ y: Int, _ index: Int, _ columns: Range<Int>, _ isDeep: Bool) -> Bool {
        // SAFETY: the caller's guard keeps the row and the columns inside the plane.
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

    /// The memory of a frame's luma plane.
    @safe private struct Plane {
        // SAFETY: memory of libavutil's buffer, which the frame keeps alive.
        let base: UnsafeMutablePointer<UInt8>
        let stride: Int
        let rowCount: Int
        /// The offset of the first visible sample, in bytes.
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

/// Bytes that are appended to a slice with arithmetic coding, so that a truncated slice is detected.
///
/// The decoder of a complete slice stops before the sentinel (9.3.2.5). The decoder of a truncated slice reads on into
/// ones, which are the top of any interval. It decodes them as least probable symbols, and as end_of_slice_segment_flag
/// at the end of that coding tree unit. The slice therefore ends there, and the missing part is detected.
package enum SliceSentinel {
    /// The sentinel for H.264. It is longer than a macroblock, which may have 3200 bits (H.264 A.3.1).
    package static let forH264 = [UInt8](repeating: 0xFF, count: 512)
    /// The sentinel for HEVC. It is longer than a coding tree unit of 64×64.
    package static let forHEVC = [UInt8](repeating: 0xFF, count: 8192)
}
