internal import Glibc
internal import VAAPI

/// Finds the file of the reference driver.
enum DriverFolder {
    /// The driver's name in libva's scheme, NAME_drv_video.so. If VAENC_FAULT is set, it is the name of the fault
    /// driver, which wraps the reference driver and fails on demand.
    static var driverName: String { isFaultDriver ? faultDriverName : "libvaenc" }
    static let faultDriverName = "libvaenc_fault"
    static var fileName: String { "\(driverName)_drv_video.so" }
    static var isFaultDriver: Bool { Environment.value("VAENC_FAULT") != nil }
    /// The product of the package that builds the driver.
    static var product: String { isFaultDriver ? "vaenc_fault_drv_video" : "vaenc_drv_video" }

    /// Returns the first folder that contains the driver, or nil if there is none.
    ///
    /// If VAENC_DRIVER_DIR is set, only that folder is searched. Otherwise, the folders are PREFIX/lib/vaenc for an
    /// executable in PREFIX/bin, then `buildFolders`.
    static func find() -> String? {
        if let folder = Environment.value("VAENC_DRIVER_DIR"), !folder.isEmpty {
            return holdsDriver(folder) ? folder : nil
        }
        guard let folder = resolve("/proc/self/exe").flatMap(parent) else { return nil }
        return (["\(parent(folder) ?? "")/lib/vaenc"] + buildFolders(folder)).first(where: holdsDriver)
    }

    /// Returns the build folders for a program or test bundle that is not installed: its own folder, and that of the
    /// release build.
    ///
    /// A debug build of the driver is about fifty times slower. `swift build -c release --product vaenc_drv_video`
    /// builds the driver for programs of either configuration.
    static func buildFolders(_ folder: String) -> [String] {
        guard folder.hasSuffix("/debug"), let parent = parent(folder) else { return [folder] }
        return [folder, "\(parent)/release"]
    }

    private static func holdsDriver(_ folder: String) -> Bool {
        unsafe access("\(folder)/\(fileName)", R_OK) == 0
    }

    private static func resolve(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    private static func parent(_ path: String) -> String? {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
        return String(path[..<slash])
    }
}
