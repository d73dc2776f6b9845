import LibAV
public import VideoBase

/// A picture of a camera: in the driver's buffer, or decoded from it.
///
/// It keeps its buffer from the driver until it is let go: hold few, and not for long. It is for reading only.
@safe public final class CapturedFrame: PixelBuffer {
    enum Storage: Sendable {
        case buffer(CameraBuffers, index: Int, layout: FrameLayout, returns: BufferReturn)
        case decoded(DecodedPicture)
    }

    private let storage: Storage
    public let format: PixelFormat
    public let size: VideoSize
    /// When it was captured, on the system's monotonic clock.
    public let time: MediaTime
    /// The driver's number of it.
    public let sequence: UInt32

    init(_ storage: Storage, time: MediaTime, sequence: UInt32) {
        self.storage = storage
        self.time = time
        self.sequence = sequence
        switch storage {
        case .buffer(_, _, let layout, _): (format, size) = (layout.format, layout.size)
        case .decoded(let picture): (format, size) = (picture.format, picture.size)
        }
    }

    deinit {
        if case .buffer(_, let index, _, let returns) = storage { returns.give(UInt32(index)) }
    }

    /// The buffer for devices that take it without a copy; nil where the driver exports none.
    public var dmaBuffer: DMABuffer? {
        guard case .buffer(let buffers, let index, let layout, _) = storage, index < buffers.exported.count else { return nil }
        return DMABuffer(
            descriptor: buffers.exported[index], byteCount: layout.byteCount, format: layout.format, size: layout.size,
            offsets: layout.offsets, pitches: layout.pitches)
    }

    public func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        switch storage {
        case .decoded(let picture): return unsafe try picture.withPlanes(body)
        case .buffer(let buffers, let index, let layout, _):
            // SAFETY: the stream has seen that the buffer holds the layout's bytes.
            let start = unsafe buffers.mappings[index].baseAddress!
            func base(_ plane: Int) -> UnsafeMutableRawPointer? {
                unsafe plane < layout.offsets.count ? start + layout.offsets[plane] : nil
            }
            func pitch(_ plane: Int) -> Int { plane < layout.pitches.count ? layout.pitches[plane] : 0 }
            return unsafe try body(
                PixelPlanes(
                    format: format, size: size, allocatedSize: size, bases: (base(0), base(1), base(2)),
                    pitches: (pitch(0), pitch(1), pitch(2))))
        }
    }
}

/// Where buffers go that are read: the stream's thread hands them to the driver.
struct BufferReturn: Sendable {
    let give: @Sendable (UInt32) -> Void
}
