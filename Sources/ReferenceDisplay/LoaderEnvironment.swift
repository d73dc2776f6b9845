internal import Synchronization
internal import VAAPI

/// The environment variables by which libva finds drivers, set for the length of one vaInitialize.
///
/// A user's LIBVA_DRIVER_NAME would take the reference driver's place, and LIBVA_DRIVERS_PATH is one list for the whole
/// process: both are put back as they were, so that a GPU's display in the same process loads its own driver.
enum LoaderEnvironment {
    private static let lock = Mutex<Void>(())

    /// - Parameters:
    ///   - folder: searched first; what LIBVA_DRIVERS_PATH named stays behind it.
    ///   - variables: set besides.
    static func with<R: Sendable>(
        driversIn folder: String, _ variables: [String: String] = [:], _ body: () throws -> R
    ) throws -> R {
        try lock.withLock { _ in
            var new: [String: String?] = variables
            let path = Environment.value("LIBVA_DRIVERS_PATH")
            new["LIBVA_DRIVERS_PATH"] = path.map { "\(folder):\($0)" } ?? folder
            new["LIBVA_DRIVER_NAME"] = .some(nil)
            return try Environment.with(new, body)
        }
    }
}
