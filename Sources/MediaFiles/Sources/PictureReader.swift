import Glibc
import VideoBase

/// Reads uncompressed pictures of one format and size directly into their destination.
///
/// One readv(2) moves the rows of a picture from the page cache or pipe to the encoder's surface, for any pitch. From
/// I420 to NV12, luma is read directly. The chroma planes are read into a buffer that stays in the cache, and are
/// interleaved from there.
final class PictureReader {
    private let format: PixelFormat
    private let size: VideoSize
    private let shaper: FrameShaper
    private var chroma: [UInt8] = []
    private var staging: SystemPixelBuffer?
    private var vectors = VectorCache()

    let frameBytes: Int

    init(format: PixelFormat, size: VideoSize, shaper: FrameShaper) {
        self.format = format
        self.size = size
        self.shaper = shaper
        frameBytes = format.frameBytes(size)
    }

    /// Reads one picture. Returns the number of bytes read: 0 at the end, and less than `frameBytes` if the picture is
    /// truncated.
    func read(from reader: ByteReader, into planes: PixelPlanes) throws -> Int {
        let target = unsafe (planes.format, planes.size)
        if target.1 == size, shaper.outputSize == size {
            if target.0 == format { return unsafe try readPlanes(from: reader, into: planes, count: format.planeCount) }
            if target.0 == .nv12, format == .i420 || format == .yv12 {
                return unsafe try readInterleaving(from: reader, into: planes)
            }
        }
        let staging = try self.staging ?? SystemPixelBuffer(format: format, size: size)
        self.staging = staging
        return unsafe try staging.withUnsafePlanes { picture in
            let count = unsafe try readPlanes(from: reader, into: picture, count: format.planeCount)
            if count == frameBytes { unsafe try shaper.shape(picture, to: planes) }
            return count
        }
    }

    // SAFETY: every vector is a row (or rows without padding) of a plane that the caller provides for this call.
    private func appendRows(_ vectors: inout [iovec], _ planes: PixelPlanes, plane: Int) {
        let rowBytes = format.rowBytes(plane: plane, width: size.width)
        let rows = format.rows(plane: plane, height: size.height)
        let base = unsafe planes.base(plane)
        let pitch = unsafe planes.pitch(plane)
        if pitch == rowBytes {
            unsafe vectors.append(iovec(iov_base: base, iov_len: rowBytes * rows))
        } else {
            for row in 0..<rows { unsafe vectors.append(iovec(iov_base: base + row * pitch, iov_len: rowBytes)) }
        }
    }

    private func readPlanes(from reader: ByteReader, into planes: PixelPlanes, count: Int) throws -> Int {
        let key = unsafe VectorCache.Key(planes)
        var rows = unsafe vectors.take(key)
        if unsafe rows.isEmpty {
            for plane in 0..<count { unsafe appendRows(&rows, planes, plane: plane) }
        }
        let bytes = unsafe try reader.read(into: &rows, byteCount: frameBytes)
        if bytes == frameBytes { unsafe vectors.keep(rows, key) }
        return bytes
    }

    private func readInterleaving(from reader: ByteReader, into planes: PixelPlanes) throws -> Int {
        let width = (size.width + 1) / 2
        let rows = (size.height + 1) / 2
        let planeBytes = width * rows
        if chroma.isEmpty {
            try chroma.makeRoom(for: planeBytes * 2, "for a picture of \(size)")
            chroma.append(contentsOf: repeatElement(0, count: planeBytes * 2))
        }
        // SAFETY: `chroma` has two planes. NV12's second plane has `rows` rows of 2·width bytes.
        return unsafe try chroma.withUnsafeMutableBytes { buffer in
            let base = buffer.baseAddress!
            var vectors: [iovec] = unsafe []
            unsafe appendRows(&vectors, planes, plane: 0)
            unsafe vectors.append(iovec(iov_base: base, iov_len: planeBytes * 2))
            let count = unsafe try reader.read(into: &vectors)
            guard count == frameBytes else { return count }
            let (u, v) = format == .yv12 ? (planeBytes, 0) : (0, planeBytes)
            unsafe ChromaInterleave.interleave(
                u: base + u, uPitch: width, v: base + v, vPitch: width, to: planes.base(1), pitch: planes.pitch(1),
                width: width, rows: rows)
            return count
        }
    }
}

/// The vectors of the pictures that were read last. The surfaces of a pool are used again and again.
// SAFETY: The pointers are used only with the planes that they were made from.
@safe private struct VectorCache {
    struct Key: Equatable {
        private let bases: SIMD4<UInt>
        private let pitches: SIMD4<Int>

        init(_ planes: PixelPlanes) {
            var (bases, pitches) = (SIMD4<UInt>(), SIMD4<Int>())
            for plane in unsafe 0..<planes.format.planeCount {
                bases[plane] = unsafe UInt(bitPattern: planes.base(plane))
                pitches[plane] = unsafe planes.pitch(plane)
            }
            (self.bases, self.pitches) = (bases, pitches)
        }
    }

    private var entries: [(key: Key, vectors: [iovec])] = unsafe []
    private var next = 0
    private static var limit: Int { 32 }

    /// Returns the vectors of a picture, or an empty array. The caller gives them back with `keep`.
    mutating func take(_ key: Key) -> [iovec] {
        var taken: [iovec] = unsafe []
        if let index = unsafe entries.firstIndex(where: { unsafe $0.key == key }) { unsafe swap(&taken, &entries[index].vectors) }
        return unsafe taken
    }

    /// Keeps vectors, unless a read has consumed them.
    mutating func keep(_ vectors: [iovec], _ key: Key) {
        guard let first = unsafe vectors.first, let last = unsafe vectors.last, unsafe first.iov_len > 0, unsafe last.iov_len > 0 else { return }
        if let index = unsafe entries.firstIndex(where: { unsafe $0.key == key }) {
            unsafe entries[index].vectors = vectors
        } else if unsafe entries.count < Self.limit {
            unsafe entries.append((key, vectors))
        } else {
            unsafe entries[next] = (key, vectors)
            next = (next + 1) % Self.limit
        }
    }
}
