import CV4L2
public import VideoBase

/// Where the planes of a picture lie in a buffer that holds them one behind the other.
struct FrameLayout: Hashable {
    var format: PixelFormat
    var size: VideoSize
    var offsets: [Int]
    var pitches: [Int]
    /// Bytes of the whole picture.
    var byteCount: Int

    /// - Parameter pitch: bytes from a row of the first plane to the next; 0 for no padding. Chroma planes of their own
    ///   have half of it, as V4L2 says of its planar formats.
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

    /// Rows hold what the width needs.
    var isSound: Bool {
        (0..<format.planeCount).allSatisfy { pitches[$0] >= format.rowBytes(plane: $0, width: size.width) }
    }
}

/// A DMA-BUF that holds a picture: for devices that take pictures without a copy.
///
/// The descriptor is the stream's, and valid as long as the frame that it came with.
public struct DMABuffer: Sendable, Hashable {
    public var descriptor: Int32
    public var byteCount: Int
    public var format: PixelFormat
    public var size: VideoSize
    /// Of each plane.
    public var offsets: [Int]
    public var pitches: [Int]
}
