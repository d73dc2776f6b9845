package import CLibAV
import Glibc
import Synchronization

/// Detects parts of a picture that its decoder has not written.
///
/// libavcodec's HEVC decoder leaves the samples of missing slices as they were in memory, and reports no error. Its
/// H.264 decoder does the same if concealment is off. The detector therefore fills four rows of every sixteen with
/// noise before the picture is decoded. A complete picture overwrites all the noise: no macroblock or coding tree block
/// is smaller than 16×16 (H.265 7.4.3.2.1). In-loop filters of blocks beside an unwritten block change at most three of
/// its samples from the edge (H.264 8.7, H.265 8.7.2.5).
///
/// Each picture has noise of its own: later pictures copy the unwritten parts of their references, and are themselves
/// complete.
package enum UnwrittenSampleDetector {
    private static let rows = [3, 4, 7, 8]
    /// The rows whose samples replace those of `rows`.
    private static let neighbors = [2, 5, 6, 9]
    /// The number of pictures that had noise.
    private static let count = Atomic<UInt64>(0)

    /// Writes the noise into new picture memory. Call it instead of get_buffer2, or at its end.
    ///
    /// - Parameter isDeep: Whether samples have two bytes each.
    package static func put(in frame: UnsafeMutablePointer<AVFrame>, isDeep: Bool) {
        guard let plane = unsafe Plane(frame) else { return }
        let noise = Noise(number: count.add(1, ordering: .relaxed).newValue, isDeep: isDeep)
        for row in 0..<plane.rowCount {
            guard let index = rows.firstIndex(of: row & 15) else { continue }
            let start = unsafe plane.base + row * plane.stride
            // SAFETY: the buffer holds that row of `stride` bytes.
            noise.withRow(index) { pattern in
                for offset in stride(from: 0, to: plane.stride, by: pattern.count) {
                    unsafe UnsafeMutableRawPointer(start + offset).copyMemory(
                        from: pattern.baseAddress!, byteCount: min(pattern.count, plane.stride - offset))
                }
            }
        }
        plane.number = noise.number
    }

    /// Whether part of a picture was not written since `put`.
    ///
    /// - Parameters:
    ///   - frame: The frame from the decoder. It may be cropped, but must be in the same memory.
    ///   - mayBeFields: Whether it is possible that only one of two fields was written.
    package static func remain(in frame: UnsafePointer<AVFrame>, isDeep: Bool, mayBeFields: Bool) -> Bool {
        guard let plane = unsafe Plane(frame) else { return false }
        let noise = Noise(number: plane.number, isDeep: isDeep)
        return unsafe visit(frame, plane, isDeep: isDeep) { y, columns, pair in
            let isFirst = noise.isEqual(to: plane, y, pair, columns)
            // The two rows belong to different fields.
            return isFirst && mayBeFields || (isFirst || mayBeFields) && noise.isEqual(to: plane, y, pair + 1, columns)
        }
    }

    /// The number that identifies a picture's noise.
    package static func number(of frame: UnsafePointer<AVFrame>) -> UInt64? { unsafe Plane(frame)?.number }

    /// Replaces the noise of a picture, in that picture or in copies of its parts, by the samples beside it. These are
    /// parts of an earlier picture in the same memory.
    package static func conceal(_ number: UInt64, in frame: UnsafePointer<AVFrame>, isDeep: Bool) {
        guard let plane = unsafe Plane(frame) else { return }
        let noise = Noise(number: number, isDeep: isDeep)
        _ = unsafe visit(frame, plane, isDeep: isDeep) { y, columns, pair in
            let last = pair == 0 ? 2 : 4
            for index in 0..<last where noise.isEqual(to: plane, y, index, columns) {
                let (left, right) = (columns.lowerBound & ~15, min(columns.lowerBound & ~15 + 16, plane.stride / noise.sampleSize))
                // SAFETY: `visit` keeps the block inside the plane.
                unsafe memcpy(
                    plane.base + (y + rows[index]) * plane.stride + left * noise.sampleSize,
                    plane.base + (y + neighbors[index]) * plane.stride + left * noise.sampleSize, (right - left) * noise.sampleSize)
            }
            return false
        }
    }

    /// Calls a closure for each block of 16×16 samples with the position of its first row, the columns that in-loop
    /// filters do not reach, and the index of the first of two rows that they do not reach. Ends at the first true.
    private static func visit(
        _ frame: UnsafePointer<AVFrame>, _ plane: Plane, isDeep: Bool, _ body: (Int, Range<Int>, Int) -> Bool
    ) -> Bool {
        let sampleSize = isDeep ? 2 : 1
        let left = plane.offset % plane.stride / sampleSize
        let top = plane.offset / plane.stride
        // Coded sizes are multiples of 8 or more.
        let right = (left + Int(unsafe frame.pointee.width) + 7) & ~7
        let bottom = (top + Int(unsafe frame.pointee.height) + 7) & ~7
        guard bottom <= plane.rowCount, right * sampleSize <= plane.stride else { return false }
        for y in stride(from: top & ~15, to: bottom, by: 16) {
            for x in stride(from: left & ~15, to: right, by: 16) {
                let columns = right - x < 16 ? x + 3..<x + 7 : x + 4..<x + 12
                if body(y, columns, bottom - y < 16 ? 0 : 2) { return true }
            }
        }
        return false
    }

    /// The noise of one picture.
    private struct Noise {
        /// The number of samples after which the noise of a row repeats.
        private static let period = 64
        /// Noise for each of `rows`, from which that of a picture is made.
        private static let base: [UInt16] = {
            var state: UInt64 = 0x9E37_79B9_7F4A_7C15
            return (0..<rows.count * period).map { _ in UInt16(truncatingIfNeeded: next(&state) >> 32) }
        }()

        let number: UInt64
        let sampleSize: Int
        /// The samples of the rows. Those of two bytes have 10 bits, which are valid for decoders of deeper samples
        /// too.
        private let bytes: [UInt8]

        init(number: UInt64, isDeep: Bool) {
            self.number = number
            sampleSize = isDeep ? 2 : 1
            var state = number &* 0x9E37_79B9_7F4A_7C15 | 1
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Self.base.count * sampleSize)
            for start in stride(from: 0, to: Self.base.count, by: 4) {
                var mask = Self.next(&state)
                for index in start..<start + 4 {
                    let sample = Self.base[index] ^ UInt16(truncatingIfNeeded: mask)
                    mask >>= 16
                    bytes.append(UInt8(truncatingIfNeeded: sample))
                    if isDeep { bytes.append(UInt8(sample >> 8 & 3)) }
                }
            }
            self.bytes = bytes
        }

        /// Returns the next number of Marsaglia's xorshift.
        private static func next(_ state: inout UInt64) -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }

        /// Calls a closure with the samples of a row, which repeat.
        func withRow(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
            let size = Self.period * sampleSize
            unsafe bytes.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[index * size..<(index + 1) * size])) }
        }

        /// Whether columns of a row of a block are this noise. The columns are inside sixteen samples.
        func isEqual(to plane: Plane, _ y: Int, _ index: Int, _ columns: Range<Int>) -> Bool {
            let first = (index * Self.period + columns.lowerBound & (Self.period - 1)) * sampleSize
            // SAFETY: `visit` keeps the row and the columns inside the plane.
            return unsafe bytes.withUnsafeBytes {
                unsafe memcmp(
                    plane.base + (y + rows[index]) * plane.stride + columns.lowerBound * sampleSize, $0.baseAddress! + first,
                    columns.count * sampleSize) == 0
            }
        }
    }

    /// The memory of a frame's luma plane.
    @safe private struct Plane {
        // SAFETY: memory of libavutil's buffer, which the frame keeps alive.
        let base: UnsafeMutablePointer<UInt8>
        let stride: Int
        let rowCount: Int
        /// The offset of the first visible sample, in bytes.
        let offset: Int
        // SAFETY: the last bytes of the buffer, which libavutil allocates beyond the plane for reading ahead.
        private let last: UnsafeMutableRawPointer

        /// The number of the picture's noise. It is stored behind the plane.
        var number: UInt64 {
            get { unsafe last.loadUnaligned(as: UInt64.self) }
            nonmutating set { unsafe last.storeBytes(of: newValue, as: UInt64.self) }
        }

        init?(_ frame: UnsafePointer<AVFrame>) {
            guard let buffer = unsafe frame.pointee.buf.0, let start = unsafe buffer.pointee.data,
                let first = unsafe frame.pointee.data.0
            else { return nil }
            stride = unsafe Int(frame.pointee.linesize.0)
            offset = unsafe first - start
            let size = unsafe Int(buffer.pointee.size)
            guard stride > 0, offset >= 0, size >= MemoryLayout<UInt64>.size else { return nil }
            unsafe last = UnsafeMutableRawPointer(start + size - MemoryLayout<UInt64>.size)
            unsafe base = unsafe start
            rowCount = size / stride
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
