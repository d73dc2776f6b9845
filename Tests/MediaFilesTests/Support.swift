import TestOracles
import Testing
import VideoBase

@testable import MediaFiles

/// A picture in memory whose rows have a pitch larger than their width, with marked bytes around them.
final class PaddedPicture {
    let format: PixelFormat
    let size: VideoSize
    private(set) var bytes: [UInt8]
    private let pitches: [Int]
    private let offsets: [Int]
    static let mark: UInt8 = 0xA5

    init(_ format: PixelFormat, _ size: VideoSize, padding: Int = 13) {
        self.format = format
        self.size = size
        var offset = 7
        var pitches = [0, 0, 0]
        var offsets = [0, 0, 0]
        for plane in 0..<format.planeCount {
            offsets[plane] = offset
            pitches[plane] = format.rowBytes(plane: plane, width: size.width) + padding
            offset += pitches[plane] * (format.rows(plane: plane, height: size.height) + (padding > 0 ? 1 : 0))
        }
        self.pitches = pitches
        self.offsets = offsets
        bytes = [UInt8](repeating: Self.mark, count: offset + 64)
    }

    /// Calls `body` with the planes, which are valid during the call.
    func with<R>(_ body: (PixelPlanes) throws -> R) rethrows -> R {
        // SAFETY: the planes lie inside the array, which lives through the call.
        unsafe try bytes.withUnsafeMutableBytes { buffer in
            let base = buffer.baseAddress!
            return unsafe try body(
                PixelPlanes(
                    format: format, size: size, allocatedSize: size,
                    bases: (base + offsets[0], base + offsets[1], base + offsets[2]),
                    pitches: (pitches[0], pitches[1], pitches[2])))
        }
    }

    /// Reads the source's next picture.
    func read(_ source: any FrameSource) throws -> FrameTiming? {
        try unsafe with { planes in unsafe try source.readFrame(into: planes) }
    }

    /// The rows without padding, as in a raw file.
    var packed: [UInt8] {
        var result: [UInt8] = []
        for plane in 0..<format.planeCount {
            let count = format.rowBytes(plane: plane, width: size.width)
            for row in 0..<format.rows(plane: plane, height: size.height) {
                let start = offsets[plane] + row * pitches[plane]
                result += bytes[start..<start + count]
            }
        }
        return result
    }

    /// Fills the rows from a raw file's bytes.
    func fill(_ raw: [UInt8]) {
        var from = 0
        for plane in 0..<format.planeCount {
            let count = format.rowBytes(plane: plane, width: size.width)
            for row in 0..<format.rows(plane: plane, height: size.height) {
                let start = offsets[plane] + row * pitches[plane]
                bytes.replaceSubrange(start..<start + count, with: raw[from..<from + count])
                from += count
            }
        }
    }

    /// Whether the bytes outside the rows are unchanged.
    var isIntactAround: Bool {
        var inside = [Bool](repeating: false, count: bytes.count)
        for plane in 0..<format.planeCount {
            let count = format.rowBytes(plane: plane, width: size.width)
            for row in 0..<format.rows(plane: plane, height: size.height) {
                let start = offsets[plane] + row * pitches[plane]
                for index in start..<start + count { inside[index] = true }
            }
        }
        return zip(bytes, inside).allSatisfy { $1 || $0 == Self.mark }
    }
}

extension FrameSource {
    /// Returns the next picture's bytes and time, or nil at the end.
    func next(_ format: PixelFormat = .i420) throws -> (bytes: [UInt8], timing: FrameTiming)? {
        let picture = PaddedPicture(format, info.size, padding: 0)
        guard let timing = try picture.read(self) else { return nil }
        return (picture.packed, timing)
    }

    /// Returns all pictures.
    func all(_ format: PixelFormat = .i420) throws -> [(bytes: [UInt8], timing: FrameTiming)] {
        var result: [(bytes: [UInt8], timing: FrameTiming)] = []
        while let frame = try next(format) { result.append(frame) }
        return result
    }
}

/// Returns the category and message of the error that `body` throws, or nil.
func failure<R>(_ body: () throws -> R) -> (category: ErrorCategory, message: String)? {
    do {
        _ = try body()
        return nil
    } catch let error as any DescribedError {
        return (error.category, error.description)
    } catch {
        return (.internalFault, "\(error)")
    }
}

/// Returns pseudorandom bytes, the same in every run.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 24)
    }
}

/// Converts I420 bytes to NV12, by the simplest code.
func semiPlanar(_ planar: [UInt8], _ size: VideoSize) -> [UInt8] {
    let luma = size.width * size.height
    let chroma = (size.width + 1) / 2 * ((size.height + 1) / 2)
    var result = Array(planar[..<luma])
    for index in 0..<chroma { result += [planar[luma + index], planar[luma + chroma + index]] }
    return result
}

/// Makes files with ffmpeg.
func ffmpeg(_ arguments: [String]) throws {
    let result = try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments)
    try #require(result.status == 0, "\(result.errors)")
}
