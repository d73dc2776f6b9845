internal import Glibc
internal import VAAPI

/// Where the reference driver's file is.
enum DriverFolder {
    /// The name in libva's scheme, NAME_drv_video.so; with VAENC_FAULT set, the driver that wraps this one and fails
    /// on demand.
    static var driverName: String { Environment.value("VAENC_FAULT") == nil ? "libvaenc" : faultDriverName }
    static let faultDriverName = "libvaenc_fault"
    static var fileName: String { "\(driverName)_drv_video.so" }

    /// The first folder of those below that holds the driver; nil where none does.
    ///
    /// VAENC_DRIVER_DIR alone where it is set; else PREFIX/lib/vaenc for an executable in PREFIX/bin, then the
    /// executable's own folder, which is the build folder of programs and test bundles not installed.
    static func find() -> String? {
        if let folder = Environment.value("VAENC_DRIVER_DIR"), !folder.isEmpty {
            return holdsDriver(folder) ? folder : nil
        }
        guard let folder = resolve("/proc/self/exe").flatMap(parent) else { return nil }
        return [parent(folder).map { "\($0)/lib/vaenc" }, folder].compactMap(\.self).first(where: holdsDriver)
    }

    private static func holdsDriver(_ folder: String) -> Bool {
        unsafe access("\(folder)/\(fileName)", R_OK) == 0
    }

    private static func executable() -> String? { resolve("/proc/self/exe") }

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
