import CV4L2
public import VideoBase

/// The layout of a picture's planes in a buffer that contains them one after another.
struct FrameLayout: Hashable {
    var format: PixelFormat
    var size: VideoSize
    var offsets: [Int]
    var pitches: [Int]
    /// The number of bytes of the whole picture.
    var byteCount: Int

    /// - Parameter pitch: The number of bytes from a row of the first plane to the next; 0 for no padding. Separate
    ///   chroma planes have half the pitch, as V4L2 defines for its planar formats, except 4:4:4.
    init(_ format: PixelFormat, size: VideoSize, pitch: Int) {
        self.format = format
        self.size = size
        let tight = format.rowBytes(plane: 0, width: size.width)
        let first = pitch > 0 ? pitch : tight
        var offset = 0
        offsets = []
        pitches = []
        for plane in 0..<format.planeCount {
            let isHalf = plane > 0 && format != .nv12 && format != .i444
            let pitch = plane == 0 ? first : isHalf ? (first + 1) / 2 : first
            offsets.append(offset)
            pitches.append(pitch)
            offset += pitch * format.rows(plane: plane, height: size.height)
        }
        byteCount = offset
    }

    /// Whether each row has enough bytes for the width.
    var isValid: Bool {
        (0..<format.planeCount).allSatisfy { pitches[$0] >= format.rowBytes(plane: $0, width: size.width) }
    }
}

/// A DMA-BUF that contains a picture, for devices that import pictures without a copy.
///
/// The stream owns the descriptor. It is valid during the lifetime of the frame that returned it.
public struct DMABuffer: Sendable, Hashable {
    /// The file descriptor.
    public var descriptor: Int32
    /// The number of bytes of the picture.
    public var byteCount: Int
    /// The pixel format.
    public var format: PixelFormat
    /// The visible size.
    public var size: VideoSize
    /// The offset of each plane in bytes.
    public var offsets: [Int]
    /// The pitch of each plane: the number of bytes from one row to the next.
    public var pitches: [Int]
}
