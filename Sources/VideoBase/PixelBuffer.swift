internal import Glibc

/// The planes of a picture in memory, valid only inside the closure that receives them.
///
/// `size` is the visible size, and `allocatedSize` (at least `size`) is the size of the memory. The area outside `size`
/// belongs to the encoder, which fills it by repeating the edges.
@unsafe public struct PixelPlanes {
    /// The pixel format.
    public var format: PixelFormat
    /// The visible size.
    public var size: VideoSize
    /// The size of the allocated planes.
    public var allocatedSize: VideoSize
    /// The addresses of the first bytes of planes 0, 1 and 2; nil for planes that the format does not have.
    public var bases: (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
    /// The distances between rows of planes 0, 1 and 2, in bytes.
    public var pitches: (Int, Int, Int)

    /// Creates planes. The caller keeps the memory valid while the planes are used.
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

    /// Returns the address of a plane's first byte. Traps if the format does not have the plane.
    public func base(_ plane: Int) -> UnsafeMutableRawPointer {
        unsafe (plane == 0 ? bases.0 : plane == 1 ? bases.1 : bases.2)!
    }

    /// Returns the distance between rows of a plane, in bytes.
    public func pitch(_ plane: Int) -> Int {
        unsafe plane == 0 ? pitches.0 : plane == 1 ? pitches.1 : pitches.2
    }
}

extension PixelPlanes {
    /// Checks the planes of a buffer that a program has implemented.
    ///
    /// - Throws: A `VaencError` of category `.usage` if the planes differ from the buffer's format, are smaller than
    ///   its size, or lack memory.
    package func check(of buffer: any PixelBuffer) throws(VaencError) { try unsafe check(format: buffer.format, size: buffer.size) }

    /// Checks that the planes have memory and pitches for the picture that they describe.
    ///
    /// - Throws: A `VaencError` of category `.usage` if they do not.
    package func check() throws(VaencError) { try unsafe check(format: format, size: size) }

    /// Checks that the planes hold a picture of this format and at least this size.
    ///
    /// - Throws: A `VaencError` of category `.usage` if they do not.
    package func check(format: PixelFormat, size: VideoSize) throws(VaencError) {
        var isWhole = unsafe self.format == format && self.size.width >= size.width && self.size.height >= size.height
        for plane in 0..<format.planeCount {
            let start = unsafe plane == 0 ? bases.0 : plane == 1 ? bases.1 : bases.2
            if unsafe start == nil || pitch(plane) < format.rowBytes(plane: plane, width: size.width) { isWhole = false }
        }
        if isWhole { return }
        throw VaencError(
            .usage, "the planes do not match a \(format.rawValue) picture of \(size)",
            remedy: "pass the address of each plane, and a pitch of at least one row")
    }
}

/// A picture that an encoder can encode: a surface of the encoder (no copy), or memory (one copy).
///
/// A buffer belongs to its creator until it is passed to `encode`. A buffer of `makePixelBuffer` belongs to the encoder from
/// then on: `withUnsafePlanes` and another `encode` throw an error. Every other buffer in ordinary memory has been copied when
/// `encode` returns, and may be used again.
public protocol PixelBuffer: AnyObject, Sendable {
    /// The pixel format.
    var format: PixelFormat { get }
    /// The visible size.
    var size: VideoSize { get }
    /// Maps the planes for reading and writing while `body` runs. Blocks while the device uses the buffer.
    func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R
}

extension VaencError {
    /// The error for a buffer that an encoder has: it can be neither encoded again nor written.
    package static let bufferAlreadyEncoded = VaencError(
        .usage, "the pixel buffer was encoded already", remedy: "use a new buffer for each frame")
}

/// A picture in ordinary memory, with rows padded to a multiple of 64 bytes.
@safe public final class SystemPixelBuffer: PixelBuffer {
    /// The pixel format.
    public let format: PixelFormat
    /// The visible size.
    public let size: VideoSize
    // SAFETY: Allocated once and freed in deinit. All access goes through withUnsafePlanes, whose caller owns the
    // buffer.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer
    /// The allocation that contains `memory`.
    private nonisolated(unsafe) let allocation: UnsafeMutableRawPointer
    private let offsets: [Int]
    private let rowPitches: [Int]

    /// Creates a picture filled with zeros.
    ///
    /// - Throws: A `VaencError`: `.usage` if a side is below 1 or above 65536, `.unavailable` if there is not enough
    ///   memory.
    public init(format: PixelFormat, size: VideoSize) throws {
        guard (1...65536).contains(size.width), (1...65536).contains(size.height) else {
            throw VaencError(
                .usage, "the picture size \(size) is out of range",
                remedy: "use a width and height from 1 to 65536")
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
        // For large sizes, calloc returns zero pages that use no memory until they are written. A picture of a large
        // declared size therefore costs nothing until it is filled.
        guard let zeros = unsafe calloc(max(offset, 64) + 63, 1) else { throw VaencError.noMemory("for a picture of \(size)") }
        unsafe allocation = zeros
        unsafe memory = zeros.alignedUp(toMultipleOf: 64)
    }

    deinit { unsafe free(allocation) }

    /// Calls `body` with the planes, which are valid only during the call.
    public func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        let count = format.planeCount
        return unsafe try body(
            PixelPlanes(
                format: format, size: size, allocatedSize: size,
                bases: (memory, count > 1 ? memory + offsets[1] : nil, count > 2 ? memory + offsets[2] : nil),
                pitches: (rowPitches[0], rowPitches[1], rowPitches[2])))
    }
}
