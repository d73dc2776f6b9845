import LibAV
public import VideoBase

/// A picture of a camera, in the driver's buffer or decoded from it. Read-only.
///
/// An uncompressed picture holds its buffer until it is released: keep few pictures, and release them soon.
@safe public final class CapturedFrame: PixelBuffer {
    enum Storage: Sendable {
        case buffer(CameraBuffers, index: Int, layout: FrameLayout, returns: BufferReturn)
        case decoded(DecodedPicture)
    }

    private let storage: Storage
    /// The pixel format.
    public let format: PixelFormat
    /// The visible size.
    public let size: VideoSize
    /// The capture time, on the system's monotonic clock.
    public let time: MediaTime
    /// The driver's sequence number of the picture.
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
        if case .buffer(_, let index, _, let returns) = storage { returns.returnBuffer(UInt32(index)) }
    }

    /// The DMA-BUF of the picture, for devices that import it without a copy; nil if the driver does not export it, or
    /// the picture was decoded.
    public var dmaBuffer: DMABuffer? {
        guard case .buffer(let buffers, let index, let layout, _) = storage, index < buffers.exported.count else { return nil }
        return DMABuffer(
            descriptor: buffers.exported[index], byteCount: layout.byteCount, format: layout.format, size: layout.size,
            offsets: layout.offsets, pitches: layout.pitches)
    }

    /// Calls `body` with the planes of the picture, which are valid during the call. Read them only.
    public func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        switch storage {
        case .decoded(let picture): return unsafe try picture.withPlanes(body)
        case .buffer(let buffers, let index, let layout, _):
            // SAFETY: the stream has checked that the buffer contains the bytes of the layout.
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

/// Returns a buffer that was read to the stream's thread, which passes it to the driver.
struct BufferReturn: Sendable {
    let returnBuffer: @Sendable (UInt32) -> Void
}
