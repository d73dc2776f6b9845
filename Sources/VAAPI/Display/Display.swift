internal import CVA
internal import Glibc
internal import Synchronization
package import VideoBase

/// A connection to a VA-API driver: that of one GPU, or the reference driver.
///
/// Every object that is created from a display keeps the display alive. When the last object is gone, the driver is
/// terminated and the render node is closed.
///
/// libva can be called from several threads, also on one display. State that spans several calls (a context's
/// unfinished picture, a mapped buffer) belongs to one thread at a time; the types of this module ensure that.
@safe package final class Display: Sendable {
    // SAFETY: The handle is valid from init to deinit, and only deinit ends it. libva locks the state that threads
    // share.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer
    /// The kind of device: `.vaapi` or `.reference`.
    package let kind: DeviceKind
    /// The path of the render node, or nil if the display has none.
    package let path: String?
    /// The PCI address (`0000:03:00.0`), or nil if the system does not report it.
    package let pciAddress: String?
    /// The name of the kernel driver (`i915`, `amdgpu`), or nil if the system does not report it.
    package let kernelDriver: String?
    /// The driver's name for itself (vaQueryVendorString).
    package let vendor: String
    /// Whether several encoders can read one surface.
    package let sharesSurfaces: Bool
    /// The VA-API version of the loaded libva: `1.17`.
    package let version: String
    /// The watchdog for driver calls that may block for too long.
    package let watch: DriverCallWatchdog
    let messages: MessageLog
    let optionalCalls: OptionalCalls
    let images = ImagePool()
    private let descriptor: CInt?
    private let again: Opening?

    /// A function that opens another display of the same device, with a time limit for its calls.
    package typealias Opening = @Sendable (_ limitNanoseconds: UInt64) throws -> Display

    /// Connects to the driver of a render node.
    ///
    /// - Throws: A `VAError` or `VaencError`: `.unavailable` if the path is not a render node or no driver starts for
    ///   it, `.noPermission` if the node may not be opened.
    package static func open(renderNode path: String) throws -> Display {
        try inAFewTries { try openOnce(renderNode: path, DriverCallWatchdog.usualLimit(of: .vaapi)) }
    }

    /// Opens a display, with retries if its driver fails to start with a transient error: five attempts, with pauses of
    /// 5, 10, 20 and 40 ms.
    package static func inAFewTries(_ open: () throws -> Display) throws -> Display {
        for attempt in 0..<4 {
            do { return try open() } catch let error as VAError where error.isPassing {
                usleep(5000 << UInt32(attempt))
            }
        }
        return try open()
    }

    private static func openOnce(renderNode path: String, _ limit: UInt64) throws -> Display {
        let descriptor = try RenderNode.open(path)
        guard let handle = unsafe vaGetDisplayDRM(descriptor) else {
            close(descriptor)
            throw VaencError(
                .unavailable, "\(path) is not a GPU's render node", remedy: RenderNode.advice())
        }
        return try unsafe Display(
            handle: handle, kind: .vaapi, path: path, pciAddress: RenderNode.pciAddress(of: descriptor),
            kernelDriver: RenderNode.kernelDriver(of: descriptor), descriptor: descriptor,
            limitNanoseconds: limit
        ) { try openOnce(renderNode: path, $0) }
    }

    /// Takes ownership of an uninitialized VADisplay and starts its driver. The driver is terminated when the display
    /// and all objects created from it are gone.
    ///
    /// - Parameters:
    ///   - handle: The VADisplay. It is ended with vaTerminate, also if this initializer throws.
    ///   - descriptor: A file descriptor that is closed after vaTerminate, or nil if the display has none.
    ///   - limitNanoseconds: The time limit for one picture or one call, or nil for the default of the device kind.
    ///   - again: Opens another display of the same device, or nil if that is impossible.
    @unsafe package init(
        handle: UnsafeMutableRawPointer, kind: DeviceKind, path: String?, pciAddress: String? = nil,
        kernelDriver: String? = nil, descriptor: Int32? = nil, limitNanoseconds: UInt64? = nil,
        again: Opening? = nil
    ) throws {
        let messages = MessageLog()
        unsafe messages.attach(to: handle)
        // SAFETY: The handle stays valid. It is ended below or in deinit, or never if a call on it does not return.
        nonisolated(unsafe) let started = unsafe handle
        let watch = DriverCallWatchdog(limitNanoseconds: limitNanoseconds ?? DriverCallWatchdog.usualLimit(of: kind)) {
            unsafe HungDisplays.keep(started, messages)
        }
        ProcessEnd.driverWillBeLoaded()
        let status: VAStatusCode
        let major: CInt
        let minor: CInt
        (status, major, minor) = try watch.run("vaInitialize", on: path ?? "the reference driver", scale: .setUp) {
            var major: CInt = 0
            var minor: CInt = 0
            return (VAStatusCode(rawValue: unsafe vaInitialize(started, &major, &minor)), major, minor)
        }
        ProcessEnd.driverIsLoaded(of: path ?? "")
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
        self.watch = watch
        version = "\(major).\(minor)"
        if let text = unsafe vaQueryVendorString(handle) {
            vendor = Self.printable(unsafe String(cString: text))
        } else {
            vendor = "unnamed driver"
        }
        sharesSurfaces = !DriverQuirk.oneResultForEachSurface.affects(vendor)
        optionalCalls = OptionalCalls(vendor: vendor)
    }

    deinit {
        // SAFETY: This is the last use of the handle, and no other object refers to the pool any more.
        nonisolated(unsafe) let handle = unsafe handle
        let descriptor = descriptor
        let images = images
        watch.release {
            unsafe images.drain(handle)
            unsafe Self.end(handle, descriptor: descriptor)
        }
    }

    /// Returns a driver's text with control characters replaced by spaces, because terminals interpret them.
    static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    /// Whether a driver that never finishes loading prevents this process from loading any other library.
    package static var isLoaderStuck: Bool { ProcessEnd.isLoaderStuck }

    /// Opens another display of the same device, with a separate driver instance; returns nil if that is impossible.
    package func reopened() throws -> Display? { try again?(watch.limitNanoseconds) }

    private static func end(_ handle: UnsafeMutableRawPointer, descriptor: CInt?) {
        // If a driver fails to terminate, libva unloads the driver but keeps the display. The second call frees the
        // display.
        if unsafe vaTerminate(handle) != VA_STATUS_SUCCESS { _ = unsafe vaTerminate(handle) }
        if let descriptor { close(descriptor) }
    }

    private static func startFailure(
        _ status: VAStatusCode, path: String?, kernelDriver: String?, words: String?
    ) -> any Error {
        let purpose = "to load \(path.map { "the driver of \($0)" } ?? "the reference driver")"
        if let lack = words.flatMap({ VaencError.loaderLack($0, purpose) }) { return lack }
        let error = VAError(call: "vaInitialize", status: status, object: path ?? "the reference driver", driverMessage: words)
        // Nothing has to be installed in this case.
        if error.isNoMemory { return error.lackingMemory() }
        guard let path else {
            let named = ["MODE", "NULL_BYTES", "HASH", "LOG", "STRICT", "HEVC", "PROCESSING"].map { "VAENC_REFERENCE_" + $0 }
            let variable =
                named.first { words?.contains($0 + "=") == true }
                ?? ["VAENC_REFERENCE_PERSONALITY", "VAENC_FAULT"].first { Environment.value($0) != nil }
            return VAError(
                call: "vaInitialize", status: status, object: "the reference driver", driverMessage: words,
                remedy: variable.map { "\($0) is set: correct it, or unset it" }
                    ?? "install vaenc again, or build its driver with this version",
                category: .unavailable)
        }
        var remedy =
            switch kernelDriver {
            case "i915", "xe": "install intel-media-va-driver (or intel-media-va-driver-non-free)"
            case "amdgpu", "radeon": "install mesa-va-drivers"
            case "nvidia-drm", "nouveau": "this GPU has no VA-API encoder; use another device"
            default: "install the VA-API driver of this GPU, or check the output of `vainfo`"
            }
        if let name = Environment.value("LIBVA_DRIVER_NAME") {
            remedy = "LIBVA_DRIVER_NAME=\(name) is set and may name another GPU's driver: unset it"
        }
        return VAError(
            call: "vaInitialize", status: status, object: path, driverMessage: words,
            remedy: remedy, category: .unavailable)
    }

    /// Throws an error if the status of a call is not success.
    ///
    /// - Parameters:
    ///   - object: The object of the call, evaluated only on failure.
    ///   - remedy: The remedy for the error, evaluated only on failure.
    func check(
        _ rawStatus: Int32, call: String, object: @autoclosure () -> String, frame: Int? = nil,
        remedy: @autoclosure () -> String? = nil, category: ErrorCategory? = nil
    ) throws(VAError) {
        if rawStatus == 0 { return }
        throw VAError(
            call: call, status: VAStatusCode(rawValue: rawStatus), object: object(), frame: frame,
            driverMessage: messages.take(), remedy: remedy(), category: category)
    }
}

/// Displays whose driver did not return from a call. They are kept for the rest of the process, because the call may
/// continue and use them.
enum HungDisplays {
    // SAFETY: The handles are only kept, never used.
    @safe private struct Kept: @unchecked Sendable {
        var handle: UnsafeMutableRawPointer
        var messages: MessageLog
    }

    private static let all = Mutex<[Kept]>([])

    @unsafe static func keep(_ handle: UnsafeMutableRawPointer, _ messages: MessageLog) {
        let kept = unsafe Kept(handle: handle, messages: messages)
        all.withLock { $0.append(kept) }
    }
}
