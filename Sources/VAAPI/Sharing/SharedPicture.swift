internal import Glibc
package import VideoBase

/// A picture in memory that others have too, as DMA-BUFs: what a surface can be made of, and what it can be handed out as.
package final class SharedPicture: Sendable {
    package struct Object: Sendable, Hashable {
        /// The picture's own, closed with it.
        package let descriptor: Int32
        /// 0 where it is not known.
        package let byteCount: Int
        /// DRM_FORMAT_MOD_…
        package let modifier: UInt64

        package init(descriptor: Int32, byteCount: Int, modifier: UInt64) {
            self.descriptor = descriptor
            self.byteCount = byteCount
            self.modifier = modifier
        }
    }

    package struct Plane: Sendable, Hashable {
        /// Which of the objects.
        package var object: Int
        /// Bytes from its start.
        package var offset: Int
        /// Bytes from a row to the next.
        package var pitch: Int

        package init(object: Int, offset: Int, pitch: Int) {
            self.object = object
            self.offset = offset
            self.pitch = pitch
        }
    }

    /// DRM_FORMAT_MOD_LINEAR.
    package static let linear: UInt64 = 0

    package let format: PixelFormat
    package let size: VideoSize
    package let objects: [Object]
    package let planes: [Plane]

    /// Takes over the descriptors.
    package init(format: PixelFormat, size: VideoSize, owning objects: [Object], planes: [Plane]) {
        self.format = format
        self.size = size
        self.objects = objects
        self.planes = planes
    }

    /// Keeps copies of the descriptors, which stay the caller's.
    ///
    /// - Throws: `unavailable` where there is no descriptor left, `inputOutput` where one cannot be copied.
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

    /// The error of a descriptor that cannot be copied, by errno.
    static func copyError(_ code: Int32) -> VaencError {
        if code == EMFILE || code == ENFILE { return .noDescriptor("for a DMA-BUF") }
        // SAFETY: the string is the calling thread's until its next strerror, and copied at once.
        let reason = unsafe String(cString: strerror(code))
        return VaencError(.inputOutput, "a DMA-BUF's descriptor cannot be copied (\(reason))", remedy: "see `dmesg`")
    }

    deinit {
        for object in objects { close(object.descriptor) }
    }
}
