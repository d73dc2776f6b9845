internal import CVA
package import VideoBase

/// A VAContext: an encoder (or decoder) for pictures of one size.
///
/// One thread at a time may begin, render and end pictures of a context.
@safe package final class Context: Sendable {
    package let config: Config
    package let size: VideoSize
    /// The render targets, kept so that they outlive the context.
    private let targets: [Surface]
    let id: VAContextID

    package var display: Display { config.display }

    /// Creates the context (vaCreateContext).
    ///
    /// - Parameters:
    ///   - size: The coded size in luma samples.
    ///   - targets: The surfaces of the pictures. Some drivers need them at creation.
    ///   - limits: The size limits of the configuration. Other sizes are rejected without a call of the driver.
    package init(
        _ config: Config, size: VideoSize, targets: [Surface] = [], limits: SurfaceCapabilities? = nil
    ) throws(VAError) {
        var id = VAContextID(VA_INVALID_ID)
        var ids = targets.map(\.id)
        let codec = config.profile.codecProfile?.codec.standardName ?? config.profile.shortName
        func remedy() -> String? {
            guard let limits, !limits.allows(size) else { return nil }
            if let width = limits.maxWidth, let height = limits.maxHeight, size.width > width || size.height > height {
                return "this driver encodes \(codec) up to \(width)×\(height)"
            }
            return "this driver encodes \(codec) of \(limits.minWidth ?? 1)×\(limits.minHeight ?? 1) or larger"
        }
        // DriverQuirk.acceptsAnySize.
        guard let width = CInt(exactly: size.width), let height = CInt(exactly: size.height), width > 0, height > 0,
            limits?.allows(size) ?? true
        else {
            throw VAError(
                call: "vaCreateContext", status: .resolutionNotSupported, object: "\(size) \(codec) context",
                remedy: remedy())
        }
        try config.display.check(
            unsafe vaCreateContext(
                config.display.handle, config.id, width, height, CInt(VA_PROGRESSIVE), &ids, CInt(ids.count), &id),
            call: "vaCreateContext", object: "\(size) \(codec) context")
        self.config = config
        self.size = size
        self.targets = targets
        self.id = id
    }

    deinit {
        let (display, id) = (display, id)
        display.watch.release { _ = unsafe vaDestroyContext(display.handle, id) }
    }
}
