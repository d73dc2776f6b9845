import CV4L2
import Glibc
import VideoBase

/// An open V4L2 device, accessed through libv4l2. One thread at a time. Calls may block for as long as the driver does.
final class VideoNode {
    let path: String
    let descriptor: Int32

    /// Opens a device.
    ///
    /// - Parameter converts: Whether libv4l2 converts the camera's formats to others.
    /// - Throws: `noInput`, `noPermission`, `unavailable` if the device is in use, `badInput` if it is not a video
    ///   device.
    init(_ path: String, converts: Bool = false) throws(VaencError) {
        let descriptor = unsafe vaenc_v4l2_open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC, converts)
        guard descriptor >= 0 else { throw Self.openError(errno, path) }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { vaenc_v4l2_close(descriptor) }

    /// Opens a device. Conversions are enabled only if the camera has no format that vaenc reads. The device is never
    /// open twice at the same time.
    static func reading(_ path: String) throws(VaencError) -> VideoNode {
        if let node = try openUnconverted(path) { return node }
        return try VideoNode(path, converts: true)
    }

    /// Opens a device without conversions; nil if it lists formats and vaenc reads none of them.
    private static func openUnconverted(_ path: String) throws(VaencError) -> VideoNode? {
        let node = try VideoNode(path)
        let formats = node.formats
        return formats.isEmpty || formats.contains { $0.layout != nil } ? node : nil
    }

    /// Calls ioctl(2), and repeats it after signals. Returns 0 or the errno.
    func call<T>(_ request: UInt, _ value: inout T) -> Int32 {
        while true {
            // SAFETY: the caller passes the structure that the request requires.
            if unsafe withUnsafeMutablePointer(to: &value, { unsafe vaenc_v4l2_ioctl(descriptor, request, $0) }) >= 0 { return 0 }
            if errno != EINTR { return errno }
        }
    }

    /// Calls ioctl(2), and throws if it fails.
    func demand<T>(_ name: String, request: UInt, value: inout T) throws(VaencError) {
        let code = call(request, &value)
        if code != 0 { throw failure(name, code) }
    }

    func failure(_ call: String, _ code: Int32) -> VaencError {
        switch code {
        case ENODEV, ENXIO:
            VaencError(
                .deviceFailed, "the camera \(path) was disconnected (\(call))",
                remedy: "check its cable")
        case EBUSY:
            VaencError(
                .unavailable, "the camera \(path) is in use (\(call))",
                remedy: "close the program that uses it (find it with fuser \(path))")
        default:
            VaencError(
                .deviceFailed, "\(call) failed on the camera \(path) (\(Self.words(code)))",
                remedy: "use another size or format; `CaptureDevices.all()` lists them")
        }
    }

    static func words(_ code: Int32) -> String {
        // SAFETY: the string is valid until the thread's next strerror call, and is copied at once.
        unsafe String(cString: strerror(code))
    }

    private static func openError(_ code: Int32, _ path: String) -> VaencError {
        switch code {
        case ENOENT, ENODEV, ENXIO, ENOTDIR, ELOOP, ENAMETOOLONG:
            VaencError(.noInput, "there is no camera \(path)", remedy: "`CaptureDevices.all()` lists the cameras")
        case EACCES, EPERM:
            VaencError(
                .noPermission, "no permission to use the camera \(path)",
                remedy: "add yourself to the group video, and log in again")
        case EBUSY:
            VaencError(
                .unavailable, "the camera \(path) is in use",
                remedy: "close the program that uses it (find it with fuser \(path))")
        case EMFILE, ENFILE: VaencError.noDescriptor("for the camera \(path)")
        case ENOMEM: VaencError.noMemory("for the camera \(path)")
        case ELIBACC:
            VaencError(.unavailable, "libv4l2, which opens cameras, cannot be loaded", remedy: "install the package libv4l-0")
        default:
            VaencError(
                .badInput, "\(path) is not a video device (\(words(code)))",
                remedy: "`CaptureDevices.all()` lists the cameras")
        }
    }
}

/// Conversions between the names of V4L2 formats, as four characters, and their numbers.
enum FourCC {
    static func number(_ text: String) -> UInt32 {
        text.utf8.prefix(4).enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32($1.offset * 8) }
    }

    static func text(_ number: UInt32) -> String {
        // The highest bit marks big-endian formats.
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: (number & 0x7fff_ffff) >> UInt32($0 * 8)) }
        // Names with fewer than four characters are padded with spaces.
        let count = bytes.lastIndex { $0 > 32 && $0 < 127 }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<count].map { (33..<127).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}

/// Returns the text in a fixed array of bytes, up to the first zero byte.
func text<T>(_ array: T) -> String {
    unsafe withUnsafeBytes(of: array) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
