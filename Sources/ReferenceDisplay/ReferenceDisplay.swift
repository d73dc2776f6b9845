internal import CVA
internal import Glibc
package import VAAPI
internal import VideoBase

/// The display of the reference driver: a VA-API device that needs no GPU.
///
/// libva opens only displays of window systems and of DRM devices. Therefore this type creates the structure that libva
/// would create (VADisplayContext in `va_backend.h`), without a device and with the name of the reference driver.
package enum ReferenceDisplay {
    /// Starts the reference driver in this process.
    ///
    /// - Parameters:
    ///   - variables: Environment variables for the start of the driver, and of displays that replace this one. The
    ///     whole process has them during the start.
    ///   - faults: The values of VAENC_FAULT and VAENC_FAULT_TRACE for this display and displays that replace it. They
    ///     are not put into the environment, which all threads and child processes share. If empty, the environment
    ///     determines the faults.
    ///   - limitNanoseconds: The time limit for one picture or one call, or nil for the default.
    /// - Throws: A `VaencError` or `VAError` of category `.unavailable` if the driver's file is not found or cannot be
    ///   loaded.
    package static func open(
        _ variables: [String: String] = [:], faults: [String: String] = [:], limitNanoseconds: UInt64? = nil
    ) throws -> Display {
        try Display.inAFewTries { try openOnce(variables, faults: faults, limit: limitNanoseconds) }
    }

    private static func openOnce(
        _ variables: [String: String], faults: [String: String], limit: UInt64?
    ) throws -> Display {
        guard let folder = DriverFolder.find() else {
            throw VaencError(
                .unavailable, "the \(DriverFolder.isFaultDriver ? "fault" : "reference") driver \(DriverFolder.fileName) is not installed",
                remedy: """
                    run `make install`, or `swift build -c release --product \(DriverFolder.product)` in the package of the program, \
                    or set VAENC_DRIVER_DIR to the folder that contains it
                    """)
        }
        let file = "\(folder)/\(DriverFolder.fileName)"
        guard LibraryFile.isWhole(file) else {
            throw VaencError(
                .unavailable, "the reference driver \(file) is incomplete or damaged",
                remedy: "install it again (`make install`)")
        }
        return try LoaderEnvironment.with(driversIn: folder, variables) {
            guard let handle = unsafe BareDisplay.make(faults) else {
                throw VaencError(.deviceFailed, "out of memory for the reference driver")
            }
            return try unsafe Display(handle: handle, kind: .reference, path: nil, limitNanoseconds: limit) {
                try openOnce(variables, faults: faults, limit: $0)
            }
        }
    }

    /// Whether `open` would find the driver's file.
    package static var isInstalled: Bool { DriverFolder.find() != nil }

    /// The folder that contains the driver's file, or nil if the file is not found.
    package static var driverFolder: String? { DriverFolder.find() }
}
