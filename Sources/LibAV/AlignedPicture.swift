import CLibAV
import VideoBase

/// Memory of one picture as libswscale wants it: rows on 64 bytes, which it may fill beyond their width.
@safe final class AlignedPicture {
    // SAFETY: allocated in init, freed in deinit; `view` is used by those who hold this object.
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
        // `view` is set once its memory is this object's: what fails leaves the other picture's pointers in it.
        if bytes < 0 { throw VaencError.noMemory("to convert a picture of \(size)") }
        unsafe self.view = unsafe view
    }

    deinit { unsafe av.pointee.av_free!(view.data[0]) }

    /// Formats and sizes are those that this was made for.
    func fits(_ picture: PictureView) -> Bool { unsafe picture.format == view.format && picture.size == view.size }
}

extension PictureView {
    /// Every row begins on 32 bytes and has room for whole vectors: libswscale's fast paths fault otherwise, or write
    /// beyond the row.
    var isAligned: Bool {
        for plane in 0..<4 {
            guard let base = unsafe data[plane] else { continue }
            if unsafe Int(bitPattern: base) % 32 != 0 || strides[plane] % 32 != 0 || strides[plane] <= 0 {
                return false
            }
        }
        return true
    }

    /// Copies the picture to `other`, of the same format and size.
    func copy(to other: PictureView, _ av: UnsafePointer<VaencLibAV>) {
        // SAFETY: both views cover their size; the arrays live through the call.
        var to = unsafe other.data
        var from = unsafe data
        unsafe vaenc_image_copy(
            av, &to, other.strides, &from, strides, format, Int32(size.width), Int32(size.height))
    }
}
