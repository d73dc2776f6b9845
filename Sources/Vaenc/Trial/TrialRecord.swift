import EncodeSession
import Glibc
import VAAPI
import VideoBase

/// The record of a trial that succeeded, in the user's cache folder. While nothing has changed that the result depends
/// on, later processes do not repeat the trial.
///
/// A record is valid for one boot of the machine, one device, the same arguments, the same environment variables of
/// drivers, and the same files: every library that the trial process had loaded, and the folders and configuration that
/// decide which libraries are loaded.
struct TrialRecord {
    /// The word that precedes a path in the output of a trial process.
    private static let fileWord = "file "
    /// The word that precedes a success of `InputMemoryTrial` in the output of a trial process and in a record.
    private static let memoryWord = "memory "

    /// The form of the record. Change it with the lines that a record contains.
    private static let form = "form 2"

    /// Everything except the files that the result depends on.
    private let key: String
    /// The name of the record's file.
    private let name: String
    /// The folder of `LIBVA_DRIVERS_PATH`, and the configuration of the loader and of libva.
    private let searchPaths: [String]

    /// Creates the record of a trial. Returns nil if trials are not recorded: VAENC_DRIVER_TRIALS is `always`, or the
    /// result depends on the working folder.
    init?(_ what: [String], _ kind: DeviceKind, _ path: String?) {
        guard kind == .vaapi, let path, Environment.value("VAENC_DRIVER_TRIALS") != "always",
            let boot = CacheFolder.text("/proc/sys/kernel/random/boot_id")
        else { return nil }
        func folders(_ variable: String) -> [String] {
            (Environment.value(variable) ?? "").split { $0 == ":" || $0 == " " }.map(String.init)
        }
        let drivers = folders("LIBVA_DRIVERS_PATH")
        guard (drivers + folders("LD_LIBRARY_PATH") + folders("LD_PRELOAD")).allSatisfy({ $0.hasPrefix("/") }) else { return nil }
        searchPaths = drivers + ["/etc/ld.so.cache", "/etc/libva.conf"]
        let lines = [vaencVersion, Self.form, boot] + what + Self.device(path) + Self.driverVariables
        key = lines.map { line in String(line.map { $0.isNewline ? " " : $0 }) }.joined(separator: "\n")
        // FNV-1a. Records with equal hashes replace each other.
        name = String(key.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
    }

    /// Whether the trial succeeded before, and nothing has changed since. If so, this process takes over the trials of
    /// input memory.
    func isValid() -> Bool {
        guard let text = CacheFolder(creates: false)?.read(name), text.hasPrefix(key + "\n\n") else { return false }
        let lines = text.dropFirst(key.count + 2).split(separator: "\n").map(String.init)
        let files = lines.filter { !$0.hasPrefix(Self.memoryWord) }
        guard !files.isEmpty else { return false }
        let isUnchanged = files.allSatisfy { line in
            guard let space = line.firstIndex(of: " ") else { return false }
            return Self.identity(String(line[line.index(after: space)...])) == line[..<space]
        }
        if isUnchanged { Self.takeOverMemoryTrials(lines) }
        return isUnchanged
    }

    /// Takes over the successful trials of input memory of a trial process or of a record.
    static func takeOverMemoryTrials(_ lines: [String]) {
        for line in lines where line.hasPrefix(memoryWord) {
            InputMemoryTrial.assumeSuccess(String(line.dropFirst(memoryWord.count)))
        }
    }

    /// Records a trial that succeeded. Errors are ignored: the next process then repeats the trial.
    ///
    /// - Parameter output: The lines that the trial process wrote.
    func save(_ output: [String]) {
        let files = output.filter { $0.hasPrefix(Self.fileWord) }.map { String($0.dropFirst(Self.fileWord.count)) }
        let drivers = files.filter { $0.hasSuffix("_drv_video.so") }
        guard !drivers.isEmpty, let folder = CacheFolder(creates: true) else { return }
        let folders = drivers.map { String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex)) }
        let lines = Set(files + folders + searchPaths).sorted().map { "\(Self.identity($0)) \($0)" }
        let memory = output.filter { $0.hasPrefix(Self.memoryWord) }
        folder.write(key + "\n\n" + (lines + memory).joined(separator: "\n") + "\n", as: name)
    }

    /// Writes the paths of all libraries that this process has loaded, and its successful trials of input memory. Call it
    /// in a trial process while a driver is loaded.
    static func printResult() {
        guard let maps = CacheFolder.text("/proc/self/maps") else { return }
        var seen: Set<Substring> = []
        // The driver may have written text without a newline.
        print()
        for line in maps.split(separator: "\n") {
            guard let start = line.firstIndex(of: "/"), line.contains(" r-xp "), seen.insert(line[start...]).inserted else { continue }
            print(fileWord + line[start...])
        }
        for success in InputMemoryTrial.successes { print(memoryWord + success) }
        fflush(nil)
    }

    // MARK: What the result depends on

    /// The environment variables that drivers and libva read.
    private static var driverVariables: [String] {
        let prefixes = [
            "LIBVA", "LD_", "MESA", "AMD", "RADEON", "RADV", "R600", "GALLIUM", "DRI", "NIR", "EGL", "__EGL", "INTEL", "IHD", "I965", "NVD",
            "CUDA", "VIRGL", "ZINK", "VAENC", "FAKE",
        ]
        return Environment.all.filter { variable in prefixes.contains(where: variable.hasPrefix) }.sorted()
    }

    /// The identity of the GPU behind a render node.
    private static func device(_ path: String) -> [String] {
        var status = stat()
        // SAFETY: stat reads the string and writes the structure.
        guard unsafe stat(path, &status) == 0 else { return [] }
        let number = UInt64(status.st_rdev)
        let major = (number >> 8) & 0xfff | (number >> 32) & ~0xfff
        let minor = number & 0xff | (number >> 12) & ~0xff
        return ["vendor", "device", "revision", "subsystem_device"].map { name in
            CacheFolder.text("/sys/dev/char/\(major):\(minor)/device/\(name)") ?? ""
        }
    }

    /// The device, inode, size and change times of a file, or `-` if there is none.
    private static func identity(_ path: String) -> String {
        var status = stat()
        // SAFETY: stat reads the string and writes the structure.
        guard unsafe stat(path, &status) == 0 else { return "-" }
        // Printing a timespec needs reflection, which is slow.
        // SAFETY: a timespec is two integers of 64 bits.
        let times = [status.st_mtim, status.st_ctim].map { time in
            unsafe withUnsafeBytes(of: time) { bytes in unsafe "\(bytes.load(as: Int64.self)).\(bytes.load(fromByteOffset: 8, as: Int64.self))" }
        }
        return "\(status.st_dev):\(status.st_ino):\(status.st_size):\(times.joined(separator: ":"))"
    }
}
