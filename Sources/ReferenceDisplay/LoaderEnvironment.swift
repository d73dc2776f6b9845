internal import Synchronization
internal import VAAPI

/// The environment variables with which libva finds drivers, set for the duration of one vaInitialize.
///
/// A user's LIBVA_DRIVER_NAME would replace the reference driver, and LIBVA_DRIVERS_PATH is one list for the whole
/// process. Both are restored afterwards, so that a GPU's display in the same process loads its own driver.
enum LoaderEnvironment {
    private static let lock = Mutex<Void>(())

    /// Runs `body` while the variables are set.
    ///
    /// - Parameters:
    ///   - folder: The folder to search first. The folders of LIBVA_DRIVERS_PATH follow it.
    ///   - variables: Additional variables.
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
