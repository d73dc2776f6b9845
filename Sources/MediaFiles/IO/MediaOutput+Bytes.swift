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
}
