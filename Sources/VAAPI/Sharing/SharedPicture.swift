internal import Glibc
package import VideoBase

/// A picture in DMA-BUF memory that is shared with other processes or devices. A surface can be created from it or
/// exported as one.
package final class SharedPicture: Sendable {
    package struct Object: Sendable, Hashable {
        /// The file descriptor. The picture owns it and closes it.
        package let descriptor: Int32
        /// The size in bytes, or 0 if it is unknown.
        package let byteCount: Int
        /// The format modifier, DRM_FORMAT_MOD_….
        package let modifier: UInt64

        package init(descriptor: Int32, byteCount: Int, modifier: UInt64) {
            self.descriptor = descriptor
            self.byteCount = byteCount
            self.modifier = modifier
        }
    }

    package struct Plane: Sendable, Hashable {
        /// The index of the plane's object in `objects`.
        package var object: Int
        /// The offset from the start of the object, in bytes.
        package var offset: Int
        /// The distance between rows, in bytes.
        package var pitch: Int

        package init(object: Int, offset: Int, pitch: Int) {
            self.object = object
            self.offset = offset
            self.pitch = pitch
        }
    }

    /// The modifier of linear memory, DRM_FORMAT_MOD_LINEAR.
    package static let linear: UInt64 = 0

    package let format: PixelFormat
    package let size: VideoSize
    package let objects: [Object]
    package let planes: [Plane]

    /// Creates a picture that takes ownership of the descriptors.
    package init(format: PixelFormat, size: VideoSize, owning objects: [Object], planes: [Plane]) {
        self.format = format
        self.size = size
        self.objects = objects
        self.planes = planes
    }

    /// Creates a picture with duplicates of the descriptors. The caller keeps the originals.
    ///
    /// - Throws: A `VaencError`: `.unavailable` if the process has no free descriptor, `.inputOutput` if a descriptor
    ///   cannot be duplicated.
    package convenience init(
        format: PixelFormat, size: VideoSize, borrowing objects: [Object], planes: [Plane]
    ) throws {
        var copies: [Object] = []
        for object in objects {
            let copy = fcntl(object.descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else {
                let code = errno
                for copy in copies { close(copy.descriptor) }
                throw Self.copyError(code)
            }
            copies.append(Object(descriptor: copy, byteCount: object.byteCount, modifier: object.modifier))
        }
        self.init(format: format, size: size, owning: copies, planes: planes)
    }

    /// Returns the error for a descriptor that cannot be duplicated.
    ///
    /// - Parameter code: The value of errno.
    static func copyError(_ code: Int32) -> VaencError {
        if code == EMFILE || code == ENFILE { return .noDescriptor("for a DMA-BUF") }
        return VaencError(.inputOutput, "a DMA-BUF's descriptor cannot be copied (\(reason(code)))", remedy: "see `dmesg`")
    }

    /// Returns the system's words for a value of errno.
    static func reason(_ code: Int32) -> String {
        // SAFETY: The string belongs to the calling thread until its next strerror, and is copied immediately.
        unsafe String(cString: strerror(code))
    }

    deinit {
        for object in objects { close(object.descriptor) }
    }
}
