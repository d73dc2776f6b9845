internal import CVA
internal import Glibc
internal import Synchronization
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
    /// Through which calls are made that must not keep their caller.
    package let watch: DriverCallWatchdog
    let messages: MessageLog
    let abilities: DriverAbilities
    let images = ImagePool()
    private let descriptor: CInt?
    private let again: Opening?

    /// Makes another display of the same device, with the limit for its calls.
    package typealias Opening = @Sendable (_ limitNanoseconds: UInt64) throws -> Display

    /// Connects to the driver of a render node.
    ///
    /// - Throws: `VAError` or `VaencError`: `.unavailable` where the path is no render node or has no driver that
    ///   starts, `.noPermission` where it may not be opened.
    package static func open(renderNode path: String) throws -> Display {
        try inAFewTries { try openOnce(renderNode: path, DriverCallWatchdog.usualLimit(of: .vaapi)) }
    }

    /// Opens a display whose driver may fail to start for a moment: five times, with pauses of 5, 10, 20 and 40 ms.
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

    /// Takes over a VADisplay that was not initialized yet, starts its driver, and ends it with the last object.
    ///
    /// - Parameters:
    ///   - handle: the VADisplay; ended with vaTerminate also when this throws.
    ///   - descriptor: closed after vaTerminate; nil where the display has none.
    ///   - limitNanoseconds: how long the device may take for a picture or a call; nil for what is usual.
    ///   - again: makes another display of the same device; nil where that cannot be done.
    @unsafe package init(
        handle: UnsafeMutableRawPointer, kind: DeviceKind, path: String?, pciAddress: String? = nil,
        kernelDriver: String? = nil, descriptor: Int32? = nil, limitNanoseconds: UInt64? = nil,
        again: Opening? = nil
    ) throws {
        let messages = MessageLog()
        unsafe messages.attach(to: handle)
        // SAFETY: the handle stays valid: it is ended below or in deinit, and not at all where a call does not end.
        nonisolated(unsafe) let started = unsafe handle
        let watch = DriverCallWatchdog(limitNanoseconds: limitNanoseconds ?? DriverCallWatchdog.usualLimit(of: kind)) {
            unsafe HungDisplays.keep(started, messages)
        }
        ProcessEnd.driverWillBeLoaded()
        let status: StatusCode
        let major: CInt
        let minor: CInt
        (status, major, minor) = try watch.run("vaInitialize", path ?? "the reference driver", .setUp) {
            var major: CInt = 0
            var minor: CInt = 0
            return (StatusCode(rawValue: unsafe vaInitialize(started, &major, &minor)), major, minor)
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
        abilities = DriverAbilities(vendor: vendor)
    }

    deinit {
        // SAFETY: this is the last use of the handle, and nothing else knows the pool any more.
        nonisolated(unsafe) let handle = unsafe handle
        let descriptor = descriptor
        let images = images
        watch.release {
            unsafe images.drain(handle)
            unsafe Self.end(handle, descriptor: descriptor)
        }
    }

    /// A driver's words without control characters, which terminals obey.
    static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    /// Whether a driver that never ends its loading keeps this process from loading any other library.
    package static var isLoaderStuck: Bool { ProcessEnd.isLoaderStuck }

    /// Another display of the same device, with a driver of its own; nil where that cannot be done.
    package func reopened() throws -> Display? { try again?(watch.limitNanoseconds) }

    private static func end(_ handle: UnsafeMutableRawPointer, descriptor: CInt?) {
        // Where a driver fails to end, libva lets go of it all the same, and keeps the display: the second call ends that.
        if unsafe vaTerminate(handle) != VA_STATUS_SUCCESS { _ = unsafe vaTerminate(handle) }
        if let descriptor { close(descriptor) }
    }

    private static func startFailure(
        _ status: StatusCode, path: String?, kernelDriver: String?, words: String?
    ) -> any Error {
        let purpose = "to load \(path.map { "the driver of \($0)" } ?? "the reference driver")"
        if let lack = words.flatMap({ VaencError.loaderLack($0, purpose) }) { return lack }
        let error = VAError(call: "vaInitialize", status: status, object: path ?? "the reference driver", driverMessage: words)
        // Nothing has to be installed then.
        if error.isNoMemory { return error.lackingMemory() }
        guard let path else {
            let named = ["MODE", "NULL_BYTES", "HASH", "LOG", "STRICT", "HEVC", "PROCESSING"].map { "VAENC_REFERENCE_" + $0 }
            let told =
                named.first { words?.contains($0 + "=") == true }
                ?? ["VAENC_REFERENCE_PERSONALITY", "VAENC_FAULT"].first { Environment.value($0) != nil }
            return VAError(
                call: "vaInitialize", status: status, object: "the reference driver", driverMessage: words,
                remedy: told.map { "\($0) is set: correct it, or unset it" }
                    ?? "install vaenc again, or build its driver with this version",
                category: .unavailable)
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

/// Displays whose driver did not come back from a call. They are kept for the life of the process: the call may go on,
/// and then works with them.
enum HungDisplays {
    // SAFETY: the handles are only kept, never used.
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
