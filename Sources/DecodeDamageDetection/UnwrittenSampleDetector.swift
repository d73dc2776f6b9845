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
/// Half of the samples of the noise identify the picture, because later pictures copy unwritten parts of their
/// references, and may be complete themselves.
package enum UnwrittenSampleDetector {
    private static let rows = [3, 4, 7, 8]
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
            unsafe noise.withRow(index) { pattern in
                for offset in stride(from: 0, to: plane.stride, by: pattern.count) {
                    unsafe UnsafeMutableRawPointer(start + offset).copyMemory(
                        from: pattern.baseAddress!, byteCount: min(pattern.count, plane.stride - offset))
                }
            }
        }
        plane.number = noise.number
    }

    /// Parts of a picture that contain noise.
    package struct Findings {
        /// The position of each block of 16×16 samples relative to the first visible sample. It can be negative.
        package fileprivate(set) var blocks: [(x: Int, y: Int)] = []
        /// Whether the picture has noise of its own, or of an unknown picture. A known picture is one of those that
        /// are known to be damaged.
        package fileprivate(set) var isDamaged = false
        /// The number of the picture's own noise, if it has some.
        package fileprivate(set) var number: UInt64?
    }

    /// Finds the parts of a picture that were not written since `put`, and copies of such parts of other pictures.
    ///
    /// - Parameters:
    ///   - frame: The frame from the decoder. It may be cropped, but must be in the same memory.
    ///   - mayBeFields: Whether it is possible that only one of two fields was written.
    ///   - known: The numbers of pictures that are known to be damaged.
    package static func findings(
        in frame: UnsafePointer<AVFrame>, isDeep: Bool, mayBeFields: Bool, known: [UInt64] = []
    ) -> Findings {
        var result = Findings()
        guard let plane = unsafe Plane(frame) else { return result }
        let own = Noise(number: plane.number, isDeep: isDeep)
        let others = known.map { Noise(number: $0, isDeep: isDeep) }
        let sampleSize = isDeep ? 2 : 1
        let left = plane.offset % plane.stride / sampleSize
        let top = plane.offset / plane.stride
        // Coded sizes are multiples of 8 or more.
        let right = (left + Int(unsafe frame.pointee.width) + 7) & ~7
        let bottom = (top + Int(unsafe frame.pointee.height) + 7) & ~7
        guard bottom <= plane.rowCount, right * sampleSize <= plane.stride else { return result }
        for y in stride(from: top & ~15, to: bottom, by: 16) {
            let pair = bottom - y < 16 ? 0 : 2
            for x in stride(from: left & ~15, to: right, by: 16) {
                let isNarrow = right - x < 16
                let columns = isNarrow ? x + 3..<x + 7 : x + 4..<x + 12
                guard
                    own.mayContain(plane, y: y, index: pair, column: x + 4)
                        || mayBeFields && own.mayContain(plane, y: y, index: pair + 1, column: x + 4)
                else { continue }
                func has(_ noise: Noise, _ isEqual: (Noise, Int) -> Bool) -> Bool {
                    let isFirst = isEqual(noise, pair)
                    // The two rows belong to different fields.
                    return isFirst && mayBeFields || (isFirst || mayBeFields) && isEqual(noise, pair + 1)
                }
                let isOwn = has(own) { $0.isEqual(to: plane, y: y, index: $1, columns: columns) }
                if isOwn {
                    result.number = own.number
                    result.isDamaged = true
                } else {
                    let isKnown = others.contains { noise in
                        has(noise) { $0.isEqual(to: plane, y: y, index: $1, columns: columns) }
                    }
                    if !isKnown {
                        // Fewer samples could be equal by chance.
                        guard !isNarrow, own.isOfSameKind(plane, y: y, index: pair, columns: columns),
                            own.isOfSameKind(plane, y: y, index: pair + 1, columns: columns)
                        else { continue }
                        result.isDamaged = true
                    }
                }
                result.blocks.append((x - left, y - top))
            }
        }
        return result
    }

    /// The noise of one picture.
    private struct Noise {
        /// The number of samples after which the noise of a row repeats.
        private static let period = 64
        /// Noise for each of `rows`. Every second sample is that of each picture.
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
            for index in Self.base.indices {
                let mask = index & 1 == 0 ? 0 : UInt16(truncatingIfNeeded: Self.next(&state) >> 32)
                let sample = Self.base[index] ^ mask
                bytes.append(UInt8(truncatingIfNeeded: sample))
                if isDeep { bytes.append(UInt8(sample >> 8 & 3)) }
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

        /// Whether the low byte of a sample is that of noise. The column is even.
        func mayContain(_ plane: Plane, y: Int, index: Int, column: Int) -> Bool {
            // SAFETY: the guard of `findings` keeps the row and the column inside the plane.
            unsafe plane.base[(y + rows[index]) * plane.stride + column * sampleSize]
                == bytes[(index * Self.period + column & (Self.period - 1)) * sampleSize]
        }

        /// Whether columns of a row of a block are this noise. The columns are inside sixteen samples.
        func isEqual(to plane: Plane, y: Int, index: Int, columns: Range<Int>) -> Bool {
            unsafe compare(plane, y: y, index: index, columns: columns) {
                unsafe memcmp($0, $1, columns.count * sampleSize) == 0
            }
        }

        /// Whether columns of a row of a block are noise of any picture.
        func isOfSameKind(_ plane: Plane, y: Int, index: Int, columns: Range<Int>) -> Bool {
            unsafe compare(plane, y: y, index: index, columns: columns) { samples, noise in
                stride(from: columns.lowerBound & 1, to: columns.count, by: 2).allSatisfy {
                    unsafe memcmp(samples + $0 * sampleSize, noise + $0 * sampleSize, sampleSize) == 0
                }
            }
        }

        private func compare(
            _ plane: Plane, y: Int, index: Int, columns: Range<Int>,
            by body: (UnsafeRawPointer, UnsafeRawPointer) -> Bool
        ) -> Bool {
            let first = (index * Self.period + columns.lowerBound & (Self.period - 1)) * sampleSize
            // SAFETY: the guard of `findings` keeps the row and the columns inside the plane.
            return unsafe bytes.withUnsafeBytes {
                unsafe body(
                    UnsafeRawPointer(plane.base + (y + rows[index]) * plane.stride + columns.lowerBound * sampleSize),
                    $0.baseAddress! + first)
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

extension UnwrittenSampleDetector.Findings {
    /// Replaces the parts of a picture by those of another one, usually the picture that was output before it.
    ///
    /// - Parameters:
    ///   - other: The other picture. If it is nil, or its size or format differs, the parts become gray.
    ///   - bitDepth: The number of bits of a sample.
    ///   - chromaShifts: The logarithms of the horizontal and vertical subsampling of chroma.
    package func conceal(
        in frame: UnsafePointer<AVFrame>, from other: UnsafePointer<AVFrame>?, bitDepth: Int, chromaShifts: (x: Int, y: Int)
    ) {
        let (size, format) = unsafe ((Int(frame.pointee.width), Int(frame.pointee.height)), frame.pointee.format)
        let fits = unsafe other.map { unsafe size == (Int($0.pointee.width), Int($0.pointee.height)) && format == $0.pointee.format } ?? false
        let (data, strides) = unsafe (frame.pointee.data, frame.pointee.linesize)
        let (source, sourceStrides) = unsafe fits ? (other!.pointee.data, other!.pointee.linesize) : (data, strides)
        let planes = unsafe [
            (data.0, strides.0, source.0, sourceStrides.0), (data.1, strides.1, source.1, sourceStrides.1),
            (data.2, strides.2, source.2, sourceStrides.2),
        ]
        let sampleSize = bitDepth > 8 ? 2 : 1
        let gray = UInt16(1) << UInt16(clamping: min(max(bitDepth, 8), 16) - 1)
        for index in unsafe planes.indices {
            let plane = unsafe planes[index]
            guard let to = unsafe plane.0, let from = unsafe plane.2 else { return }
            let shifts = index == 0 ? (x: 0, y: 0) : chromaShifts
            for block in blocks {
                let columns = max(block.x, 0) >> shifts.x..<(min(block.x + 16, size.0) + (1 << shifts.x) - 1) >> shifts.x
                let rows = max(block.y, 0) >> shifts.y..<(min(block.y + 16, size.1) + (1 << shifts.y) - 1) >> shifts.y
                for row in rows {
                    // SAFETY: the row and the columns are inside the visible part of both planes.
                    let start = unsafe UnsafeMutableRawPointer(to + row * Int(plane.1) + columns.lowerBound * sampleSize)
                    if fits {
                        unsafe memcpy(start, from + row * Int(plane.3) + columns.lowerBound * sampleSize, columns.count * sampleSize)
                    } else if sampleSize == 1 {
                        unsafe memset(start, Int32(gray), columns.count)
                    } else {
                        for column in 0..<columns.count { unsafe start.storeBytes(of: gray, toByteOffset: column * 2, as: UInt16.self) }
                    }
                }
            }
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
