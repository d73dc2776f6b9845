import VideoBase

extension MediaOutput {
    /// Writes a file at once, or standard output for `-`: it gets its name when it is whole.
    /// - Throws: `DescribedError`: `cannotCreate` where the file exists (without `overwrite`), `noPermission`, `inputOutput`.
    package static func write(_ bytes: [UInt8], to path: String, overwrite: Bool) throws {
        let file = try OutputFile(path: path, overwrite: overwrite)
        try file.write(bytes.span)
        try file.commit()
    }
}
