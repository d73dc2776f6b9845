import CLibAV
import VideoBase

/// Owns the memory of one picture in the layout that libswscale needs. Rows are aligned to 64 bytes, and libswscale may
/// write into the padding after a row.
@safe final class AlignedPicture {
    // SAFETY: `init` allocates the memory and `deinit` frees it. Users of `view` must hold this object.
    private let av: UnsafePointer<VaencLibAV>
    let view: PictureView

    init(like picture: PictureView, _ av: UnsafePointer<VaencLibAV>) throws {
        unsafe self.av = unsafe av
        let size = unsafe picture.size
        guard size.isWithinLimits else {
            throw VaencError(.unavailable, "a picture of \(size) cannot be converted", remedy: "sizes are \(VideoSize.limitWords)")
        }
        var view = unsafe picture
        let format = unsafe picture.format
        let bytes = unsafe view.data.withUnsafeMutableBufferPointer { data in
            unsafe view.strides.withUnsafeMutableBufferPointer { strides in
                unsafe av.pointee.av_image_alloc!(
                    data.baseAddress!, strides.baseAddress!, Int32(size.width), Int32(size.height), format, 64)
            }
        }
        // `view` is set only after the allocation succeeded. After a failure it still contains the other picture's
        // pointers.
        if bytes < 0 { throw VaencError.noMemory("to convert a picture of \(size)") }
        unsafe self.view = unsafe view
    }

    deinit { unsafe av.pointee.av_free!(view.data[0]) }

    /// Whether `picture` has the format and size that this memory was allocated for.
    func fits(_ picture: PictureView) -> Bool { unsafe picture.format == view.format && picture.size == view.size }
}

extension PictureView {
    /// Whether every row begins on a multiple of 32 bytes and is padded to whole vectors. Otherwise libswscale's fast
    /// paths fault, or write beyond the row.
    var isAligned: Bool {
        for plane in 0..<4 {
            guard let base = unsafe data[plane] else { continue }
            if unsafe Int(bitPattern: base) % 32 != 0 || strides[plane] % 32 != 0 || strides[plane] <= 0 {
                return false
            }
        }
        return true
    }

    /// Copies the picture to `other`, which must have the same format and size.
    func copy(to other: PictureView, _ av: UnsafePointer<VaencLibAV>) {
        // SAFETY: both views cover their whole size, and the arrays live until the call returns.
        var to = unsafe other.data
        var from = unsafe data
        unsafe vaenc_image_copy(
            av, &to, other.strides, &from, strides, format, Int32(size.width), Int32(size.height))
    }
}
