import VideoBase

extension SettingsResolver {
    /// Checks for values that no device accepts.
    ///
    /// - Throws: `usage` or `unavailable` for the first value out of range.
    func checkValues() throws {
        try asked.checkValues()
        try asked.checkCodec()
        // HEVC's parameter buffers hold 16 bits a side, and no level allows more.
        guard asked.size.width <= 65535, asked.size.height <= 65535 else {
            throw VaencError(
                .unavailable, "a picture of \(asked.size) is larger than any level allows",
                remedy: "use pictures of at most 65535x65535 (`SourceOptions.outputSize` scales those of a source)")
        }
    }

    /// Checks the picture size against the device's limits.
    func checkSize(_ limits: EncodeCapabilities) throws {
        let size = asked.size
        let low = limits.minSize
        let high = limits.maxSize
        let fits =
            size.width >= low.width && size.height >= low.height && size.width <= high?.width ?? .max
            && size.height <= high?.height ?? .max
        guard !fits else { return }
        let range = high.map { "from \(low) up to \($0)" } ?? "from \(low) up"
        throw VaencError(
            .unavailable, "the device does not encode pictures of \(size)",
            remedy:
                "\(device.driver) encodes \(limits.profile.codec.standardName) \(limits.profile.shortName) \(range); "
                + "use a size in this range (`SourceOptions.outputSize` scales the pictures of a source)")
    }
}
