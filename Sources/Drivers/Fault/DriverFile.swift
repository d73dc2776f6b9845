internal import CVA
internal import Glibc

/// Finds and loads a driver file in the same way as libva.
enum DriverFile {
    typealias Init = @convention(c) (VADriverContextP?) -> VAStatus

    /// Loads `NAME_drv_video.so` and returns its entry point with the highest minor version.
    ///
    /// The search covers the folders in LIBVA_DRIVERS_PATH, or the default folders of Linux distributions if that
    /// variable is not set. The folder of the fault driver is searched last. The file is never unloaded, because libva
    /// does not unload drivers either.
    static func load(_ name: String) throws(FaultPlan.Unreadable) -> Init {
        var reasons: [String] = []
        for folder in folders() {
            let path = "\(folder)/\(name)_drv_video.so"
            guard unsafe access(path, R_OK) == 0 else { continue }
            guard let file = unsafe dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE) else {
                reasons.append(unsafe dlerror().map { unsafe String(cString: $0) } ?? "\(path) does not load")
                continue
            }
            for minor in stride(from: 60, through: 0, by: -1) {
                if let symbol = unsafe dlsym(file, "__vaDriverInit_1_\(minor)") {
                    return unsafe unsafeBitCast(symbol, to: Init.self)
                }
            }
            reasons.append("\(path) has no __vaDriverInit_1_…")
        }
        let why = reasons.isEmpty ? "looked in \(folders().joined(separator: ", "))" : reasons.joined(separator: "; ")
        throw FaultPlan.Unreadable(message: "VAENC_FAULT_DRIVER: there is no driver '\(name)' (\(why))")
    }

    private static func folders() -> [String] {
        var folders: [String] = []
        if let path = Variables.value("LIBVA_DRIVERS_PATH") {
            folders = path.split(separator: ":").map(String.init)
        } else {
            for library in ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"] {
                folders.append("\(library)/dri")
            }
        }
        if let folder = faultDriverFolder() { folders.append(folder) }
        return folders
    }

    private static func faultDriverFolder() -> String? {
        let function: Init = { _ in VA_STATUS_ERROR_UNIMPLEMENTED }
        guard let name = unsafe vaenc_file_of(function) else { return nil }
        let path = unsafe String(cString: name)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }
}

/// The environment variables of the process.
enum Variables {
    /// Returns the value of a variable, or nil if it is not set or is empty.
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
