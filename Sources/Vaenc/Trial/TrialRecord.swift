import Glibc
import VAAPI
import VideoBase

/// The record of a trial that succeeded, in the user's cache folder. While nothing has changed that the result depends
/// on, later processes do not repeat the trial.
///
/// A record is valid for one boot of the machine, one device, the same arguments, the same environment variables of
/// drivers, and the same files: every library that the trial process had loaded, and the folders of these drivers.
struct TrialRecord {
    /// The word that precedes a path in the output of a trial process.
    private static let fileWord = "file "
    private static let maxBytes = 1 << 18
    private static let maxRecords = 64

    /// Everything except the files that the result depends on.
    private let key: String
    private let path: String

    /// Creates the record of a trial. Returns nil if trials are not recorded: the folder is unknown, or
    /// VAENC_DRIVER_TRIALS is `always`.
    init?(_ what: [String], _ kind: DeviceKind) {
        guard kind == .vaapi, Environment.value("VAENC_DRIVER_TRIALS") != "always", let folder = Self.folder,
            let boot = Self.text("/proc/sys/kernel/random/boot_id"), let variables = Self.driverVariables
        else { return nil }
        var lines = [vaencVersion, boot.filter { !$0.isWhitespace }] + what + Self.device(what) + variables
        lines = lines.map { line in String(line.map { $0.isNewline ? " " : $0 }) }
        key = lines.joined(separator: "\n")
        // FNV-1a. Records with equal hashes replace each other.
        let hash = key.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        path = "\(folder)/\(String(hash, radix: 16))"
    }

    /// Whether the trial succeeded before, and nothing has changed since.
    var isValid: Bool {
        guard let text = Self.text(path), text.hasPrefix(key + "\n\n") else { return false }
        let lines = text.dropFirst(key.count + 2).split(separator: "\n")
        guard !lines.isEmpty else { return false }
        return lines.allSatisfy { line in
            guard let space = line.firstIndex(of: " ") else { return false }
            return Self.identity(String(line[line.index(after: space)...])).map { $0 == line[..<space] } ?? false
        }
    }

    /// Records a trial that succeeded. Errors are ignored: the next process then repeats the trial.
    ///
    /// - Parameter output: The lines that the trial process wrote.
    func save(_ output: [String]) {
        let files = output.filter { $0.hasPrefix(Self.fileWord) }.map { String($0.dropFirst(Self.fileWord.count)) }
        let drivers = files.filter { $0.hasSuffix("_drv_video.so") }
        guard !drivers.isEmpty else { return }
        let folders = Set(drivers.map { $0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex) }.map(String.init))
        var lines: [String] = []
        for path in files + folders.sorted() {
            guard let identity = Self.identity(path) else { return }
            lines.append("\(identity) \(path)")
        }
        write(key + "\n\n" + lines.joined(separator: "\n") + "\n")
    }

    /// Writes the paths of all libraries that this process has loaded. Call it in a trial process while a driver is
    /// loaded.
    static func printLoadedFiles() {
        guard let maps = text("/proc/self/maps") else { return }
        var seen: Set<Substring> = []
        for line in maps.split(separator: "\n") {
            guard let start = line.firstIndex(of: "/"), line.contains(" r-xp "), seen.insert(line[start...]).inserted else { continue }
            print(fileWord + line[start...])
        }
        fflush(nil)
    }

    // MARK: What the result depends on

    /// `$XDG_CACHE_HOME/vaenc/drivers` or `$HOME/.cache/vaenc/drivers`; nil if neither variable has an absolute path.
    private static var folder: String? {
        let cache = Environment.value("XDG_CACHE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = Environment.value("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.cache" : nil }
        return (cache ?? home).map { "\($0)/vaenc/drivers" }
    }

    /// The environment variables that drivers and libva read. Returns nil if one of them has a relative path: the result
    /// then depends on the working folder.
    private static var driverVariables: [String]? {
        let paths = (Environment.value("LIBVA_DRIVERS_PATH") ?? "").split(separator: ":")
        guard paths.allSatisfy({ $0.hasPrefix("/") }), let text = text("/proc/self/environ") else { return nil }
        let prefixes = ["LIBVA", "LD_", "MESA", "AMD", "RADEON", "RADV", "R600", "GALLIUM", "DRI", "INTEL", "IHD", "I965", "VAENC", "FAKE"]
        let initial = text.split(separator: "\0").map(String.init).filter { variable in prefixes.contains(where: variable.hasPrefix) }
        // The program may have changed these.
        let current = ["LIBVA_DRIVER_NAME", "LIBVA_DRIVERS_PATH"].map { "\($0)=\(Environment.value($0) ?? "")" }
        return initial.sorted() + current
    }

    /// The identity of the GPU behind a render node.
    private static func device(_ what: [String]) -> [String] {
        guard let node = what.first(where: { $0.hasPrefix("/dev/") }), let name = node.split(separator: "/").last else { return [] }
        return ["vendor", "device", "revision", "subsystem_device"].map { text("/sys/class/drm/\(name)/device/\($0)") ?? "" }
    }

    /// The device, inode, size and change times of a file; nil if there is none.
    private static func identity(_ path: String) -> String? {
        var status = stat()
        // SAFETY: stat reads the string and writes the structure.
        guard unsafe stat(path, &status) == 0 else { return nil }
        let times = [status.st_mtim, status.st_ctim].map { time in "\(time)".filter { !$0.isWhitespace } }
        return "\(status.st_dev):\(status.st_ino):\(status.st_size):\(times.joined(separator: ":"))"
    }

    // MARK: Files

    /// Returns the text of a file; nil if it cannot be read or is too large.
    private static func text(_ path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16384)
        while bytes.count <= maxBytes {
            let count = unsafe read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk.prefix(count)
        }
        return nil
    }

    private func write(_ text: String) {
        guard let end = path.lastIndex(of: "/") else { return }
        let folder = String(path[..<end])
        var parent = ""
        for part in folder.split(separator: "/") {
            parent += "/" + part
            unsafe mkdir(parent, 0o700)
        }
        Self.removeOld(folder)
        let part = "\(path).\(getpid())"
        let file = unsafe open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(text.utf8)
        let isWhole = unsafe Glibc.write(file, bytes, bytes.count) == bytes.count
        close(file)
        let isInPlace = unsafe isWhole && rename(part, path) == 0
        if !isInPlace { unsafe unlink(part) }
    }

    /// Removes all records of a folder that has too many.
    private static func removeOld(_ folder: String) {
        guard let list = unsafe opendir(folder) else { return }
        defer { unsafe closedir(list) }
        var names: [String] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.first != "." { names.append(name) }
        }
        guard names.count >= maxRecords else { return }
        for name in names { unsafe unlink("\(folder)/\(name)") }
    }
}
