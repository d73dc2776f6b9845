internal import CVA
internal import Glibc
package import VAAPI
internal import VideoBase

/// The reference driver as a display: a VA-API device that needs no GPU.
///
/// libva opens displays of window systems and of DRM devices only, so this makes the structure that those would make
/// (`va_backend.h`, VADisplayContext), with no device behind it and the reference driver's name.
package enum ReferenceDisplay {
    /// Starts the reference driver in this process.
    ///
    /// - Throws: `VaencError` or `VAError` of category `.unavailable` where its file is not found or does not load.
    package static func open() throws -> Display {
        guard let folder = DriverFolder.find() else {
            throw VaencError(
                .unavailable, "the reference driver \(DriverFolder.fileName) is not installed",
                remedy: "run `make install`, or set VAENC_DRIVER_DIR to the folder that holds it")
        }
        return try LoaderEnvironment.with(driversIn: folder) {
            guard let handle = unsafe BareDisplay.make() else {
                throw VaencError(.deviceFailed, "out of memory for the reference driver")
            }
            return try unsafe Display(handle: handle, kind: .reference, path: nil) { try open() }
        }
    }

    /// Whether `open` would find the driver's file.
    package static var isInstalled: Bool { DriverFolder.find() != nil }

    /// The folder that holds the driver's file; nil where it is not found.
    package static var driverFolder: String? { DriverFolder.find() }
}
