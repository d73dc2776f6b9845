import Glibc
import VideoBase

extension MediaOutput {
    /// Throws if the output is a folder, because its name determines no format.
    /// - Throws: `cannotCreate`.
    package static func rejectFolder(_ output: String) throws {
        var status = stat()
        // SAFETY: stat reads the string and fills the structure.
        guard unsafe stat(FileName.cString(output), &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
        throw SystemError.creation(EISDIR, output)
    }

    /// Checks whether an output can be created, as far as possible without opening it. Call it before a camera starts.
    /// - Throws: `cannotCreate` if it exists (without `overwrite`), is a folder or its folder is missing;
    ///   `noPermission`.
    public static func checkLocation(_ output: String, options: SinkOptions = SinkOptions()) throws {
        if output == "-" || output.contains("://") { return }
        var status = stat()
        // SAFETY: the calls read the strings. stat fills the structure.
        if unsafe stat(FileName.cString(output), &status) == 0 {
            let kind = status.st_mode & S_IFMT
            if kind == S_IFDIR { throw SystemError.creation(EISDIR, output) }
            if kind == S_IFREG, !options.overwrite { throw SystemError.exists(output) }
            return
        }
        let folder = output.lastIndex(of: "/").map { String(output[...$0]) } ?? "."
        if unsafe access(FileName.cString(folder), W_OK | X_OK) != 0 { throw SystemError.creation(errno, output) }
    }
}
