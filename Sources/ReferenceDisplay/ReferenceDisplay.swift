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
    /// - Parameters:
    ///   - variables: environment variables for its start and for that of displays opened in its place. While it starts,
    ///     the whole process has them.
    ///   - faults: VAENC_FAULT and VAENC_FAULT_TRACE for this display and those opened in its place, without the
    ///     environment, which is all threads' and all child processes'; empty: as the environment says.
    ///   - limitNanoseconds: how long it may take for a picture or a call; nil for what is usual.
    /// - Throws: `VaencError` or `VAError` of category `.unavailable` where its file is not found or does not load.
    package static func open(
        _ variables: [String: String] = [:], faults: [String: String] = [:], limitNanoseconds: UInt64? = nil
    ) throws -> Display {
        try Display.inAFewTries { try openOnce(variables, faults, limitNanoseconds) }
    }

    private static func openOnce(
        _ variables: [String: String], _ faults: [String: String], _ limit: UInt64?
    ) throws -> Display {
        guard let folder = DriverFolder.find() else {
            throw VaencError(
                .unavailable, "the reference driver \(DriverFolder.fileName) is not installed",
                remedy: """
                    run `make install`, or `swift build -c release --product vaenc_drv_video` in the package of the program, \
                    or set VAENC_DRIVER_DIR to the folder that holds it
                    """)
        }
        let file = "\(folder)/\(DriverFolder.fileName)"
        guard LibraryFile.isWhole(file) else {
            throw VaencError(
                .unavailable, "the reference driver \(file) is no whole library", remedy: "install it again (`make install`)")
        }
        return try LoaderEnvironment.with(driversIn: folder, variables) {
            guard let handle = unsafe BareDisplay.make(faults) else {
                throw VaencError(.deviceFailed, "out of memory for the reference driver")
            }
            return try unsafe Display(handle: handle, kind: .reference, path: nil, limitNanoseconds: limit) {
                try openOnce(variables, faults, $0)
            }
        }
    }

    /// Whether `open` would find the driver's file.
    package static var isInstalled: Bool { DriverFolder.find() != nil }

    /// The folder that holds the driver's file; nil where it is not found.
    package static var driverFolder: String? { DriverFolder.find() }
}
