internal import Glibc

/// The planes of a picture in memory, valid only inside the closure that they were handed to.
///
/// `size` is what is to be seen; `allocatedSize` is what the memory holds (at least `size`): the part
/// outside `size` belongs to the encoder, which fills it by repeating the edges.
@unsafe public struct PixelPlanes {
    public var format: PixelFormat
    public var size: VideoSize
    public var allocatedSize: VideoSize
    /// First byte of planes 0, 1, 2; nil past `format.planeCount`.
    public var bases: (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
    /// Bytes from a row to the next, of planes 0, 1, 2.
    public var pitches: (Int, Int, Int)

    public init(
        format: PixelFormat, size: VideoSize, allocatedSize: VideoSize,
        bases: (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?),
        pitches: (Int, Int, Int)
    ) {
        unsafe self.format = format
        unsafe self.size = size
        unsafe self.allocatedSize = allocatedSize
        unsafe self.bases = bases
        unsafe self.pitches = pitches
    }

    /// The first byte of a plane that the format has.
    public func base(_ plane: Int) -> UnsafeMutableRawPointer {
        unsafe (plane == 0 ? bases.0 : plane == 1 ? bases.1 : bases.2)!
    }

    /// Bytes from a row of the plane to the next.
    public func pitch(_ plane: Int) -> Int {
        unsafe plane == 0 ? pitches.0 : plane == 1 ? pitches.1 : pitches.2
    }
}

extension PixelPlanes {
    /// Checks what a program's own buffer hands over.
    ///
    /// - Throws: `usage` if the planes have another layout than their buffer says, hold less than its size, or lack memory.
    package func check(of buffer: any PixelBuffer) throws(VaencError) { try unsafe check(format: buffer.format, size: buffer.size) }

    /// Checks that the planes have memory and pitches for the picture that they describe.
    ///
    /// - Throws: `usage`.
    package func check() throws(VaencError) { try unsafe check(format: format, size: size) }

    /// Checks that the planes hold a picture of this format and at least this size.
    ///
    /// - Throws: `usage`.
    package func check(format: PixelFormat, size: VideoSize) throws(VaencError) {
        var isWhole = unsafe self.format == format && self.size.width >= size.width && self.size.height >= size.height
        for plane in 0..<format.planeCount {
            let start = unsafe plane == 0 ? bases.0 : plane == 1 ? bases.1 : bases.2
            if unsafe start == nil || pitch(plane) < format.rowBytes(plane: plane, width: size.width) { isWhole = false }
        }
        if isWhole { return }
        throw VaencError(
            .usage, "the planes of a buffer are not those of a \(format.rawValue) picture of \(size)",
            remedy: "hand over the address of each plane, and a pitch that holds a row")
    }
}

/// A picture that an encoder can take: its own surface (no copy), or memory (one copy).
///
/// A buffer belongs to whoever made it until it is handed to `encode`; after that it must not be written.
public protocol PixelBuffer: AnyObject, Sendable {
    var format: PixelFormat { get }
    /// The visible size.
    var size: VideoSize { get }
    /// Maps the planes for reading and writing while `body` runs. Blocks while the device uses the buffer.
    func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R
}

/// A picture in ordinary memory, rows padded to 64 bytes.
@safe public final class SystemPixelBuffer: PixelBuffer {
    public let format: PixelFormat
    public let size: VideoSize
    // SAFETY: allocated once, freed in deinit; all access goes through withUnsafePlanes, whose caller owns the buffer.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer
    /// What `memory` lies in.
    private nonisolated(unsafe) let allocation: UnsafeMutableRawPointer
    private let offsets: [Int]
    private let rowPitches: [Int]

    /// - Throws: `usage` for a size that no picture has: sides below 1 or above 65536; `unavailable` where there is no memory.
    public init(format: PixelFormat, size: VideoSize) throws {
        guard (1...65536).contains(size.width), (1...65536).contains(size.height) else {
            throw VaencError(.usage, "no picture is \(size)", remedy: "give sides from 1 to 65536")
        }
        self.format = format
        self.size = size
        var offset = 0
        var offsets = [0, 0, 0]
        var pitches = [0, 0, 0]
        for plane in 0..<format.planeCount {
            offsets[plane] = offset
            pitches[plane] = format.rowBytes(plane: plane, width: size.width).aligned(to: 64)
            offset += pitches[plane] * format.rows(plane: plane, height: size.height)
        }
        self.offsets = offsets
        self.rowPitches = pitches
        // Large memory comes from calloc as zeros that take no room until they are written: a picture whose size is only
        // claimed costs nothing.
        guard let zeros = unsafe calloc(max(offset, 64) + 63, 1) else { throw VaencError.noMemory("for a picture of \(size)") }
        unsafe allocation = zeros
        unsafe memory = zeros.alignedUp(toMultipleOf: 64)
    }

    deinit { unsafe free(allocation) }

    public func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        let count = format.planeCount
        return unsafe try body(
            PixelPlanes(
                format: format, size: size, allocatedSize: size,
                bases: (memory, count > 1 ? memory + offsets[1] : nil, count > 2 ? memory + offsets[2] : nil),
                pitches: (rowPitches[0], rowPitches[1], rowPitches[2])))
    }
}
