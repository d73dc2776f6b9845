package import CLibAV
package import VideoBase

/// Sees to it that what lies on a device is let go of in a way that the device survives, and lives as long as its pictures.
package protocol PictureKeeper: AnyObject, Sendable {
    func release(_ body: @escaping @Sendable () -> Void)
}

/// A picture of a decoder's, in memory or on a device, kept until the last one who refers to it goes.
@safe package final class DecodedPicture: Sendable {
    // SAFETY: an AVFrame of this object's own, whose buffers are counted by libav; nothing writes to it, and deinit frees it.
    private nonisolated(unsafe) let own: UnsafeMutablePointer<AVFrame>
    private nonisolated(unsafe) let av: UnsafePointer<VaencLibAV>
    private let keeper: (any PictureKeeper)?

    /// Refers to the picture in `frame`, which stays.
    ///
    /// - Parameter keeper: of a picture on a device.
    package init(
        _ frame: UnsafePointer<AVFrame>, keeper: (any PictureKeeper)?, _ av: UnsafePointer<VaencLibAV>
    ) throws {
        guard let copy = unsafe av.pointee.av_frame_clone!(frame) else {
            throw VaencError.noMemory("to keep a decoded picture")
        }
        unsafe own = copy
        unsafe self.av = unsafe av
        self.keeper = keeper
    }

    deinit {
        // SAFETY: this is the last use of the frame.
        nonisolated(unsafe) var frame: UnsafeMutablePointer<AVFrame>? = unsafe own
        nonisolated(unsafe) let av = unsafe av
        guard let keeper else { return unsafe av.pointee.av_frame_free!(&frame) }
        keeper.release { unsafe av.pointee.av_frame_free!(&frame) }
    }

    /// Valid as long as this object.
    package var frame: UnsafePointer<AVFrame> { unsafe UnsafePointer(own) }

    /// What is to be seen. In memory the rest is cut off; of a surface libav cuts off what is right and below alone.
    package var visible: VideoRectangle {
        let (left, top) = unsafe (Int(own.pointee.crop_left), Int(own.pointee.crop_top))
        return unsafe VideoRectangle(
            x: left, y: top, width: Int(own.pointee.width) - left, height: Int(own.pointee.height) - top)
    }

    package var size: VideoSize { VideoSize(width: visible.width, height: visible.height) }

    /// A surface of the device's that holds a picture.
    package struct OnDevice: Sendable {
        /// VASurfaceID.
        package var identifier: UInt32
        package var size: VideoSize
        package var format: PixelFormat
    }

    /// nil of a picture in memory.
    package var surface: OnDevice? {
        var (width, height, format): (Int32, Int32, AVPixelFormat) = (0, 0, AV_PIX_FMT_NONE)
        guard unsafe vaenc_surface_shape(own, &width, &height, &format), let layout = PixelFormat(av: format) else {
            return nil
        }
        return unsafe OnDevice(
            identifier: vaenc_surface_of(own), size: VideoSize(width: Int(width), height: Int(height)), format: layout)
    }

    private var isOnDevice: Bool { unsafe own.pointee.format == AV_PIX_FMT_VAAPI.rawValue }

    /// What the sender of the packet called it.
    package var tag: Int64 { unsafe vaenc_tag(own) }

    /// The picture in memory: itself, or a copy of what lies on the device. Calls the device.
    package func downloaded() throws -> DecodedPicture {
        if !isOnDevice { return self }
        var copy = unsafe av.pointee.av_frame_alloc!()
        defer { unsafe av.pointee.av_frame_free!(&copy) }
        if unsafe copy == nil { throw VaencError.noMemory("to copy a decoded picture") }
        var code = unsafe av.pointee.av_hwframe_transfer_data!(copy, own, 0)
        // Its time, its fields, its colours: the transfer brings samples alone.
        if code >= 0 { code = unsafe av.pointee.av_frame_copy_props!(copy, own) }
        if code >= 0, let copy = unsafe copy {
            unsafe copy.pointee.crop_left = own.pointee.crop_left
            unsafe copy.pointee.crop_top = own.pointee.crop_top
            let unaligned: Int32 = 1
            unsafe code = av.pointee.av_frame_apply_cropping!(copy, unaligned)
        }
        guard code >= 0, let copy = unsafe copy else {
            throw VaencError(
                .deviceFailed, "a decoded picture cannot be read from the device (\(unsafe LibAV.message(code, av)))")
        }
        return unsafe try DecodedPicture(copy, keeper: nil, av)
    }
}
