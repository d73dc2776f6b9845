internal import CVA
internal import Glibc
package import VideoBase

/// A connection to a VA-API driver: one GPU, or the reference driver.
///
/// Every object made from a display keeps it alive; the last one gone, the driver is terminated and the render node
/// closed. libva takes calls from several threads, also on one display; what one call hands to another (a context's
/// picture in the making, a mapped buffer) belongs to one thread at a time, which the types here see to.
@safe package final class Display: Sendable {
    // SAFETY: valid from init to deinit, which alone ends it; libva locks around what its threads share.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer
    /// Where it runs: `.vaapi` or `.reference`.
    package let kind: DeviceKind
    /// The render node's path; nil where there is none.
    package let path: String?
    /// PCI address `0000:03:00.0`, where the system tells it.
    package let pciAddress: String?
    /// The kernel's driver (`i915`, `amdgpu`), where the system tells it.
    package let kernelDriver: String?
    /// What the driver calls itself (vaQueryVendorString).
    package let vendor: String
    /// The VA-API version of the libva that is loaded: `1.17`.
    package let version: String
    let messages: MessageLog
    let abilities = DriverAbilities()
    let images = ImagePool()
    private let descriptor: CInt?
    private let again: (@Sendable () throws -> Display)?

    /// Connects to the driver of a render node.
    ///
    /// - Throws: `VAError` or `VaencError`: `.unavailable` where the path is no render node or has no driver that
    ///   starts, `.noPermission` where it may not be opened.
    package static func open(renderNode path: String) throws -> Display {
        let descriptor = try RenderNode.open(path)
        guard let handle = unsafe vaGetDisplayDRM(descriptor) else {
            close(descriptor)
            throw VaencError(
                .unavailable, "\(path) is not a GPU's render node", remedy: RenderNode.advice())
        }
        return try unsafe Display(
            handle: handle, kind: .vaapi, path: path, pciAddress: RenderNode.pciAddress(of: descriptor),
            kernelDriver: RenderNode.kernelDriver(of: descriptor), descriptor: descriptor
        ) { try open(renderNode: path) }
    }

    /// Takes over a VADisplay that was not initialized yet, starts its driver, and ends it with the last object.
    ///
    /// - Parameters:
    ///   - handle: the VADisplay; ended with vaTerminate also when this throws.
    ///   - descriptor: closed after vaTerminate; nil where the display has none.
    ///   - again: makes another display of the same device; nil where that cannot be done.
    @unsafe package init(
        handle: UnsafeMutableRawPointer, kind: DeviceKind, path: String?, pciAddress: String? = nil,
        kernelDriver: String? = nil, descriptor: Int32? = nil, again: (@Sendable () throws -> Display)? = nil
    ) throws {
        let messages = MessageLog()
        unsafe messages.attach(to: handle)
        var major: CInt = 0
        var minor: CInt = 0
        let status = StatusCode(rawValue: unsafe vaInitialize(handle, &major, &minor))
        guard status == .success else {
            unsafe Self.end(handle, descriptor: descriptor)
            throw Self.startFailure(status, path: path, kernelDriver: kernelDriver, words: messages.take())
        }
        _ = messages.take()
        unsafe self.handle = unsafe handle
        self.kind = kind
        self.path = path
        self.pciAddress = pciAddress
        self.kernelDriver = kernelDriver
        self.descriptor = descriptor
        self.again = again
        self.messages = messages
        version = "\(major).\(minor)"
        if let text = unsafe vaQueryVendorString(handle) {
            vendor = unsafe String(cString: text)
        } else {
            vendor = "unnamed driver"
        }
    }

    deinit {
        unsafe images.drain(handle)
        unsafe Self.end(handle, descriptor: descriptor)
    }

    /// Another display of the same device, with a driver of its own; nil where that cannot be done.
    package func reopened() throws -> Display? { try again?() }

    private static func end(_ handle: UnsafeMutableRawPointer, descriptor: CInt?) {
        _ = unsafe vaTerminate(handle)
        if let descriptor { close(descriptor) }
    }

    private static func startFailure(
        _ status: StatusCode, path: String?, kernelDriver: String?, words: String?
    ) -> VAError {
        guard let path else {
            return VAError(
                call: "vaInitialize", status: status, object: "the reference driver", driverMessage: words,
                remedy: "install vaenc again, or build its driver with this version", category: .unavailable)
        }
        var remedy =
            switch kernelDriver {
            case "i915", "xe": "install intel-media-va-driver (or intel-media-va-driver-non-free)"
            case "amdgpu", "radeon": "install mesa-va-drivers"
            case "nvidia-drm", "nouveau": "this GPU has no VA-API encoder; use another device"
            default: "install the VA-API driver of this GPU, or see what `vainfo` says"
            }
        if let name = Environment.value("LIBVA_DRIVER_NAME") {
            remedy = "LIBVA_DRIVER_NAME=\(name) is set and may name another GPU's driver: unset it"
        }
        return VAError(
            call: "vaInitialize", status: status, object: path, driverMessage: words,
            remedy: remedy, category: .unavailable)
    }

    /// Throws what a call's status says unless it is success.
    ///
    /// - Parameters:
    ///   - object: what the call was made on, evaluated only on failure.
    ///   - remedy: evaluated only on failure.
    func check(
        _ rawStatus: Int32, _ call: String, _ object: @autoclosure () -> String, frame: Int? = nil,
        remedy: @autoclosure () -> String? = nil, category: ErrorCategory? = nil
    ) throws(VAError) {
        if rawStatus == 0 { return }
        throw VAError(
            call: call, status: StatusCode(rawValue: rawStatus), object: object(), frame: frame,
            driverMessage: messages.take(), remedy: remedy(), category: category)
    }
}
