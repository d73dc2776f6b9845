import Glibc
import VideoBase

extension MediaOutput {
    /// Writes a whole file, or standard output for `-`. The file gets its final name when it is complete.
    /// - Throws: `DescribedError`: `cannotCreate` if the file exists (without `overwrite`), `noPermission`,
    ///   `inputOutput`.
    package static func write(_ bytes: [UInt8], to path: String, overwrite: Bool) throws {
        let file = try OutputFile(path: path, overwrite: overwrite)
        try file.write(bytes.span)
        try file.commit()
    }

    /// Checks that `write` could create a file now, without keeping one.
    /// - Throws: `DescribedError`: `cannotCreate` if the file exists (without `overwrite`) or its folder is missing,
    ///   `noPermission`.
    package static func checkCreation(of path: String, overwrite: Bool) throws {
        var status = stat()
        // SAFETY: stat reads the string and fills the structure. Opening a pipe would block.
        let exists = unsafe stat(FileName.cString(path), &status) == 0
        if path == "-" || exists && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) { return }
        try OutputFile(path: path, overwrite: overwrite).cancel()
    }
}
