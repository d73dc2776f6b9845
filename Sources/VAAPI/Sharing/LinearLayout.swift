internal import VideoBase

/// The layout of a picture of two planes in memory that the program allocates.
struct LinearLayout: Sendable {
    let format: PixelFormat
    /// The size in luma samples, without padding.
    let size: VideoSize
    /// The distance between rows in bytes, the same for both planes.
    let pitch: Int
    /// The number of rows of the luma plane, with padding.
    let lumaRows: Int
    /// The number of bytes: whole pages.
    let byteCount: Int

    /// The number of rows that every driver accepts: iHD needs planes of 16 or 32 rows.
    private static var rowStep: Int { 32 }
    private static var page: Int { 4096 }
    /// The bytes after the last row that a reader of whole vectors may touch.
    private static var slack: Int { 64 }

    /// - Parameter pitchStep: The pitch is a multiple of this number of bytes.
    /// - Throws: `unavailable` if the format has no such layout, or the size exceeds vaenc's limits.
    init(_ format: PixelFormat, _ size: VideoSize, pitchStep: Int) throws {
        guard format == .nv12 || format == .p010, size.isWithinLimits else {
            throw VaencError(.unavailable, "a driver cannot read \(format.rawValue) of \(size) in the program's memory")
        }
        self.format = format
        self.size = size
        pitch = format.rowBytes(plane: 0, width: size.width).aligned(to: pitchStep)
        lumaRows = size.height.aligned(to: Self.rowStep)
        byteCount = (pitch * lumaRows * 3 / 2 + Self.slack).aligned(to: Self.page)
    }

    /// The offset of the second plane in bytes.
    var chromaOffset: Int { pitch * lumaRows }

    /// Returns the planes in memory of `byteCount` bytes at `start`.
    @unsafe func planes(at start: UnsafeMutableRawPointer, visible: VideoSize) -> PixelPlanes {
        unsafe PixelPlanes(
            format: format, size: visible, allocatedSize: size, bases: (start, start + chromaOffset, nil), pitches: (pitch, pitch, 0))
    }
}
