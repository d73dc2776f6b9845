package import CLibAV
package import VideoBase

/// An object that keeps a device alive for its pictures, and releases objects on the device in a way that does not harm
/// it.
package protocol PictureKeeper: AnyObject, Sendable {
    /// Runs `body`, which frees an object on the device.
    func release(_ body: @escaping @Sendable () -> Void)
}

/// A decoded picture, in memory or on a device. It is freed with the last reference to this object.
@safe package final class DecodedPicture: Sendable {
    // SAFETY: an AVFrame that this object owns. libav counts the references to its buffers. Nothing writes to the
    // frame, and `deinit` frees it.
    private nonisolated(unsafe) let ownedFrame: UnsafeMutablePointer<AVFrame>
    private nonisolated(unsafe) let av: UnsafePointer<VaencLibAV>
    private let keeper: (any PictureKeeper)?

    /// Creates a reference to the picture in `frame`, which keeps its own reference.
    ///
    /// - Parameter keeper: The keeper of a picture on a device; nil for a picture in memory.
    /// - Throws: If there is no memory.
    package init(
        _ frame: UnsafePointer<AVFrame>, keeper: (any PictureKeeper)?, _ av: UnsafePointer<VaencLibAV>
    ) throws {
        guard let copy = unsafe av.pointee.av_frame_clone!(frame) else {
            throw VaencError.noMemory("to keep a decoded picture")
        }
        unsafe ownedFrame = copy
        unsafe self.av = unsafe av
        self.keeper = keeper
    }

    deinit {
        // SAFETY: this is the last use of the frame.
        nonisolated(unsafe) var frame: UnsafeMutablePointer<AVFrame>? = unsafe ownedFrame
        nonisolated(unsafe) let av = unsafe av
        guard let keeper else { return unsafe av.pointee.av_frame_free!(&frame) }
        keeper.release { unsafe av.pointee.av_frame_free!(&frame) }
    }

    /// The frame, which is valid as long as this object lives.
    package var frame: UnsafePointer<AVFrame> { unsafe UnsafePointer(ownedFrame) }

    /// The visible rectangle. libav crops a picture in memory completely. For a surface libav crops only on the right
    /// and at the bottom, so `x` and `y` contain the cropping on the left and at the top.
    package var visible: VideoRectangle {
        let (left, top) = unsafe (Int(ownedFrame.pointee.crop_left), Int(ownedFrame.pointee.crop_top))
        return unsafe VideoRectangle(
            x: left, y: top, width: Int(ownedFrame.pointee.width) - left, height: Int(ownedFrame.pointee.height) - top)
    }

    /// The size of the visible rectangle.
    package var size: VideoSize { VideoSize(width: visible.width, height: visible.height) }

    /// A surface on the device that holds a picture.
    package struct OnDevice: Sendable {
        /// The VASurfaceID.
        package var identifier: UInt32
        package var size: VideoSize
        package var format: PixelFormat
    }

    /// The picture's surface; nil for a picture in memory.
    package var surface: OnDevice? {
        var (width, height, format): (Int32, Int32, AVPixelFormat) = (0, 0, AV_PIX_FMT_NONE)
        guard unsafe vaenc_surface_shape(ownedFrame, &width, &height, &format), let layout = PixelFormat(av: format)
        else { return nil }
        return unsafe OnDevice(
            identifier: vaenc_surface_of(ownedFrame), size: VideoSize(width: Int(width), height: Int(height)),
            format: layout)
    }

    private var isOnDevice: Bool { unsafe ownedFrame.pointee.format == AV_PIX_FMT_VAAPI.rawValue }

    /// The tag that was set on the picture's packet.
    package var tag: Int64 { unsafe vaenc_tag(ownedFrame) }

    /// Returns the picture in memory: this object, or a copy of a picture on a device. The copy calls the device and
    /// blocks.
    /// - Throws: If there is no memory, or if the device cannot be read.
    package func downloaded() throws -> DecodedPicture {
        if !isOnDevice { return self }
        var copy = unsafe av.pointee.av_frame_alloc!()
        defer { unsafe av.pointee.av_frame_free!(&copy) }
        if unsafe copy == nil { throw VaencError.noMemory("to copy a decoded picture") }
        var code = unsafe av.pointee.av_hwframe_transfer_data!(copy, ownedFrame, 0)
        // The transfer copies samples only: time, field and color properties are copied here.
        if code >= 0 { code = unsafe av.pointee.av_frame_copy_props!(copy, ownedFrame) }
        if code >= 0, let copy = unsafe copy {
            unsafe copy.pointee.crop_left = ownedFrame.pointee.crop_left
            unsafe copy.pointee.crop_top = ownedFrame.pointee.crop_top
            unsafe code = av.pointee.av_frame_apply_cropping!(copy, Int32(AV_FRAME_CROP_UNALIGNED))
        }
        guard code >= 0, let copy = unsafe copy else {
            throw VaencError(
                .deviceFailed, "a decoded picture cannot be read from the device (\(unsafe LibAV.message(code, av)))")
        }
        return unsafe try DecodedPicture(copy, keeper: nil, av)
    }
}
